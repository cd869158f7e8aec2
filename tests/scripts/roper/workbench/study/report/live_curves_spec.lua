local clock = require("roper.system.clock")
local live_curves = require("roper.workbench.study.report.live_curves")
local measures = require("roper.workbench.study.run.measures")
local process = require("tests.process")
local scratch = require("tests.scratch")
local sweep = require("roper.workbench.study.sweep")

-- A trial like those of `sweep.read`, with the loss at some steps.
local function trial(method, seed, status, losses)
  local metrics = {}
  for i, loss in ipairs(losses) do
    metrics[i] = { step = 50 * i, test_loss = loss }
  end
  return { method = method, seed = seed, config = { steps = 600 },
           run = { status = status, metrics = metrics } }
end

local function lines(trials, columns, rows)
  local found = { methods = { "rope", "roper" }, trials = trials }
  return live_curves.lines(found, measures.main({ "substring_prefix" }), columns, rows)
end

describe("live_curves.lines", function()
  it("draws the newest running trial of each method", function()
    local trials = {}
    for seed, status in ipairs({ "finished", "running" }) do
      trials[#trials + 1] = trial("rope", seed, status, { 2, 1.5 })
      trials[#trials + 1] = trial("roper", seed, status, { 2, 1 })
    end
    local text = table.concat(lines(trials, 60, 40), "\n")
    for _, part in ipairs({ "Loss on test sequences", "rope, seed 2", "roper, seed 2", "600" }) do
      assert.truthy(text:find(part, 1, true), part)
    end
    assert.is_nil(text:find("seed 1", 1, true))
  end)

  it("stays within the terminal, and draws nothing if it is too small", function()
    local trials = { trial("rope", 1, "running", { 2, 1, 0.5 }) }
    for rows = 16, 60, 4 do
      local found = lines(trials, 50, rows)
      assert.is_true(#found > 0 and #found <= rows - 4, rows .. ": " .. #found)
      for _, line in ipairs(found) do
        assert.is_true(utf8.len(line) <= 50, line)
      end
    end
    assert.same({}, lines(trials, 50, 14))
  end)

  it("draws nothing before the first measurement", function()
    assert.same({}, lines({ trial("rope", 1, "running", {}) }, 60, 40))
    assert.same({}, lines({ trial("rope", 1, "finished", { 1 }) }, 60, 40))
  end)
end)

describe("live_curves.following", function()
  local read, time = sweep.read, clock.time
  after_each(function() sweep.read, clock.time = read, time end)

  it("reads the trials at most once a second", function()
    local now, losses, reads = 1000, {}, {}
    clock.time = function() return now end
    sweep.read = function(folder)
      reads[#reads + 1] = folder
      return { methods = { "rope" }, trials = { trial("rope", 1, "running", losses) } }
    end
    local draw = live_curves.following("a folder", measures.main({ "substring_prefix" }), io.stdout)
    assert.same({}, draw())
    losses[1] = 2
    now = now + 0.5
    assert.same({}, draw())
    now = now + 0.5
    assert.truthy(table.concat(draw(), "\n"):find("Loss on test sequences", 1, true))
    assert.same({ "a folder", "a folder" }, reads)
  end)
end)

describe("sweep.run", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  it("draws a chart above its progress on a terminal, and none elsewhere", function()
    local script = scratch.write("sweep.lua", ([[
      roper.sweep.run { what = "substring_index", folder = %q, jobs = 1,
        fields = { preset = "smoke", position = "rope", steps = 2 },
        chart = function() return { "a chart" } end }
    ]]):format(scratch.path("sweep")))
    local screen = process.open("./roper " .. script, { TERM = "xterm" })
    assert.equal(0, screen:leave())
    assert.truthy(screen.process.output:find("a chart\27%[K\r\nsweep ")
      or screen.process.output:find("a chart\27%[K\r\n  "))
    local status, output, errors = process.run({ "./roper", script })
    assert.equal(0, status)
    assert.is_nil((output .. errors):find("a chart", 1, true))
  end)
end)
