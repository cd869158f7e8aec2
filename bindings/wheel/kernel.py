"""Jupyter's kernel of the roper that is installed around this file."""

import os
import runpy

prefix = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *["../"] * 4))
os.environ["ROPER"] = os.path.join(prefix, "bin", "roper")
runpy.run_path(os.path.join(prefix, "libexec/roper/share/lua/5.4/roper/workbench/session/kernel",
                            "kernel.py"), run_name="__main__")
