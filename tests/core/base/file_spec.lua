local uv = require("luv")

local core = require("roper.core")
local process = require("tests.process")
local scratch = require("tests.scratch")

describe("file", function()
  local old = scratch.read("tests/fixtures/float32.npy")
  local tensor = core.load_npy("tests/fixtures/int32.npy")

  local function make_pipe()
    local path = scratch.path("pipe")
    assert(os.execute("mkfifo '" .. path .. "'"))
    return path
  end

  before_each(scratch.create)
  after_each(scratch.remove)

  describe("reading", function()
    local function refused(path, reason)
      for _, name in ipairs({ "load_npy", "load_safetensors", "load" }) do
        local expected = name .. ': cannot read "' .. path .. '": ' .. reason
        assert.error_matches(function() core[name](path) end, expected, 1, true)
      end
    end

    it("refuses what is not there", function()
      refused(scratch.path("none"), "No such file or directory")
      refused(scratch.path("none/x"), "No such file or directory")
      refused("", "No such file or directory")
      refused(("x"):rep(300), "File name too long")
    end)

    it("refuses folders and devices", function()
      refused(scratch.path("."), "expected a file, got a folder")
      refused("/dev/zero", "expected a file, got a pipe, socket or device")
    end)

    it("does not wait for the other end of a pipe", function()
      refused(make_pipe(), "expected a file, got a pipe, socket or device")
    end)

    it("refuses a path that C would cut", function()
      assert.error_matches(function() core.load("a\0b") end, "NUL")
    end)
  end)

  describe("writing", function()
    local function refused(path, reason)
      for name, value in pairs({ save_npy = tensor, save_safetensors = { a = tensor } }) do
        local expected = name .. ': cannot write "' .. path .. '": ' .. reason
        assert.error_matches(function() core[name](path, value) end, expected, 1, true)
      end
    end

    it("replaces a file and leaves nothing else behind", function()
      local path = scratch.write("x.npy", old)
      core.save_npy(path, tensor)
      assert.equal(scratch.read("tests/fixtures/int32.npy"), scratch.read(path))
      core.save_safetensors(scratch.path("x.safetensors"), { a = tensor })
      assert.same({ "x.npy", "x.safetensors" }, scratch.list())
    end)

    it("takes a path without a folder", function()
      local here = uv.cwd()
      uv.chdir(scratch.path("."))
      local ok, message = pcall(core.save_npy, "x.npy", tensor)
      uv.chdir(here)
      assert.is_true(ok, message)
      assert.same({ "x.npy" }, scratch.list())
    end)

    it("refuses missing folders, folders and pipes", function()
      refused(scratch.path("none/x"), "No such file or directory")
      refused("", "No such file or directory")
      refused(scratch.path("."), "expected a file, found a folder")
      local pipe = make_pipe()
      refused(pipe, "expected a file, found a pipe, socket or device")
      assert.equal("fifo", uv.fs_stat(pipe).type)
      refused(scratch.path(("x"):rep(300)), "File name too long")
      scratch.write("file", "")
      refused(scratch.path("file/x"), "Not a directory")
      assert.same({ "file", "pipe" }, scratch.list())
    end)

    it("keeps the old file when the disk takes no more", function()
      local path = scratch.write("x.npy", old)
      local large = string.pack("<i4", 1):rep(100000)
      local header = "{'descr': '<i4', 'fortran_order': False, 'shape': (100000,)}"
      local source = scratch.write("large.npy",
        "\x93NUMPY\1\0" .. string.pack("<s2", header) .. large)
      local script = scratch.write("save.lua", string.format([[
        local core = require("roper.core")
        local large = core.load_npy(%q)
        print(select(2, pcall(core.save_npy, %q, large)))
        print(select(2, pcall(core.save_safetensors, %q, { large = large })))
      ]], source, path, path))
      local pipe = io.popen(string.format(
        "trap '' XFSZ; ulimit -f 100; LUA_PATH='%s' LUA_CPATH='%s' lua5.4 '%s' 2>&1", package.path,
        package.cpath, script))
      local output = pipe:read("a")
      pipe:close()
      assert.matches('save_npy: cannot write "' .. path .. '": File too large', output, 1, true)
      assert.matches('save_safetensors: cannot write "' .. path .. '"', output, 1, true)
      assert.equal(old, scratch.read(path))
      assert.same({ "large.npy", "save.lua", "x.npy" }, scratch.list())
    end)

    it("keeps the old file when the new one reads back otherwise", function()
      local path, library = scratch.write("x", old), scratch.path("turn.so")
      assert(os.execute(("cc -shared -fPIC -o '%s' tests/fixtures/turned_write.c -ldl"):format(
        library)))
      local script = scratch.write("save.lua", ([[
        local core = require "roper.core"
        local x = core.tensor({ 0x31323334, 0x35363738 }, "int32")
        if arg[1] == "npy" then
          print(select(2, pcall(core.save_npy, %q, x)))
        else
          print(select(2, pcall(core.save_safetensors, %q, { name = x, z = x }, { a = "more" })))
        end
      ]]):format(path, path))
      local function save(kind, turned)
        local _, output = process.run({ "lua5.4", script, kind }, "", {
          LD_PRELOAD = (os.getenv "LD_PRELOAD" or "") .. ":" .. library,
          TURN = turned, LUA_PATH = package.path, LUA_CPATH = package.cpath })
        return output
      end
      for kind, places in pairs({ npy = { "NUMPY", "descr", "4321", "8765" }, safetensors = {
        "{", "__meta", "more", "name", "dtype", "I32", "[2]", "[8,", "4321", "8765" } }) do
        for _, turned in ipairs(places) do
          local output = save(kind, turned)
          assert(output:find(('save_%s: "%s": '):format(kind, path), 1, true) == 1, output)
          assert.equal(old, scratch.read(path))
        end
        assert.equal("\n", save(kind, "nowhere"))
        assert.not_equal(old, scratch.read(path))
        scratch.write("x", old)
      end
      assert.same({ "save.lua", "turn.so", "x" }, scratch.list())
    end)

    it("gives new files the usual mode", function()
      local path = scratch.path("x.npy")
      core.save_npy(path, tensor)
      local plain = uv.fs_stat(scratch.write("plain", "")).mode
      assert.equal(plain, uv.fs_stat(path).mode)
    end)
  end)
end)
