"""python -m roper runs the program."""

import os
import sys

from roper import find

os.execv(find(), [find(), *sys.argv[1:]])
