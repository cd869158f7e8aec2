local export = require("roper.workbench.study.report.export")
local files = require("roper.system.file")
local scratch = require("tests.scratch")

describe("export.write", function()
  local folder

  setup(scratch.create)
  teardown(scratch.remove)
  before_each(function()
    files.remove(scratch.path("data"))
    folder = scratch.path("data")
  end)

  it("writes files, and replaces those that it wrote", function()
    assert.equal(2, export.write(folder .. "//", { ["a.csv"] = "1\n", ["b.csv"] = "2\n" }))
    assert.equal(1, export.write(folder, { ["a.csv"] = "3\n" }))
    assert.equal("3\n", files.read(folder .. "/a.csv"))
    assert.equal("2\n", files.read(folder .. "/b.csv"))
    export.write(folder, { ["b.csv"] = "4\n" }) -- also after a call without it
    assert.equal("4\n", files.read(folder .. "/b.csv"))
    assert.same({ "a.csv", "b.csv", "roper-report.json" }, files.names(folder))
  end)

  local function refuses(named)
    assert.error_matches(function()
      export.write(folder, { ["a.csv"] = "new\n", ["b.csv"] = "new\n" })
    end, "report: .*data already contains " .. named .. ", which no report has written or which "
      .. "was changed since; move it, or choose another folder")
  end

  it("refuses foreign and changed files before it writes any", function()
    export.write(folder, { ["a.csv"] = "1\n" })
    files.write(folder .. "/b.csv", "mine\n")
    refuses("b.csv")
    files.write(folder .. "/a.csv", "edited\n")
    refuses("a.csv, b.csv")
    assert.equal("edited\n", files.read(folder .. "/a.csv"))
    assert.equal("mine\n", files.read(folder .. "/b.csv"))
  end)

  it("refuses a list of files that is damaged or foreign", function()
    for _, text in ipairs({ "", "[1]", '{"files": 3}', '{"files": {"a.csv": 1}}' }) do
      files.make(folder)
      files.write(folder .. "/roper-report.json", text)
      files.write(folder .. "/a.csv", "mine\n")
      refuses(text:find("a.csv") and "a.csv" or "roper%-report.json")
      assert.equal("mine\n", files.read(folder .. "/a.csv"))
    end
  end)

  it("continues after a call that ended between two files", function()
    local write = files.write
    finally(function() files.write = write end)
    export.write(folder, { ["a.csv"] = "1\n", ["b.csv"] = "1\n" })
    files.write = function(path, text)
      assert(not path:find("b.csv", 1, true), "the disk is full")
      write(path, text)
    end
    assert.error_matches(function()
      export.write(folder, { ["a.csv"] = "2\n", ["b.csv"] = "2\n" })
    end, "the disk is full")
    files.write = write
    assert.equal("2\n", files.read(folder .. "/a.csv"))
    assert.equal("1\n", files.read(folder .. "/b.csv"))
    export.write(folder, { ["a.csv"] = "3\n", ["b.csv"] = "3\n" })
    assert.equal("3\n", files.read(folder .. "/b.csv"))
  end)

  it("needs a folder", function()
    assert.error_matches(function() export.write("", { a = "" }) end,
      "expected the name of a folder, got an empty one")
    assert.error_matches(function() export.write(scratch.write("file", ""), { a = "" }) end,
      "cannot .*file")
  end)
end)
