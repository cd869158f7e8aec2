-- Verdicts on position schemes of users: in the cache, in the folders of runs, in reports.

local battery = require("roper.workbench.study.run.battery")
local files = require("roper.system.file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local stored = require("roper.workbench.study.run.runs")
local sweeps = require("tests.sweeps")
local uv = require("luv")

local SCHEMES <const> = [[
local roper = require "roper"
roper.position.register("tidy", {relative = true, takes = {slope = {"number", 0.5}},
  bias = function(self, q, k, positions)
    return positions:distances():abs():to(q:dtype()) * -self.slope
  end})
roper.position.register("skewed", {relative = true, bias = function(self, q, k, positions)
  return positions.key:to(q:dtype()):square():view{-1, 1, 1, positions.keys} * 1e-3
end})
]]

describe("the battery before a run", function()
  before_each(function()
    scratch.create()
    scratch.write("own.lua", SCHEMES)
  end)
  after_each(scratch.remove)

  -- Runs a command with small runs; returns its output, and that on the error stream.
  local function run(command, ...)
    local words = { "sh", "-c", 'cd "$0" && exec "$@"', scratch.path("."), uv.fs_realpath("roper"),
      command, "substring_index", ... }
    for name, value in pairs(sweeps.fields()) do
      words[#words + 1] = ("%s=%s"):format(name, value)
    end
    words[#words + 1], words[#words + 2] = "--load", "own.lua"
    local status, output, errors = process.run(words, nil,
      { XDG_CACHE_HOME = scratch.path("cache") })
    assert.equal(0, status, errors)
    return output, errors
  end

  local function verdicts(folder)
    return stored.read(scratch.path("runs/" .. folder)).battery
  end

  it("checks a scheme once for each content of its file, and records the verdict", function()
    local _, errors = run("train", "position=tidy{slope=2}+rope:none")
    assert.matches("tidy{slope=2} passes the battery of checks\n", errors)
    assert.equal(1, #files.names(scratch.path("cache/roper")))
    _, errors = run("train", "position=tidy{slope=2}+rope:none")
    assert.not_matches("battery", errors)
    for _, folder in ipairs(files.names(scratch.path("runs"))) do
      assert.same({ { scheme = "tidy{slope=2}", ok = true, failed = {} } },
        (function(list)
          list[1].failed = table.move(list[1].failed, 1, #list[1].failed, 1, {})
          return list
        end)(verdicts(folder)))
    end
    scratch.write("own.lua", SCHEMES .. "-- changed\n")
    _, errors = run("train", "position=tidy{slope=2}+rope:none", "seed=2")
    assert.matches("passes the battery", errors)
    assert.equal(2, #files.names(scratch.path("cache/roper")))
  end)

  it("says each time which checks fail, and trains nevertheless", function()
    for _ = 1, 2 do
      local output, errors = run("train", "position=skewed")
      assert.matches('^skewed fails the battery of checks: moved by 1, .*; to see more: '
        .. 'roper.position.check "skewed"\n', errors)
      assert.matches("solved", output)
    end
    assert.is_false(verdicts("substring_index-skewed-1")[1].ok)
  end)

  it("is skipped for built-in schemes, and with --no-battery", function()
    run("train", "position=roper")
    run("train", "position=skewed", "--no-battery")
    assert.is_nil(files.stat(scratch.path("cache/roper")))
    assert.same({}, verdicts("substring_index-roper-1"))
    assert.same({}, verdicts("substring_index-skewed-1"))
  end)

  it("is a column of the methods of a sweep", function()
    local output, errors = run("sweep", "position=rope,tidy,skewed", "steps=2", "--folder", "s",
      "--jobs", "1")
    assert.matches("tidy passes the battery", errors)
    assert.matches("skewed fails the battery", errors)
    assert.matches("\n  method +.* battery\n", output)
    assert.matches("\n  rope +[^\n]* –\n", output)
    assert.matches("\n  tidy +[^\n]* passes\n", output)
    assert.matches("\n  skewed +[^\n]* fails moved by 1, 3 more\n", output)
  end)
end)

describe("a verdict", function()
  it("is summarized by its first failure", function()
    assert.is_nil(battery.summary({}))
    assert.equal("passes", battery.summary({ { failed = {} }, { failed = {} } }))
    assert.equal("fails a", battery.summary({ { failed = {} }, { failed = { "a" } } }))
    assert.equal("fails a, 2 more", battery.summary({ { failed = { "a", "b" } },
      { failed = { "c" } } }))
  end)
end)
