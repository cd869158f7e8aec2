"""Jupyter kernel of roper. It runs init.lua, in the same folder, in a child process.

The child reads requests as lines of JSON from a pipe. It writes its output and messages to
standard output.
"""

import codecs
import json
import os
import re
import secrets
import select
import signal
import subprocess
import sys
import tempfile

try:
    from ipykernel.kernelapp import IPKernelApp
    from ipykernel.kernelbase import Kernel
    from jupyter_client.kernelspec import KernelSpecManager
except ImportError as missing:
    sys.exit(f"{missing}; install ipykernel for {sys.executable}: "
             f"{sys.executable} -m pip install ipykernel, or apt-get install python3-ipykernel")

NAME = "roper"
PATIENCE = 5  # seconds to wait for a session to end
LOOK = 1  # seconds between checks whether a silent session still runs


class Session:
    """A roper process."""

    def __init__(self):
        reader, writer = os.pipe()
        token = secrets.token_hex()  # printed text cannot be mistaken for a message
        self.message = re.compile(rf"\x1e{token}(.*)\n".encode())
        self.child = subprocess.Popen(
            [os.environ["ROPER"], "--kernel", str(reader), token], pass_fds=[reader],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)  # Ctrl-C reaches it through `interrupt` alone
        os.close(reader)
        self.requests = open(writer, "w", encoding="utf-8")
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def interrupt(self, *_):
        """Sends SIGINT to the session and its shell commands."""
        if self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGINT)

    def output(self):
        """Yields the output in pieces until the session ends.

        The end of the output is not enough: a child of the session may keep it open.
        """
        while True:
            if select.select([self.child.stdout], [], [], LOOK)[0]:
                data = os.read(self.child.stdout.fileno(), 1 << 16)
                if not data:
                    return
                yield data
            elif self.child.poll() is not None:
                return

    def ask(self, request, show):
        """Returns the reply to a request. `show` is called with the text and messages before it."""
        held = b""
        try:
            self.requests.write(json.dumps(request) + "\n")
            self.requests.flush()
        except BrokenPipeError:
            pass  # the session has ended, and so has its output
        for data in self.output():
            held += data
            while match := self.message.search(held):
                show(self.decoder.decode(held[:match.start()]))
                held = held[match.end():]
                message = json.loads(match[1])
                if "reply" in message:
                    return message["reply"]
                show(message)
            cut = (held + b"\x1e").index(b"\x1e")  # the start of a possible message
            show(self.decoder.decode(held[:cut]))
            held = held[cut:]
        return None

    def end(self):
        """Ends the session, by force if necessary, and returns its exit status as text."""
        try:
            self.requests.close()
            self.interrupt()
            status = self.child.wait(PATIENCE)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self.child.kill()
            status = self.child.wait()
        self.child.stdout.close()
        return f"status {status}" if status >= 0 else signal.Signals(-status).name


class RoperKernel(Kernel):
    implementation = NAME
    implementation_version = ""
    language_info = {"name": "lua", "version": "5.4", "mimetype": "text/x-lua",
                     "file_extension": ".lua"}
    session_of_roper = None

    def ask(self, request, show=lambda shown: None):
        session = self.session_of_roper = self.session_of_roper or Session()
        previous = signal.signal(signal.SIGINT, session.interrupt)
        try:
            reply = session.ask(request, show)
        finally:
            signal.signal(signal.SIGINT, previous)
        if reply is None:
            self.session_of_roper = None
            reply = {"error": f"roper has ended ({session.end()}) and its variables are lost; "
                              "the next cell starts it again"}
        return reply

    @property
    def banner(self):
        return self.ask({"banner": True}).get("text", "roper: ? for help")

    def show(self, shown):
        if isinstance(shown, dict):
            content = {"data": shown["data"], "metadata": {}}
            if shown["kind"] == "execute_result":
                content["execution_count"] = self.execution_count
            self.send_response(self.iopub_socket, shown["kind"], content)
        elif shown:
            self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": shown})

    async def do_execute(self, code, silent, store_history=True, user_expressions=None,
                         allow_stdin=False, **_):
        show = (lambda shown: None) if silent else self.show
        error = self.ask({"execute": code}, show).get("error")
        reply = {"status": "ok", "execution_count": self.execution_count, "payload": [],
                 "user_expressions": {}}
        if error:
            failure = {"ename": "error", "evalue": error, "traceback": [f"error: {error}"]}
            if not silent:
                self.send_response(self.iopub_socket, "error", failure)
            reply.update(failure, status="error")
        return reply

    async def do_complete(self, code, cursor_pos):
        reply = self.ask({"complete": code[:cursor_pos]})
        return {"status": "ok", "matches": reply.get("names", []), "metadata": {},
                "cursor_start": reply.get("start", cursor_pos), "cursor_end": cursor_pos}

    async def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        end = re.compile(r"\w*").match(code, cursor_pos).end()
        text = self.ask({"inspect": code[:end]}).get("text")
        return {"status": "ok", "found": text is not None, "metadata": {},
                "data": {"text/plain": text} if text else {}}

    async def do_shutdown(self, restart):
        if self.session_of_roper:
            self.session_of_roper.end()
        return {"status": "ok", "restart": restart}


def install(roper):
    spec = {"argv": [sys.executable, os.path.abspath(__file__), "-f", "{connection_file}"],
            "display_name": NAME, "language": "lua", "env": {"ROPER": roper}}
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "kernel.json"), "w", encoding="utf-8") as file:
            json.dump(spec, file)
        KernelSpecManager().install_kernel_spec(folder, NAME, user=True)


def uninstall(_):
    try:
        KernelSpecManager().remove_kernel_spec(NAME)
    except KeyError:
        sys.exit(f"Jupyter has no kernel {NAME}")


if __name__ == "__main__":
    if sys.argv[1] in ("install", "uninstall"):
        {"install": install, "uninstall": uninstall}[sys.argv[1]](sys.argv[2])
    else:
        # Python would import modules from the notebook's folder.
        IPKernelApp.launch_instance(kernel_class=RoperKernel, ignore_cwd=True)
