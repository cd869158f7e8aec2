local benchmark = require("roper.workbench.session.repl.benchmark")
local clock = require("roper.system.clock")

describe("benchmark.measure", function()
  -- Measures a function that advances a fake clock by these durations.
  local function measure(durations)
    local seconds, now, calls = clock.seconds, 0, 0
    finally(function() clock.seconds = seconds end)
    clock.seconds = function() return now end
    return benchmark.measure(function()
      calls = calls + 1
      now = now + durations[(calls - 1) % #durations + 1]
    end), calls
  end

  it("uses one long run per sample", function()
    local found, calls = measure({ 0.5 })
    assert.same({ median = 0.5, low = 0.5, high = 0.5, samples = 5, runs = 1 }, found)
    assert.equal(1 + 5, calls)
  end)

  it("uses several short runs per sample", function()
    local found, calls = measure({ 1e-6 })
    assert.is_true(math.abs(found.median / 1e-6 - 1) < 1e-6)
    assert.is_true(found.runs * 1e-6 >= 0.02 and found.runs * 1e-6 < 0.2)
    assert.is_true(calls * 1e-6 > 0.5 and calls * 1e-6 < 3)
  end)

  it("returns the median and the quartiles", function()
    local found = measure({ 9, 1, 2, 3, 4, 5 }) -- the first does not count
    assert.same({ 3, 2, 4, 5 }, { found.median, found.low, found.high, found.samples })
  end)
end)
