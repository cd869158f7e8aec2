"""A session in a pseudo-terminal, as a user types it: terminal.py ROPER."""

import os
import pty
import re
import select
import sys
import time

PATIENCE = 120  # seconds

child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], [sys.argv[1]])
output, seen = b"", 0


def plain():
    """The output without control sequences."""
    return re.sub(rb"\x1b\[[?0-9;]*[A-Za-z]|[\r\a]", b"", output).decode(errors="replace")


def expect(text):
    """Waits until a text appears after the last one."""
    global output, seen
    end = time.monotonic() + PATIENCE
    while plain().find(text, seen) < 0:
        if not select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
            sys.exit(f"expected {text!r}, got {plain()[seen:]!r}")
        output += os.read(terminal, 1 << 16)
    seen = plain().index(text, seen) + len(text)


def enter(keys):
    os.write(terminal, keys)


expect("> ")
for delay in range(50):  # Ctrl-C at any time after Enter discards the line or ends the loop
    enter(b"while true do end\r")
    time.sleep(delay / 10000)
    enter(b"\3")
    expect("> ")
enter(b"6 * 7\r")
expect("\n42\n> ")
enter(b"roper.atten\t")  # completion
expect("roper.attention")
enter(b"\3")
expect("\n> ")
enter(b"print 'running' while true do end\r")
expect("\nrunning\n")
enter(b"\3")
expect("interrupted")
expect("\n> ")
enter(b"\x1b[A\x1b[A\r")  # history
expect("6 * 7\n42\n> ")
enter(b"\4")
_, status = os.waitpid(child, 0)
sys.exit(status != 0)
