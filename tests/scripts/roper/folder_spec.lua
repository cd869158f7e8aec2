local folder = require("roper.folder")
local scratch = require("tests.scratch")
local uv = require("luv")

before_each(scratch.create)
after_each(scratch.remove)

describe("folder.make", function()
  it("makes a folder and those above it", function()
    folder.make(scratch.path("a/b/c"))
    assert.equal("directory", uv.fs_stat(scratch.path("a/b/c")).type)
    folder.make(scratch.path("a/b/c"))
    folder.make(scratch.path("a//b/d/"))
    assert.equal("directory", uv.fs_stat(scratch.path("a/b/d")).type)
  end)

  it("makes folders below the working directory", function()
    local before = uv.cwd()
    uv.chdir(scratch.path(""))
    local ok, message = pcall(folder.make, "x/y")
    uv.chdir(before)
    assert(ok, message)
    assert.equal("directory", uv.fs_stat(scratch.path("x/y")).type)
  end)

  it("refuses where a file is in the way", function()
    local path = scratch.write("file", "text")
    assert.has_error(function() folder.make(path) end,
                     ("cannot make the folder %s: a file of that name is there"):format(path))
    assert.error_matches(function() folder.make(path .. "/below") end,
                         "cannot make the folder .*file/below: ENOTDIR")
    assert.equal("text", scratch.read(path))
    assert.error_matches(function() folder.make("") end, "cannot make the folder")
  end)
end)

describe("folder.fresh", function()
  it("gives the first number that is free", function()
    local path = scratch.path("run")
    assert.equal(path .. "-1", folder.fresh(path))
    folder.make(path .. "-1")
    folder.make(path .. "-3")
    assert.equal(path .. "-2", folder.fresh(path))
    scratch.write("run-2", "")
    assert.equal(path .. "-4", folder.fresh(path))
  end)
end)

describe("folder.write", function()
  it("writes a whole file, over another too", function()
    local path = scratch.path("a.txt")
    for _, text in ipairs({ "some\0 bytes\n", "", ("x"):rep(100000) }) do
      folder.write(path, text)
      assert.equal(text, scratch.read(path))
    end
    assert.same({ "a.txt" }, scratch.list())
  end)

  it("leaves what is there when it fails", function()
    folder.make(scratch.path("a.txt"))
    assert.error_matches(function() folder.write(scratch.path("a.txt"), "new") end,
                         "^cannot write [^:]*/a.txt: EISDIR: [^:]*$")
    assert.same({ "a.txt" }, scratch.list())
    assert.error_matches(function() folder.write(scratch.path("none/a.txt"), "x") end,
                         "^cannot write [^:]*/none/a.txt: ENOENT: [^:]*$")
  end)
end)

describe("folder.write and folder.create", function()
  local link, rename = uv.fs_link, uv.fs_rename

  after_each(function() uv.fs_link, uv.fs_rename = link, rename end)

  it("write once more what another process cleaned away too early", function()
    local path = scratch.path("a.txt")
    local calls = 0
    local function after_cleaning(put)
      return function(...)
        calls = calls + 1
        if calls < 3 then
          folder.clean(scratch.path("."))
        end
        return put(...)
      end
    end
    uv.fs_link, uv.fs_rename = after_cleaning(link), after_cleaning(rename)
    assert.is_true(folder.create(path, "new"))
    assert.equal(3, calls)
    calls = 0
    folder.write(path, "newer")
    assert.equal(3, calls)
    assert.equal("newer", scratch.read(path))
    assert.same({ "a.txt" }, scratch.list())
  end)
end)

describe("folder.create", function()
  it("writes a file where none is, once", function()
    local path = scratch.path("a.txt")
    assert.is_true(folder.create(path, "first"))
    assert.is_false(folder.create(path, "second"))
    assert.equal("first", scratch.read(path))
    assert.same({ "a.txt" }, scratch.list())
    assert.error_matches(function() folder.create(scratch.path("none/a.txt"), "x") end,
                         "^cannot write [^:]*/none/a.txt: ENOENT: [^:]*$")
  end)
end)

describe("folder.read and folder.names", function()
  it("give what is there", function()
    assert.is_nil(folder.read(scratch.path("a")))
    assert.equal("x\0y", folder.read(scratch.write("a", "x\0y")))
    scratch.write("B", "")
    assert.same({ "B", "a" }, folder.names(scratch.path(".")))
    assert.same({}, folder.names(scratch.path("none")))
  end)
end)

describe("folder.decode", function()
  it("gives JSON, and nil for what is none", function()
    assert.same({ a = { 1 } }, folder.decode(scratch.write("a", '{"a": [1]}')))
    assert.is_nil(folder.decode(scratch.path("none")))
    for _, text in ipairs({ "", "{", '{"a": 1} x', "5", "null" }) do
      assert.is_nil(folder.decode(scratch.write("a", text)))
    end
  end)
end)

describe("folder.clean", function()
  it("removes what was not finished, and nothing else", function()
    for _, name in ipairs({ "a.json", "a.json.1-ff.tmp", "b.json.1-ff.tmp", "tmp",
                            "a.tmp.json" }) do
      scratch.write(name, "")
    end
    folder.clean(scratch.path("."), "a.json")
    assert.same({ "a.json", "a.tmp.json", "b.json.1-ff.tmp", "tmp" }, scratch.list())
    folder.clean(scratch.path("."))
    assert.same({ "a.json", "a.tmp.json", "tmp" }, scratch.list())
    folder.clean(scratch.path("none"))
  end)
end)
