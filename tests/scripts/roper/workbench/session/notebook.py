"""Runs a notebook in the kernel roper. Prints the output of each cell, then a completion and help,
as JSON. Interrupts a cell that prints "running"."""

import asyncio
import json

import nbformat
from nbclient import NotebookClient
from nbclient.util import ensure_async

CELLS = [
    "x = roper.eye(2); print 'é\\30{}'",
    "x\nplot.line{1, 2}",
    "x:summ()",
    "print 'running'; while true do end",
    "x:sum()",
    "$ lua5.4 -e 'print \"running\" io.stdout:flush() while true do end'",
    "$ kill -9 $PPID",
    "x",
    "exit",
]


class Client(NotebookClient):
    def process_message(self, msg, cell, cell_index):
        if msg["content"].get("text") == "running\n":
            asyncio.ensure_future(ensure_async(self.km.interrupt_kernel()))
        return super().process_message(msg, cell, cell_index)


async def main():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    client = Client(notebook, kernel_name="roper", allow_errors=True)
    async with client.async_setup_kernel():
        info = await client.kc.kernel_info(reply=True)
        for index, cell in enumerate(notebook.cells):
            await client.async_execute_cell(cell, index)
        complete = await client.kc.complete("é = roper.atten", reply=True)
        inspect = await client.kc.inspect("roper.eye(", 10, reply=True)
    print(json.dumps({"cells": [cell.outputs for cell in notebook.cells],
                      "banner": info["content"]["banner"],
                      "complete": complete["content"], "inspect": inspect["content"]}))


asyncio.run(main())
