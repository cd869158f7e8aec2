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
        or path:find("along_the_way/", 1, true), path)
    end
  end)

  it("can be repeated, and removes files that a version no longer has", function()
    local installed = tree(root)
    scratch.write("root/usr/share/roper/old.lua", "")
    local path = root .. "/usr/share/roper/installed"
    files.write(path, scratch.read(path) .. "/usr/share/roper/old.lua\n")
    assert.equal(0, (make("install", "DESTDIR=" .. root, "PREFIX=/usr")))
    assert.same(installed, tree(root))
  end)

  it("is undone by make uninstall", function()
    assert.equal(0, (make("uninstall", "DESTDIR=" .. root, "PREFIX=/usr")))
    assert.same(before, tree(root))
    local status, errors = make("uninstall", "DESTDIR=" .. root, "PREFIX=/usr")
    assert.equal(2, status)
    assert.truthy(errors:find("expected an installation by make install, found no ", 1, true))
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
