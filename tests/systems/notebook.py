"""Runs a notebook of three cells in the kernel roper."""

import nbformat
from nbclient import NotebookClient

CELLS = ["x = roper.eye(2)", "print(x:sum():item())", "plot.line{1, 2}"]

notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
NotebookClient(notebook, kernel_name="roper").execute()
_, text, chart = notebook.cells
assert text.outputs[0]["text"] == "2.0\n", text.outputs
assert "image/svg+xml" in chart.outputs[0]["data"], chart.outputs
