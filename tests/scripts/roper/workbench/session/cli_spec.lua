local cli = require("roper.workbench.session.cli")
local process = require("tests.process")
local scratch = require("tests.scratch")
local uv = require("luv")

-- Other tests of the command line are transcripts: tests/transcripts/command.
describe("./roper", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("ends with 130 after Ctrl-C", function()
    local path = scratch.write("loop.lua", "print('ready') while true do end")
    local screen = process.open("./roper " .. path)
    screen:expect("ready\n")
    screen:type("\3")
    screen:expect("roper: interrupted\n")
    assert.equal(130, screen:leave())
  end)

  it("prints help within 80 columns", function()
    for _, name in ipairs({ "", table.unpack(cli.COMMANDS) }) do
      local status, output = process.run({ "sh", "-c", ("./roper %s --help"):format(name) })
      assert.equal(0, status)
      assert.matches("^Usage: roper", output)
      for line in output:gmatch("[^\n]+") do
        assert.is_true(#line <= 80, line)
      end
    end
  end)

  it("resumes training by the command that Ctrl-C prints", function()
    local here, folder = uv.cwd(), scratch.path("train")
    uv.fs_mkdir(folder, 493)
    local function interrupted(line)
      local screen = process.open(("cd '%s' && %s"):format(folder, line))
      screen:expect("/100000")
      screen:type("\3")
      screen:expect("runs/substring_index-rope-5 stopped at step ")
      local step = math.tointeger(tonumber(screen:expect(". To resume:\n")))
      local again = screen:expect("\nroper: interrupted\n")
      assert.equal(130, screen:leave())
      assert.equal(here .. "/roper train --resume runs/substring_index-rope-5", again)
      return step, again
    end
    local step, again = interrupted(here .. "/roper train substring_index preset=smoke seed=5 "
      .. "position=rope steps=100000 dropout=0.25 rate=0.00031")
    local later = interrupted(again)
    assert.is_true(step >= 0 and later >= step)
    local function run(line)
      local status, output, errors = process.run({ "sh", "-c", ("cd '%s' && %s"):format(folder,
        line) })
      assert.equal(0, status, errors)
      return output
    end
    local listed = run(here .. "/roper runs")
    assert.truthy(listed:find(("  stopped  %d/100000 "):format(later), 1, true), listed)
    assert.truthy(listed:find("\n\nResume with:\n" .. again, 1, true), listed)
    assert.matches("in runs/substring_index%-rope%-5\n$", run(("%s steps=%d"):format(again,
      later + 2)))
    assert.truthy(run(here .. "/roper runs"):find("finished", 1, true))
  end)

  it("has a library that a stock interpreter can load", function()
    local status, output = process.run({ "lua5.4", "-e",
      "roper = require 'roper' print(roper.ones { 2 })" }, nil,
      { LUA_PATH = "scripts/?.lua;scripts/?/init.lua;;", LUA_CPATH = "build/?.so;;" })
    assert.equal(0, status)
    assert.equal("float32 [2]\n1 1\n", output)
  end)

  it("is found by the workers of a stock interpreter with a relative path", function()
    local code = ([[roper = require 'roper'
      local sweep = roper.sweep.run { what = "copy", folder = %q, jobs = 1, stream = io.tmpfile(),
        fields = { preset = "smoke", letters = 3, steps = 1, position = "rope" } }
      print(sweep.trials[1].run.status)]]):format(scratch.path("sweep"))
    local status, output, errors = process.run({ "lua5.4", "-e", code }, nil,
      { LUA_PATH = "scripts/?.lua;scripts/?/init.lua;;", LUA_CPATH = "build/?.so;;",
        LUA_PATH_5_4 = false, LUA_CPATH_5_4 = false })
    assert.same({ 0, "finished\n", "" }, { status, output, errors })
  end)
end)
