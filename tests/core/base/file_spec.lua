-- Reading and writing of files by the core: missing and special files, faults while writing.
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

    it("rejects missing files", function()
      refused(scratch.path("none"), "No such file or directory")
      refused(scratch.path("none/x"), "No such file or directory")
      refused("", "No such file or directory")
      refused(("x"):rep(300), "File name too long")
    end)

    it("rejects folders and devices", function()
      refused(scratch.path("."), "expected a file, got a folder")
      refused("/dev/zero", "expected a file, got a pipe, socket or device")
    end)

    it("does not wait for the other end of a pipe", function()
      refused(make_pipe(), "expected a file, got a pipe, socket or device")
    end)

    it("rejects a path with a NUL byte", function()
      assert.error_matches(function() core.load("a\0b") end, "NUL")
    end)
  end)

  describe("writing", function()
    local function refused(path, reason)
      local expected = 'cannot write "' .. path .. '": ' .. reason
      for name, value in pairs({ save_npy = tensor, save_safetensors = { a = tensor } }) do
        assert.error_matches(function() core[name](path, value) end, name .. ": " .. expected, 1,
          true)
      end
      for _, name in ipairs({ "write_file", "create_file" }) do
        assert.same({ nil, expected }, { core[name](path, "text") })
      end
    end

    it("replaces a file and leaves nothing else behind", function()
      local path = scratch.write("x.npy", old)
      core.save_npy(path, tensor)
      assert.equal(scratch.read("tests/fixtures/int32.npy"), scratch.read(path))
      core.save_safetensors(scratch.path("x.safetensors"), { a = tensor })
      assert.same({ "x.npy", "x.safetensors" }, scratch.list())
    end)

    it("accepts a path without a folder", function()
      local here = uv.cwd()
      uv.chdir(scratch.path("."))
      local ok, message = pcall(core.save_npy, "x.npy", tensor)
      uv.chdir(here)
      assert.is_true(ok, message)
      assert.same({ "x.npy" }, scratch.list())
    end)

    it("rejects missing folders, folders and pipes", function()
      refused(scratch.path("none/x"), "No such file or directory")
      refused("", "No such file or directory")
      refused(scratch.path("."), "expected a file, got a folder")
      local pipe = make_pipe()
      refused(pipe, "expected a file, got a pipe, socket or device")
      assert.equal("fifo", uv.fs_stat(pipe).type)
      refused(scratch.path(("x"):rep(300)), "File name too long")
      scratch.write("file", "")
      refused(scratch.path("file/x"), "Not a directory")
      assert.same({ "file", "pipe" }, scratch.list())
    end)

    it("keeps the old file when the disk is full", function()
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
        print(core.write_file(%q, ("x"):rep(400000)))
        print(core.create_file(%q, ("x"):rep(400000)))
      ]], source, path, path, path, scratch.path("new")))
      local pipe = io.popen(string.format(
        "trap '' XFSZ; ulimit -f 100; LUA_PATH='%s' LUA_CPATH='%s' lua5.4 '%s' 2>&1", package.path,
        package.cpath, script))
      local output = pipe:read("a")
      pipe:close()
      assert.matches('save_npy: cannot write "' .. path .. '": File too large', output, 1, true)
      assert.matches('save_safetensors: cannot write "' .. path .. '"', output, 1, true)
      assert.matches('nil\tcannot write "' .. path .. '": File too large', output, 1, true)
      assert.matches('nil\tcannot write "' .. scratch.path("new") .. '": File', output, 1, true)
      assert.equal(old, scratch.read(path))
      assert.same({ "large.npy", "save.lua", "x.npy" }, scratch.list())
    end)

    it("removes temporary files that killed processes left for the same name", function()
      local path = scratch.path("x.npy")
      for _, name in ipairs({ "x.npy.1-0123abcd.tmp", "x.npy.1-0123abc.tmp", "x.npy.a-0123abcd.tmp",
                              "x.npy.1-0123abcd.tmp.gz", "y.npy.1-0123abcd.tmp" }) do
        scratch.write(name, "left")
      end
      local _ <close> = core.lock(scratch.path("x.npy.2-89abcdef.tmp")) -- of a living process
      core.save_npy(path, core.ones({ 3 }))
      assert.same({ "x.npy", "x.npy.1-0123abc.tmp", "x.npy.1-0123abcd.tmp.gz",
        "x.npy.2-89abcdef.tmp", "x.npy.a-0123abcd.tmp", "y.npy.1-0123abcd.tmp" }, scratch.list())
    end)

    it("keeps the temporary file of another process that is saving", function()
      local path = scratch.path("x")
      local code = ([[
        package.path, package.cpath = %q, %q
        local core = require "roper.core"
        local x = core.full({ 100 }, tonumber(arg[1]))
        for _ = 1, 200 do core.save_npy(%q, x) end]]):format(package.path, package.cpath, path)
      local script = scratch.write("save.lua", code)
      assert.equal(0, (process.run({ "sh", "-c", "for i in 1 2 3 4; do lua5.4 \"$0\" $i & "
        .. "all=\"$all $!\"; done; for id in $all; do wait $id || exit; done", script })))
      assert.same({ "save.lua", "x" }, scratch.list())
    end)

    describe("with a fault", function()
      local path, library, script

      before_each(function()
        path, library = scratch.write("x", old), scratch.path("faulty.so")
        assert(os.execute(("cc -shared -fPIC -o '%s' tests/fixtures/faulty_disk.c -ldl"):format(
          library)))
        script = scratch.write("save.lua", ([[
          local core, files = require "roper.core", require "roper.system.file"
          local path = %q
          local x = core.tensor({ 0x31323334, 0x35363738 }, "int32")
          local calls = {
            npy = { core.save_npy, path, x },
            safetensors = { core.save_safetensors, path, { name = x, z = x }, { a = "more" } },
            write = { files.write, path, "some text" },
            create = { files.create, path .. ".new", "some text" },
          }
          print(select(2, pcall(table.unpack(calls[ arg[1] ]))))
        ]]):format(path))
      end)

      local function save(kind, fault)
        fault.LD_PRELOAD = (os.getenv "LD_PRELOAD" or "") .. ":" .. library
        fault.LUA_PATH, fault.LUA_CPATH = package.path, package.cpath
        local _, output = process.run({ "lua5.4", script, kind }, "", fault)
        return output
      end

      local function fails(kind, fault)
        local output = save(kind, fault)
        local head = kind:find "npy" and "save_npy: " or kind:find "safe" and "save_safetensors: "
          or ""
        local start = ('%scannot '):format(head)
        assert.equal(start, output:sub(1, #start))
        assert.truthy(output:find(path, 1, true))
        assert.equal(old, scratch.read(path))
        assert.same({ "faulty.so", "save.lua", "x" }, scratch.list())
      end

      it("keeps the old file if the data read back differ", function()
        for kind, texts in pairs({ npy = { "NUMPY", "descr", "4321", "8765" }, safetensors = {
          "{", "__meta", "more", "name", "dtype", "I32", "[2]", "[8,", "4321", "8765" },
          write = { "some", "text" }, create = { "some", "text" } }) do
          for _, text in ipairs(texts) do
            fails(kind, { FLIP = text })
          end
          for _, count in ipairs({ "1", "2" }) do
            fails(kind, { DROP = count })
          end
        end
        fails("write", { DROP = "9" })
        for _, kind in ipairs({ "npy", "safetensors", "write" }) do
          assert.equal("\n", save(kind, { FLIP = "absent" }))
          assert.not_equal(old, scratch.read(path))
          scratch.write("x", old)
        end
      end)

      it("rejects a path whose status cannot be read", function()
        for _, kind in ipairs({ "npy", "safetensors", "write" }) do
          fails(kind, { DENY = path })
        end
      end)

      it("writes a text again if another process removes the temporary file", function()
        assert.equal("\n", save("write", { REMOVE = "2" }))
        assert.equal("some text", scratch.read(path))
        assert.equal("true\n", save("create", { REMOVE = "2" }))
        assert.equal("some text", scratch.read(path .. ".new"))
        assert.same({ "faulty.so", "save.lua", "x", "x.new" }, scratch.list())
        assert.equal(('cannot write "%s": No such file or directory\n'):format(path),
          save("write", { REMOVE = "1000" }))
      end)
    end)

    it("replaces a symbolic link, and leaves its target unchanged", function()
      local target, link = scratch.write("target", "old"), scratch.path("link")
      assert(uv.fs_symlink(target, link))
      assert.is_false(core.create_file(link, "new"))
      assert.equal("link", uv.fs_lstat(link).type)
      local circle = scratch.path("circle")
      assert(uv.fs_symlink(circle, circle))
      core.write_file(circle, "new")
      assert.equal("new", scratch.read(circle))
      core.write_file(link, "new")
      assert.equal("file", uv.fs_lstat(link).type)
      assert.same({ "old", "new" }, { scratch.read(target), scratch.read(link) })
    end)

    it("gives new files the usual permissions, but texts none for others to write", function()
      local path = scratch.path("x.npy")
      core.save_npy(path, tensor)
      local plain = uv.fs_stat(scratch.write("plain", "")).mode
      assert.equal(plain, uv.fs_stat(path).mode)
      core.write_file(path, "text")
      assert.equal(plain & ~tonumber("22", 8), uv.fs_stat(path).mode)
    end)
  end)
end)
