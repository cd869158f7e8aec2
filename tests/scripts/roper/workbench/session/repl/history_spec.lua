local history = require("roper.workbench.session.repl.history")
local scratch = require("tests.scratch")
local uv = require("luv")

describe("history", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("keeps entries of several lines and with backslashes", function()
    local path = scratch.path("new/folder/history")
    local entries = { "x = 1", "for i = 1, 2 do\n  print(i)\nend", [[s = "\n" .. "\\"]] }
    for _, entry in ipairs(entries) do
      history.append(path, entry)
    end
    assert.same(entries, history.load(path))
  end)

  it("loads each entry once, at its last position", function()
    local path = scratch.write("twice", "a\nb\na\nc\n")
    assert.same({ "b", "a", "c" }, history.load(path))
  end)

  it("is shortened if it is long", function()
    local lines = {}
    for i = 1, 2500 do
      lines[i] = "line " .. i
    end
    local path = scratch.write("long", table.concat(lines, "\n") .. "\n")
    local entries = history.load(path)
    assert.equal(1000, #entries)
    assert.equal("line 1501", entries[1])
    assert.equal("line 2500", entries[1000])
    assert.equal(1000, select(2, scratch.read(path):gsub("\n", "")))
  end)

  it("reports that a file cannot be read", function()
    local path = scratch.path("loop")
    assert(uv.fs_symlink(path, path))
    assert.same({ {}, ("cannot read %s: ELOOP: too many symbolic links encountered"):format(path) },
                { history.load(path) })
  end)

  it("works without a file", function()
    assert.same({}, history.load(scratch.path("none")))
    history.append("/proc/none/history", "x")
    assert.same({}, history.load("/proc/none/history"))
  end)
end)
