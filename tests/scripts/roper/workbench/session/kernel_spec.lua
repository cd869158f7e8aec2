local core = require("roper.core")
local html = require("tests.html")
local process = require("tests.process")
local scratch = require("tests.scratch")

describe("the session of a notebook", function()
  setup(scratch.create)
  teardown(scratch.remove)

  -- The output and the messages for a list of requests.
  local function answers(requests)
    local lines = {}
    for i, request in ipairs(requests) do
      lines[i] = core.json_encode(request) .. "\n"
    end
    local path = scratch.write("requests", table.concat(lines))
    local status, output = process.run({ "sh", "-c", "exec ./roper --kernel 3 token 3<" .. path })
    assert.equal(0, status)
    local list = {}
    for text, message in (output .. "\30token"):gmatch("(.-)\30token([^\n]*)\n?") do
      list[#list + 1] = text ~= "" and text or nil
      list[#list + 1] = message ~= "" and core.json_decode(message) or nil
    end
    return list
  end

  it("shows tensors as tables and plots as pictures, in order with printed text", function()
    local list = answers({ { execute = "x = roper.eye(2)" },
      { execute = "print 'a'; x\nplot.line({1, 2})\nio.write 'b';\nx, 1" } })
    assert.same({ reply = {} }, list[1])
    assert.equal("a\n", list[2])
    assert.equal("execute_result", list[3].kind)
    assert.equal("float32 [2, 2]\n1 0\n0 1", list[3].data["text/plain"])
    assert.equal("<div>float32 [2, 2]</div><table><tr><td>1</td><td>0</td></tr>"
      .. "<tr><td>0</td><td>1</td></tr></table>", list[3].data["text/html"])
    assert.equal("display_data", list[4].kind)
    html.check_svg(list[4].data["image/svg+xml"])
    assert.equal("b", list[5])
    assert.is_nil(list[6].data["text/html"])
    assert.same({ reply = {} }, list[7])
    assert.is_nil(list[8])
  end)

  it("shows a vector as a row, and the edges of many matrices", function()
    local list = answers({ { execute = "roper.arange(0, 3)" },
      { execute = "roper.zeros{9, 9, 99}" }, { execute = "roper.ones{1, 1, 1}" },
      { execute = "roper.zeros{2, 0}" } })
    assert.equal("<div>float32 [3]</div><table><tr><td>0</td><td>1</td><td>2</td></tr></table>",
      list[1].data["text/html"])
    local text = list[3].data["text/html"]
    html.check(text)
    assert.truthy(text:find("</table><div>…</div><div>[9]</div><table>", 1, true))
    assert.truthy(text:find("<tr><td>…</td></tr>", 1, true))
    assert.equal("<div>float32 [1, 1, 1]</div><table><tr><td>1</td></tr></table>",
      list[5].data["text/html"])
    assert.is_nil(list[7].data["text/html"])
  end)

  it("reports errors, even of incomplete cells", function()
    local list = answers({ { execute = "roper.zeros{2}:summ()" }, { execute = "for i = 1, 2 do" },
      { execute = "'\xC3\xA9' + {}" }, { execute = "rooper" }, { execute = "%tim x" } })
    assert.equal('a tensor has no field "summ"; did you mean "sum"?', list[1].reply.error)
    assert.truthy(list[2].reply.error:find("^'end' expected .*near <eof>"))
    assert.truthy(list[3].reply.error:find("attempt to add", 1, true))
    assert.equal('undefined variable "rooper"; did you mean "roper"?', list[4].reply.error)
    assert.equal('unknown command %tim; did you mean "time"?', list[5].reply.error)
  end)

  it("completes and explains names", function()
    local list = answers({ { complete = "é = roper.atten" }, { inspect = "roper.eye(" },
      { inspect = "nothing_of_it" }, { inspect = "1" } })
    assert.same({ names = { "roper.attention", "roper.attention_weights" }, start = 4 },
      list[1].reply)
    assert.truthy(list[2].reply.text:find("^roper.eye%(n, dtype%?%)\n"))
    assert.is_nil(list[3].reply.text)
    assert.is_nil(list[4].reply.text)
  end)

  it("names its versions and the number of threads", function()
    local text = answers({ { banner = true } })[1].reply.text
    assert.truthy(text:find("^roper " .. require("roper").version .. " · Lua 5.4 · "), text)
    assert.truthy(text:find(", %d+ threads? · %? for help$"), text)
  end)

  it("ends if the user leaves", function()
    assert.same({}, answers({ { execute = "exit" }, { execute = "1" } }))
  end)
end)

describe("the kernel", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("reports missing programs and packages", function()
    local _, _, errors = process.run({ "./roper", "kernel", "install", "--python", "no-python" })
    assert.equal("roper: cannot find the program no-python; install it "
      .. "(in Debian: apt-get install python3)\n", errors)
    scratch.write("ipykernel.py", "raise ImportError('No module named ipykernel')")
    local status
    status, _, errors = process.run({ "./roper", "kernel", "install" }, nil,
      { PYTHONPATH = scratch.path("") })
    local reason = process.missing("python3")
    if reason then
      return pending(reason)
    end
    assert.equal(1, status)
    assert.truthy(errors:find("install ipykernel for .* %-m pip install ipykernel"), errors)
  end)

  it("can be uninstalled without the Python that installed it", function()
    local uv = require("luv")
    local path = ""
    for _, name in ipairs({ "jupyter", "kernels", "roper" }) do
      path = path .. "/" .. name
      assert(uv.fs_mkdir(scratch.path("") .. path, 493))
    end
    local function uninstall(variables)
      scratch.write("jupyter/kernels/roper/kernel.json", '{"argv": ["/gone/python"]}')
      local result = { process.run({ "./roper", "kernel", "uninstall", "--python", "no-python" },
        nil, variables) }
      assert.same({ 0, "The kernel roper was removed from Jupyter.\n", "" }, result)
      assert.is_nil(uv.fs_stat(scratch.path("jupyter/kernels/roper")))
      assert(uv.fs_mkdir(scratch.path("jupyter/kernels/roper"), 493))
    end
    uninstall({ JUPYTER_DATA_DIR = scratch.path("jupyter") })
    uninstall({ JUPYTER_DATA_DIR = false, XDG_DATA_HOME = scratch.path("") })
  end)

  -- The output of a cell.
  local function printed(outputs)
    local parts = {}
    for i, output in ipairs(outputs) do
      parts[i] = output.text
    end
    return table.concat(parts)
  end

  it("imports no Python from the notebook's folder", function()
    if process.run({ "sh", "-c", "python3 -c 'import ipykernel'" }) ~= 0 then
      pending("python3 has no ipykernel (pip install ipykernel)")
      return
    end
    require("roper.system.file").make(scratch.path("script"))
    local kernel = "scripts/roper/workbench/session/kernel/kernel.py"
    local script = scratch.write("script/start.py", ([[
import runpy, sys
from ipykernel.kernelapp import IPKernelApp
IPKernelApp.start = lambda self: print("" in sys.path, file=open(%q, "w"))
sys.argv = [%q, "-f", %q]
runpy.run_path(sys.argv[0], run_name="__main__")
]]):format(scratch.path("searched"), kernel, scratch.path("connection.json")))
    local status, output, errors = process.run({ "python3", script }, nil,
      { IPYTHONDIR = scratch.path("ipy") })
    assert.equal(0, status, output .. errors)
    assert.equal("False\n", scratch.read(scratch.path("searched")))
  end)

  it("runs a notebook, is interrupted, and starts again", function()
    if process.run({ "sh", "-c", "python3 -c 'import ipykernel, nbclient'" }) ~= 0 then
      pending("python3 has no ipykernel and nbclient (pip install ipykernel nbclient)")
      return
    end
    local home = { JUPYTER_DATA_DIR = scratch.path("jupyter"), IPYTHONDIR = scratch.path("ipy") }
    assert.equal(0, (process.run({ "./roper", "kernel", "install" }, nil, home)))
    local status, output, errors = process.run(
      { "python3", "tests/scripts/roper/workbench/session/notebook.py" }, nil, home)
    assert(status == 0, errors)
    local found = core.json_decode(output)
    local cells = found.cells
    assert.truthy(found.banner:find(" threads? · %? for help$"), found.banner)
    local function last(i)
      return cells[i][#cells[i]]
    end
    assert.equal("é\30{}\n", printed(cells[1]))
    assert.truthy(cells[2][1].data["text/html"]:find("<table>", 1, true))
    assert.equal(2, cells[2][1].execution_count)
    assert.truthy(cells[2][2].data["image/svg+xml"]:find("<svg", 1, true))
    assert.equal('a tensor has no field "summ"; did you mean "sum"?', cells[3][1].evalue)
    assert.equal("interrupted", last(4).evalue)
    assert.truthy(cells[5][1].data["text/plain"]:find("2"))
    assert.truthy(printed(cells[6]):find("^running\n.")) -- and the shell's exit status
    assert.truthy(last(7).evalue:find("roper has ended (SIGKILL)", 1, true))
    assert.equal('undefined variable "x"', last(8).evalue)
    assert.truthy(last(9).evalue:find("roper has ended (status 0)", 1, true))
    assert.same({ "roper.attention", "roper.attention_weights" }, found.complete.matches)
    assert.equal(4, found.complete.cursor_start)
    assert.truthy(found.inspect.data["text/plain"]:find("The identity matrix.", 1, true))

    assert.equal(0, (process.run({ "./roper", "kernel", "uninstall" }, nil, home)))
    status, output, errors = process.run({ "./roper", "kernel", "uninstall" }, nil, home)
    assert.same({ 1, "" }, { status, output })
    assert.truthy(errors:find("Jupyter has no kernel roper", 1, true))
  end)
end)
