"""Runs the checks of exported models and attention in one process.

    python3 check.py FOLDER

Each folder in FOLDER has a module with a function `check`. For each, prints its name and, separated
by tabs, its differences in the order of the module's lines; "FAILED" is added to a name whose check
finds an error. Exits with 1 if there is one.
"""
import contextlib
import importlib.util
import io
import pathlib
import sys
import traceback

import torch

torch.set_num_threads(1)  # small models, and other programs run
failed = False
for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    output, ok = io.StringIO(), False
    try:
        spec = importlib.util.spec_from_file_location("exported", next(folder.glob("*.py")))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        with contextlib.redirect_stdout(output):
            is_model = hasattr(module, "Transformer")
            ok = module.check(folder if is_model else module.__file__)
    except Exception:
        traceback.print_exc()
    numbers = [line.split()[1] for line in output.getvalue().splitlines()]
    print("\t".join([folder.name + ("" if ok else " FAILED"), *numbers]), flush=True)
    failed = failed or not ok
sys.exit(1 if failed else 0)
