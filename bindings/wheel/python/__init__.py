"""roper, a workbench for rotary position encodings. The program is written in C and Lua."""

import os
import sysconfig


def find():
    """Returns the path of the program."""
    folders = [sysconfig.get_path("scripts"),
               sysconfig.get_path("scripts", os.name + "_user"),
               os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin")]
    for folder in folders:
        path = os.path.join(folder, "roper")
        if os.path.isfile(path):
            return path
    raise FileNotFoundError("cannot find the program roper in " + ", ".join(folders)
                            + "; install roper again")
