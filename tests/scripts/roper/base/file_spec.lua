local core = require("roper.core")
local files = require("roper.base.file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local uv = require("luv")

before_each(scratch.create)
after_each(scratch.remove)

describe("folder.make", function()
  it("makes a folder and those above it", function()
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

  it("refuses where a file is in the way", function()
    local path = scratch.write("file", "text")
    assert.has_error(function() files.make(path) end,
                     ("cannot make the folder %s: a file with this name exists"):format(path))
    assert.error_matches(function() files.make(path .. "/below") end,
                         "cannot make the folder .*file/below: ENOTDIR")
    assert.equal("text", scratch.read(path))
    assert.error_matches(function() files.make("") end, "cannot make the folder")
  end)
end)

describe("folder.fresh", function()
  it("makes the first folder that is not there", function()
    local path = scratch.path("runs/run")
    assert.equal(path, files.fresh(path))
    assert.equal("directory", uv.fs_stat(path).type)
    files.make(path .. "-3")
    assert.equal(path .. "-2", files.fresh(path))
    scratch.write("runs/run-4", "")
    assert.equal(path .. "-5", files.fresh(path))
    local file = scratch.write("file", "")
    assert.has_error(function() files.fresh(file .. "/run") end,
                     ("cannot make the folder %s: a file with this name exists"):format(file))
  end)

  it("gives no two processes the same", function()
    local code = ("package.path, package.cpath = %q, %q "
      .. "print(require('roper.base.file').fresh(%q))")
      :format(package.path, package.cpath, scratch.path("run"))
    local status, output = process.run({ "sh", "-c",
      'for i in 1 2 3 4 5 6; do lua5.4 -e "$0" & done; wait', code })
    assert.equal(0, status)
    local seen, count = {}, 0
    for path in output:gmatch("[^\n]+") do
      assert.is_nil(seen[path], path)
      seen[path], count = true, count + 1
    end
    assert.equal(6, count)
  end)
end)

describe("folder.write", function()
  it("writes a whole file, over another too", function()
    local path = scratch.path("a.txt")
    for _, text in ipairs({ "some\0 bytes\n", "", ("x"):rep(100000) }) do
      files.write(path, text)
      assert.equal(text, scratch.read(path))
    end
    assert.same({ "a.txt" }, scratch.list())
  end)

  it("leaves what is there when it fails", function()
    files.make(scratch.path("a.txt"))
    assert.error_matches(function() files.write(scratch.path("a.txt"), "new") end,
                         "^cannot write [^:]*/a.txt: EISDIR: [^:]*$")
    assert.same({ "a.txt" }, scratch.list())
    assert.error_matches(function() files.write(scratch.path("none/a.txt"), "x") end,
                         "^cannot write [^:]*/none/a.txt: ENOENT: [^:]*$")
  end)
end)

describe("folder.write", function()
  it("keeps the old file when the new one reads back otherwise, or short", function()
    local path, fs_write = scratch.write("a.txt", "old"), uv.fs_write
    for _, damaged in ipairs({ "newer", "nwe", "ne", "" }) do
      uv.fs_write = function(descriptor)
        fs_write(descriptor, damaged)
        return 3
      end
      local ok, message = pcall(files.write, path, "new")
      uv.fs_write = fs_write
      assert.is_false(ok)
      assert.equal(("cannot write %s: the data read back differ from the data written")
        :format(path), message)
      assert.equal("old", scratch.read(path))
      assert.same({ "a.txt" }, scratch.list())
    end
  end)
end)

describe("folder.sync", function()
  it("flushes files and folders, and says what it cannot", function()
    local fs_fsync, flushed = uv.fs_fsync, {}
    uv.fs_fsync = function(descriptor)
      flushed[#flushed + 1] = uv.fs_readlink("/proc/self/fd/" .. descriptor)
      return fs_fsync(descriptor)
    end
    local path = scratch.write("a.txt", "text")
    files.sync(path)
    files.sync(scratch.path("."))
    uv.fs_fsync = fs_fsync
    assert.same({ path, path:match("(.*)/") }, flushed)
    assert.error_matches(function() files.sync(scratch.path("none")) end,
                         "^cannot flush .*/none: ENOENT")
    assert.error_matches(function() files.sync("/proc/self/comm") end,
                         "^cannot flush /proc/self/comm: EINVAL")
  end)
end)

describe("folder.write and files.create", function()
  local link, rename = uv.fs_link, uv.fs_rename

  after_each(function() uv.fs_link, uv.fs_rename = link, rename end)

  it("write once more what another process cleaned away too early", function()
    local path = scratch.path("a.txt")
    local calls = 0
    local function after_cleaning(put)
      return function(...)
        calls = calls + 1
        if calls < 3 then
          files.clean(scratch.path("."))
        end
        return put(...)
      end
    end
    uv.fs_link, uv.fs_rename = after_cleaning(link), after_cleaning(rename)
    assert.is_true(files.create(path, "new"))
    assert.equal(3, calls)
    calls = 0
    files.write(path, "newer")
    assert.equal(3, calls)
    assert.equal("newer", scratch.read(path))
    assert.same({ "a.txt" }, scratch.list())
  end)
end)

describe("folder.create", function()
  it("writes a file where none is, once", function()
    local path = scratch.path("a.txt")
    assert.is_true(files.create(path, "first"))
    assert.is_false(files.create(path, "second"))
    assert.equal("first", scratch.read(path))
    assert.same({ "a.txt" }, scratch.list())
    assert.error_matches(function() files.create(scratch.path("none/a.txt"), "x") end,
                         "^cannot write [^:]*/none/a.txt: ENOENT: [^:]*$")
  end)
end)

describe("what reads", function()
  it("gives what is there", function()
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

  it("takes nothing for missing that it cannot see", function()
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

  it("does not wait for what a FIFO will give", function()
    local path = scratch.path("fifo")
    assert.equal(0, (process.run({ "mkfifo", path })))
    assert.has_error(function() files.read(path) end,
                     ("cannot read %s: expected a file, got a fifo"):format(path))
  end)

  it("fails where no file can be opened, or read to its end", function()
    local open, read = uv.fs_open, uv.fs_read
    finally(function() uv.fs_open, uv.fs_read = open, read end)
    local path = scratch.write("a", "text")
    uv.fs_open = function() return nil, "EMFILE: too many open files: " .. path, "EMFILE" end
    assert.has_error(function() files.read(path) end,
                     ("cannot read %s: EMFILE: too many open files"):format(path))
    uv.fs_open = open
    uv.fs_read = function() return nil, "EIO: i/o error", "EIO" end
    assert.has_error(function() files.decode(path) end,
                     ("cannot read %s: EIO: i/o error"):format(path))
  end)
end)

describe("folder.parse and files.decode", function()
  it("give JSON, and nil for what is none", function()
    assert.same({ a = { 1 } }, files.decode(scratch.write("a", '{"a": [1]}')))
    assert.is_nil(files.decode(scratch.path("none")))
    for _, text in ipairs({ "", "{", '{"a": 1} x', "5", "null" }) do
      assert.is_nil(files.parse(text))
      assert.is_nil(files.decode(scratch.write("a", text)))
    end
  end)

  it("do not take a want of memory for damage", function()
    local decode = core.json_decode
    finally(function() core.json_decode = decode end)
    core.json_decode = function() error("not enough memory", 0) end
    assert.has_error(function() files.parse("{}") end, "not enough memory")
  end)
end)

describe("folder.clean", function()
  it("removes what was not finished, and nothing else", function()
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
