local core = require("roper.core")
local process = require("tests.process")
local subprocess = require("roper.system.process")
local scratch = require("tests.scratch")

local sh = { package = "dash" }

describe("subprocess.run", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("runs a program in a folder", function()
    subprocess.run("sh", { "-c", "echo hello > here.txt" },
      { package = "dash", folder = scratch.path("") })
    assert.equal("hello\n", scratch.read(scratch.path("here.txt")))
  end)

  it("names the package of a missing one", function()
    assert.error_matches(function()
      subprocess.run("no-such-program", {}, { package = "thing" })
    end,
      "^cannot find the program no%-such%-program; install it %(in Debian: apt%-get "
      .. "install thing%)$")
  end)

  it("leaves no broken handle behind if the program is missing", function()
    local code = "pcall(require('roper.system.process').run, 'no-such-program', {}, {}) "
      .. "print 'end'"
    assert.same({ 0, "end\n", "" }, { process.run({ "./roper", "-e", code }) })
  end)

  it("reports the output of a failing program, and the signal that ended it", function()
    assert.error_matches(function()
      subprocess.run("sh", { "-c", "echo oh no >&2; exit 3" }, sh)
    end,
      "^sh failed with status 3: oh no$")
    assert.error_matches(function() subprocess.run("sh", { "-c", "kill -9 $$" }, sh) end,
      "^sh was killed by signal 9: $")
  end)

  it("continues if a program ends before it has read its input", function()
    local code = [[
      local subprocess, uv = require "roper.system.process", require "luv"
      local running = {}
      subprocess.start(running, "true", { input = ("x"):rep(1 << 20) })
      uv.run()
      print(running.status)]]
    assert.same({ 0, "0\n", "" }, { process.run({ "./roper", "-e", code }) })
  end)

  it("gives a program an empty standard input", function()
    subprocess.run("sh", { "-c", "! read line" }, sh)
  end)

  it("ends the program at Ctrl-C", function()
    local path = scratch.path("pid")
    assert.equal(0, (process.run({ "mkfifo", path })))
    local screen = process.open(([[./roper -e '
      print(pcall(require("roper.system.process").run, "sh",
        { "-c", "echo $$ > %s; while kill -0 $PPID; do sleep 0.1; done" },
        { package = "dash" }))']])
      :format(path))
    local _, pid = process.run({ "cat", path }) -- waits for the program
    screen:type("\3")
    screen:expect("interrupted")
    screen:leave()
    pid = assert.truthy(pid:match("^%d+"))
    assert.is_nil(io.open("/proc/" .. pid .. "/stat"))
  end)
end)

describe("lock", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("excludes others until it is closed or its process ends", function()
    local path = scratch.path("lock")
    do
      local lock <close> = core.lock(path) -- luacheck: ignore 211
      assert.is_nil(core.lock(path))
    end
    local again <close> = core.lock(path) -- luacheck: ignore 211
    local code = ([[print(require("roper.core").lock(%q))]]):format(path)
    local _, output = process.run({ "./roper", "-e", code })
    assert.equal("nil\n", output)
  end)

  it("rejects a path that cannot be created", function()
    assert.error_matches(function() core.lock("/no/such/folder/lock") end,
      'lock: cannot lock "/no/such/folder/lock": No such file or directory')
  end)
end)

describe("process.lua", function()
  local preloaded = package.preload.luv
  after_each(function() package.preload.luv = preloaded end)

  it("is a command that runs Lua code by this interpreter", function()
    local status, output = process.run(subprocess.lua({ "-e", "print(1 + 1)" }))
    assert.same({ 0, "2\n" }, { status, output })
  end)

  it("asks roper's own program, which contains luv, for its interpreter", function()
    package.preload.luv = function() end
    assert.same({ "--lua", "-e", "x = 1" }, { table.unpack(subprocess.lua({ "-e", "x = 1" }), 2) })
    package.preload.luv = nil
    assert.same({ "-e", "x = 1" }, { table.unpack(subprocess.lua({ "-e", "x = 1" }), 2) })
  end)
end)
