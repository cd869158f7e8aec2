#!/usr/bin/env python3
"""Writes a Python package from a folder with bin, libexec and share: pack.py TREE VERSION FILE."""

import base64
import hashlib
import os
import sys
import zipfile

METADATA = """Metadata-Version: 2.1
Name: roper
Version: {version}
Summary: A workbench for rotary position encodings
License: MIT
Requires-Python: >=3.6
Provides-Extra: notebook
Requires-Dist: ipykernel; extra == "notebook"
"""

WHEEL = """Wheel-Version: 1.0
Generator: roper
Root-Is-Purelib: false
Tag: {tag}
"""

LICENCES = "share/doc/roper/"


def read(path):
    with open(path, "rb") as file:
        return file.read()


def target(inner, information, data):
    """The name in the package of a file of the tree."""
    if inner.startswith("bin/"):
        return f"{data}/scripts/{inner[len('bin/'):]}"
    if inner.startswith(LICENCES):
        return f"{information}/licenses/{inner[len(LICENCES):]}"
    return f"{data}/data/{inner}"


def contents(tree, version, tag):
    """The files of the package: content and mode by name."""
    information, data = f"roper-{version}.dist-info", f"roper-{version}.data"
    files = {f"{information}/METADATA": (METADATA.format(version=version).encode(), 0o644),
             f"{information}/WHEEL": (WHEEL.format(tag=tag).encode(), 0o644)}
    for folder, _, names in os.walk(tree):
        for name in names:
            path = os.path.join(folder, name)
            inner = os.path.relpath(path, tree)
            mode = 0o755 if os.access(path, os.X_OK) else 0o644
            files[target(inner, information, data)] = (read(path), mode)
    python = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python")
    for name in ("__init__.py", "__main__.py"):
        files[f"roper/{name}"] = (read(os.path.join(python, name)), 0o644)
    record = f"{information}/RECORD"
    lines = []
    for name, (content, _) in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    files[record] = ("".join(lines) + f"{record},,\n").encode(), 0o644
    return files


def main(tree, version, path):
    tag = os.path.basename(path)[len(f"roper-{version}-"):-len(".whl")]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, (content, mode) in sorted(contents(tree, version, tag).items()):
            entry = zipfile.ZipInfo(name)  # of 1980, so that the same files give the same bits
            entry.external_attr = (0o100000 | mode) << 16
            package.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)


main(*sys.argv[1:])
