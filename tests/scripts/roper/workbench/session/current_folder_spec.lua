-- A folder full of files with the names of modules, programs and settings. Each appends its name to
-- a file if it is run.
local files = require("roper.system.file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local sessions = require("tests.sessions")
local uv = require("luv")

local PROGRAM <const> = uv.fs_realpath("roper")

describe("files in the current folder", function()
  local traps

  -- Runs a shell command in the folder, and returns its output.
  local function run(command, environment, input)
    local status, output, errors = process.run({ "sh", "-c",
      ("cd '%s' && %s"):format(traps, command) }, input, environment)
    assert.equal(0, status, command .. "\n" .. output .. errors)
    return output
  end

  -- The names of the files that were run.
  local function taken()
    return files.read(scratch.path("taken")) or ""
  end

  setup(function()
    scratch.create()
    traps = scratch.path("traps")
    local lua = ("io.open(%q, 'a'):write(%%q, '\\n'):close() return {}"):format(
      scratch.path("taken"))
    local function trap(name, text)
      files.make((traps .. "/" .. name):match("^(.*)/"))
      scratch.write("traps/" .. name, text)
    end
    for _, name in ipairs({ "luv", "argparse", "readline", "roper", "init", "roper/init",
      "roper/core", "roper/native", "roper/session/cli/init", ".roper", ".roper/init",
      ".config/roper/init", "config/roper/init", "lessons/rotation", "rotation",
      "experiments/copy", "copy", "scripts/roper/init", "scripts/roper/workbench/session/cli",
      "scripts/lessons/rotation", "share/lua/5.4/luv" }) do
      trap(name .. ".lua", lua:format(name))
    end
    local source = scratch.write("trap.c", ([[
      #include <stdio.h>
      __attribute__((constructor)) static void run(void)
      {
        fputs("module in C\n", fopen("%s", "a"));
      }]]):format(scratch.path("taken")))
    assert(os.execute(("cc -shared -fPIC -o '%s.so' '%s'"):format(source, source)))
    local module = scratch.read(source .. ".so")
    for _, name in ipairs({ "luv", "readline", "native", "roper", "roper/native",
      "build/roper/native", "lib/lua/5.4/luv", "lib/lua/5.4/roper/native" }) do
      trap(name .. ".so", module)
    end
    for _, name in ipairs({ "git", "less", "lua5.4", "spm_encode", "rsvg-convert" }) do
      trap(name, ("#!/bin/sh\necho %s >>'%s'\n"):format(name, scratch.path("taken")))
      assert(uv.fs_chmod(traps .. "/" .. name, 493))
    end
  end)
  teardown(scratch.remove)
  before_each(function() os.remove(scratch.path("taken")) end)

  it("are run if they are named", function()
    run(PROGRAM .. [[ -e 'dofile "luv.lua" package.loadlib("./luv.so", "*")']])
    assert.equal("luv\nmodule in C\n", taken())
  end)

  -- A new user, and one whose settings are relative paths.
  local usual, relative

  setup(function()
    usual = sessions.newcomer()
    relative = sessions.newcomer({ HOME = ".", XDG_CONFIG_HOME = "config", XDG_STATE_HOME = "state",
      LUA_PATH = "./?.lua;?.lua;./?/init.lua;;", LUA_PATH_5_4 = "?.lua;./?/init.lua;;",
      LUA_CPATH = "./?.so;;", LUA_CPATH_5_4 = "?.so;build/?.so;;" })
  end)

  it("are not run by commands and their workers", function()
    for _, arguments in ipairs({ "--help", "train copy preset=smoke letters=3 steps=1",
      "sweep copy preset=smoke letters=3 steps=1 seed=1 --folder sweep --jobs 1",
      "sweep sweep --worker", "report sweep", "runs .", "lesson rotation",
      "lesson rotation --html page" }) do
      run(PROGRAM .. " " .. arguments, relative)
      assert.equal("", taken(), arguments)
    end
  end)

  it("are not run by sessions, lines of code, scripts from a pipe and notebooks", function()
    for _, environment in ipairs({ usual, relative }) do
      local screen = sessions.start(environment, ("cd '%s' && %s"):format(traps, PROGRAM))
      sessions.enter(screen, "6 * 7", "42\n")
      sessions.leave(screen)
      assert.equal("42\n", run(PROGRAM .. " -e '6 * 7'", environment))
      assert.equal("42\n", run(PROGRAM, environment, "print(6 * 7)"))
      run(PROGRAM .. " --kernel 3 token 3<<'END'\n{\"execute\": \"6 * 7\"}\nEND", environment)
      assert.equal("", taken())
    end
  end)

  it("are not run by a stock interpreter that finds the library first", function()
    local root = PROGRAM:match("^(.*)/")
    assert.equal("1.0\n", run("lua5.4 -e 'print(require \"roper\".ones{1}:item())'", {
      LUA_PATH_5_4 = ("%s/scripts/?.lua;%s/scripts/?/init.lua;;"):format(root, root),
      LUA_CPATH_5_4 = root .. "/build/?.so;;" }))
    assert.equal("", taken())
  end)
end)
