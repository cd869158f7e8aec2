-- make install and make uninstall, with the program and the C library that they install.
local files = require("roper.system.file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local version = require("roper.base.version")

local function make(target, ...)
  local status, _, errors = process.run({ "make", target, ... }, "",
    { MAKEFLAGS = false, MAKELEVEL = false })
  return status, errors
end

-- Runs a shell command below the prefix of a staged installation.
local function run(line)
  local status, output, errors = process.run({ "/bin/sh", "-c", ("cd '%s' && %s"):format(
    scratch.path("root/usr"), line) }, "", { LUA_PATH = false, LUA_CPATH = false,
    LUA_PATH_5_4 = false, LUA_CPATH_5_4 = false, XDG_STATE_HOME = scratch.path("state") })
  assert.equal(0, status, errors)
  return output
end

-- The files and folders below a folder.
local function tree(folder)
  local list = {}
  local pipe <close> = io.popen(("cd '%s' && find . | LC_ALL=C sort"):format(folder))
  for path in pipe:lines() do
    list[#list + 1] = path
  end
  return list
end

describe("make install", function()
  local root, before

  setup(function()
    scratch.create()
    root = scratch.path("root")
    -- Files of others, and a folder that was empty.
    assert(os.execute(("mkdir -p '%s/usr/bin' '%s/usr/share/lua/5.4'"):format(root, root)))
    scratch.write("root/usr/share/lua/5.4/other.lua", "")
    before = tree(root)
    local status, errors = make("install", "DESTDIR=" .. root, "PREFIX=/usr")
    assert.equal(0, status, errors)
  end)
  teardown(scratch.remove)

  it("installs a program that runs without the source tree", function()
    assert.equal("roper " .. version .. "\n", run("bin/roper --version"))
    assert.equal(version .. "\n", run("bin/roper -e 'print(roper.version)'"))
    assert.truthy(run("bin/roper lesson"):find("\n +%d+ +rotation "))
    assert.truthy(run(("cd '%s' && '%s/usr/bin/roper' train copy preset=smoke steps=2"):format(
      scratch.path(""), root)):find("in runs/copy-roper-1\n", 1, true))
  end)

  it("installs a manual page", function()
    local page = run("cat share/man/man1/roper.1")
    for _, part in ipairs({ "roper " .. version, "\nsweep\nRun every", '.SH "EXIT STATUS"' }) do
      assert.truthy(page:find(part, 1, true), part)
    end
  end)

  it("installs a C library for programs", function()
    local source = require("luv").cwd() .. "/tests/core/program.c"
    local output = run(("PKG_CONFIG_PATH=lib/pkgconfig; export PKG_CONFIG_PATH; "
      .. "cc -std=c11 -Wall -Werror -o '%s' '%s' $(pkg-config --cflags --libs roper) && "
      .. "'%s'"):format(scratch.path("program"), source, scratch.path("program")))
    local first = output:match("^ +3 (%-?%d%.%d+) ")
    assert.equal((("   3 X X\n 503 X X\n1003 X X\n1503 X X\n"):gsub("X", first)), output)
    assert.equal(version .. "\n",
      run("PKG_CONFIG_PATH=lib/pkgconfig pkg-config --modversion roper"))
  end)

  it("installs no files for the source tree", function()
    for _, path in ipairs(tree(root)) do
      assert.falsy(path:find("packaging", 1, true) or path:find("%.md$")
        or path:find("experiments/[^/]+/"), path)
    end
  end)

  it("can be repeated, and removes files that a version no longer has", function()
    local installed = tree(root)
    scratch.write("root/usr/share/roper/old.lua", "")
    local path = root .. "/usr/share/roper/installed"
    files.write(path, ("%s%s  /usr/share/roper/old.lua\n"):format(scratch.read(path),
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")) -- of an empty file
    assert.equal(0, (make("install", "DESTDIR=" .. root, "PREFIX=/usr")))
    assert.same(installed, tree(root))
  end)

  it("replaces no file that it did not install, nor one that was changed", function()
    local installed, changed = tree(root), root .. "/usr/share/lua/5.4/roper/init.lua"
    local original = scratch.read(changed)
    local other = root .. "/other"
    assert(os.execute(("mkdir -p '%s/usr/bin'"):format(other)))
    files.write(other .. "/usr/bin/roper", "mine\n")
    files.write(changed, "mine, too\n")
    for folder, path in pairs { [root] = changed, [other] = other .. "/usr/bin/roper" } do
      local kept = tree(folder)
      local status, errors = make("install", "DESTDIR=" .. folder, "PREFIX=/usr")
      assert.equal(2, status)
      assert.truthy(errors:find(("make install did not install these files, or they were changed "
        .. "since:\n  %s\nNothing was installed. Move them away, or replace them with FORCE=1.\n")
        :format(path), 1, true), errors)
      assert.same(kept, tree(folder))
      assert.truthy(scratch.read(path):find("mine", 1, true))
    end
    assert.equal(0, (make("install", "DESTDIR=" .. root, "PREFIX=/usr", "FORCE=1")))
    assert.equal(original, scratch.read(changed))
    assert(os.execute(("rm -r '%s'"):format(other)))
    assert.same(installed, tree(root))
  end)

  it("takes folders below PREFIX only, and no line break", function()
    for variable, message in pairs {
      ["PREFIX=/usr\nx"] = "PREFIX: expected a path without a line break",
      ["LUADIR=/etc\nx"] = "LUADIR: expected a path without a line break",
      ["PREFIX=usr"] = "PREFIX: expected an absolute path, got 'usr'",
      ["BINDIR=/bin"] = "BINDIR: expected a folder below PREFIX, /usr/local, got '/bin'",
      ["LIBDIR=/usr/local/lib/../../lib"] = "LIBDIR: expected a folder below PREFIX, /usr/local, ",
    } do
      local status, errors = make("install", "DESTDIR=" .. scratch.path("none"), variable)
      assert.equal(2, status)
      assert.truthy(errors:find(message, 1, true), errors)
    end
    assert.same({ "." }, tree(scratch.path("none")))
  end)

  it("quotes its folders for the shell", function()
    local folder = scratch.path("it's $HOME `x`")
    assert.equal(0, (make("install-program", "DESTDIR=" .. folder:gsub("%$", "$$"), "PREFIX=/usr")))
    assert.truthy(files.stat(folder .. "/usr/bin/roper"))
  end)

  it("is undone by make uninstall, which keeps changed files", function()
    local changed = root .. "/usr/share/lua/5.4/roper/init.lua"
    files.write(changed, "mine\n")
    local status, errors = make("uninstall", "DESTDIR=" .. root, "PREFIX=/usr")
    assert.equal(0, status)
    assert.truthy(errors:find("These files were changed after make install, and are kept:\n  "
      .. changed .. "\n", 1, true), errors)
    assert.equal("mine\n", scratch.read(changed))
    assert(os.execute(("rm -r '%s/usr/share/lua/5.4/roper'"):format(root)))
    assert.same(before, tree(root))
    assert.equal(0, (make("install", "DESTDIR=" .. root, "PREFIX=/usr")))
    assert.equal(0, (make("uninstall", "DESTDIR=" .. root, "PREFIX=/usr")))
    assert.same(before, tree(root))
    status, errors = make("uninstall", "DESTDIR=" .. root, "PREFIX=/usr")
    assert.equal(2, status)
    assert.truthy(errors:find("expected an installation by make install, found no ", 1, true))
  end)

  it("is not undone by a record that names other files", function()
    files.make(root .. "/etc")
    files.make(root .. "/usr/share/roper")
    local victim = scratch.write("root/etc/passwd", "kept")
    local hash = io.popen("sha256sum " .. victim):read("a"):match("%x+")
    for _, path in ipairs { "/etc/passwd", "/usr/../etc/passwd" } do
      scratch.write("root/usr/share/roper/installed", ("%s  %s\n"):format(hash, path))
      local status, errors = make("uninstall", "DESTDIR=" .. root, "PREFIX=/usr")
      assert.equal(2, status)
      assert.truthy(errors:find(("with files below /usr, got '%s  %s'; nothing was changed"):format(
        hash, path), 1, true), errors)
    end
    assert.equal("kept", scratch.read(victim))
  end)
end)

describe("the version", function()
  it("is the same in all packages", function()
    local name = ("scripts/packaging/roper-%s-1.rockspec"):format(version)
    local rockspec = {}
    assert(loadfile(name, "t", rockspec))()
    assert.equal(version .. "-1", rockspec.version)
    assert.equal(("roper-%s.tar.gz"):format(version), rockspec.source.url)
    assert.equal(("roper (%s-1) "):format(version),
      scratch.read("scripts/packaging/debian/changelog"):match("^roper %S+ "))
    assert.truthy(scratch.read("CHANGELOG.md"):find("\n## " .. version, 1, true))
  end)
end)
