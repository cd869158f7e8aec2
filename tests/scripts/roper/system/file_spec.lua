-- Files and folders: reading, atomic writing, and errors that name the path and the reason.
local core = require("roper.core")
local files = require("roper.system.file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local uv = require("luv")

before_each(scratch.create)
after_each(scratch.remove)

describe("files.make", function()
  it("makes a folder and its parents", function()
    files.make(scratch.path("a/b/c"))
    assert.equal("directory", uv.fs_stat(scratch.path("a/b/c")).type)
    files.make(scratch.path("a/b/c"))
    files.make(scratch.path("a//b/d/"))
    assert.equal("directory", uv.fs_stat(scratch.path("a/b/d")).type)
  end)

  it("makes folders below the working directory", function()
    local before = uv.cwd()
    uv.chdir(scratch.path(""))
    local ok, message = pcall(files.make, "x/y")
    uv.chdir(before)
    assert(ok, message)
    assert.equal("directory", uv.fs_stat(scratch.path("x/y")).type)
  end)

  it("flushes the parent of each new folder", function()
    local sync, flushed = files.sync, {}
    files.sync = function(path)
      flushed[#flushed + 1] = path
      return sync(path)
    end
    finally(function() files.sync = sync end)
    files.make(scratch.path("a/b"))
    files.make(scratch.path("a/b"))
    assert.same({ scratch.path(""), scratch.path("a/") }, flushed)
  end)

  it("raises an error if a file has the name", function()
    local path = scratch.write("file", "text")
    assert.has_error(function() files.make(path) end,
                     ("cannot make the folder %s: a file with this name exists"):format(path))
    assert.error_matches(function() files.make(path .. "/below") end,
                         "cannot make the folder .*file/below: ENOTDIR")
    assert.equal("text", scratch.read(path))
    assert.error_matches(function() files.make("") end, "cannot make the folder")
  end)
end)

describe("files.write", function()
  it("writes a file, also over another", function()
    local path = scratch.path("a.txt")
    for _, text in ipairs({ "some\0 bytes\n", "", ("x"):rep(100000) }) do
      files.write(path, text)
      assert.equal(text, scratch.read(path))
    end
    assert.same({ "a.txt" }, scratch.list())
  end)

  it("leaves an existing folder, and names the path and the reason", function()
    files.make(scratch.path("a.txt"))
    assert.has_error(function() files.write(scratch.path("a.txt"), "new") end,
      ('cannot write "%s": expected a file, got a folder'):format(scratch.path("a.txt")))
    assert.same({ "a.txt" }, scratch.list())
    assert.has_error(function() files.write(scratch.path("none/a.txt"), "x") end,
      ('cannot write "%s": No such file or directory'):format(scratch.path("none/a.txt")))
  end)
end)

describe("files.sync", function()
  it("flushes files and folders, and names the path that it cannot flush", function()
    files.sync(scratch.write("a.txt", "text"))
    files.sync(scratch.path("."))
    assert.error_matches(function() files.sync(scratch.path("none")) end,
                         '^cannot flush ".*/none": No such file or directory$')
    assert.error_matches(function() files.sync("/proc/self/comm") end,
                         '^cannot flush "/proc/self/comm": Invalid argument$')
  end)
end)

describe("files.create", function()
  it("creates a file once", function()
    local path = scratch.path("a.txt")
    assert.is_true(files.create(path, "first"))
    assert.is_false(files.create(path, "second"))
    assert.equal("first", scratch.read(path))
    assert.same({ "a.txt" }, scratch.list())
    assert.has_error(function() files.create(scratch.path("none/a.txt"), "x") end,
      ('cannot write "%s": No such file or directory'):format(scratch.path("none/a.txt")))
  end)
end)

describe("files.read, decode, stat and names", function()
  it("return what exists, and nil or {} for what does not", function()
    assert.is_nil(files.read(scratch.path("a")))
    assert.is_nil(files.stat(scratch.path("a")))
    assert.equal("x\0y", files.read(scratch.write("a", "x\0y")))
    assert.equal(3, files.stat(scratch.path("a")).size)
    local long = ("0123456789abcdef"):rep(1 << 16)
    assert.equal(long, files.read(scratch.write("B", long)))
    assert.equal("", files.read(scratch.write("c", "")))
    assert.same({ "B", "a", "c" }, files.names(scratch.path(".")))
    assert.same({}, files.names(scratch.path("none")))
  end)

  it("raise an error for a path that exists but cannot be accessed", function()
    local loop = scratch.path("loop")
    assert(uv.fs_symlink(loop, loop))
    for _, read in ipairs({ files.read, files.decode, files.stat }) do
      assert.error_matches(function() read(loop) end, "^cannot read [^:]*/loop: ELOOP: [^:]*$")
    end
    assert.error_matches(function() files.names(loop) end, "^cannot list [^:]*/loop: ELOOP: ")
    local file = scratch.write("file", "")
    assert.error_matches(function() files.read(file .. "/x") end, "^cannot read .*: ENOTDIR: ")
    assert.error_matches(function() files.names(file) end, "^cannot list .*: ENOTDIR: ")
    assert.error_matches(function() files.read(scratch.path(".")) end,
                         "^cannot read .*: expected a file, got a directory$")
  end)

  it("hold nothing after they have listed a folder", function()
    local function references()
      local count = 0
      for _ in pairs(debug.getregistry()) do
        count = count + 1
      end
      return count
    end
    files.names(".")
    local before = references()
    for _ = 1, 100 do
      files.names(".")
    end
    assert.is_true(references() < before + 10)
  end)

  it("do not wait for the writer of a FIFO", function()
    local path = scratch.path("fifo")
    assert.equal(0, (process.run({ "mkfifo", path })))
    assert.has_error(function() files.read(path) end,
                     ("cannot read %s: expected a file, got a fifo"):format(path))
  end)

  it("raise an error if no file can be opened, or read to its end", function()
    local open, path = io.open, scratch.write("a", "text")
    local function refused(reason)
      assert.has_error(function() files.decode(path) end,
                       ("cannot read %s: %s"):format(path, reason))
    end
    scratch.unreadable(path, 24, function() refused("EMFILE: too many open files") end)
    finally(function() rawset(io, "open", open) end)
    rawset(io, "open", function()
      return setmetatable({ read = function() return nil, "Input/output error", 5 end },
        { __close = function() end })
    end)
    refused("EIO: i/o error")
  end)
end)

describe("files.parse and files.decode", function()
  it("return a decoded table, and nil for anything else", function()
    assert.same({ a = { 1 } }, files.decode(scratch.write("a", '{"a": [1]}')))
    assert.is_nil(files.decode(scratch.path("none")))
    for _, text in ipairs({ "", "{", '{"a": 1} x', "5", "null" }) do
      assert.is_nil(files.parse(text))
      assert.is_nil(files.decode(scratch.write("a", text)))
    end
  end)

  it("raise an error if memory runs out", function()
    local decode = core.json_decode
    finally(function() core.json_decode = decode end)
    core.json_decode = function() error("not enough memory", 0) end
    assert.has_error(function() files.parse("{}") end, "not enough memory")
  end)
end)

describe("files.clean", function()
  it("removes temporary files, and nothing else", function()
    for _, name in ipairs({ "a.json", "a.json.1-ff.tmp", "b.json.1-ff.tmp", "tmp",
                            "a.tmp.json" }) do
      scratch.write(name, "")
    end
    files.clean(scratch.path("."), "a.json")
    assert.same({ "a.json", "a.tmp.json", "b.json.1-ff.tmp", "tmp" }, scratch.list())
    files.clean(scratch.path("."))
    assert.same({ "a.json", "a.tmp.json", "tmp" }, scratch.list())
    files.clean(scratch.path("none"))
  end)
end)
