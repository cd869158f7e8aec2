local eta = require("roper.workbench.study.sweep.eta")

-- A worker at a step of a trial of 1000 steps that it resumed from step `first`.
local function worker(pid, step, first, more)
  local one = { pid = pid, step = step, first = first, loss = 1.5, speed = 10,
    trial = { label = "rope-" .. pid, config = { steps = 1000 } } }
  for name, value in pairs(more or {}) do
    one[name] = value
  end
  return one
end

-- A sweep of ten trials.
local function sweep(workers, more)
  local one = { trials = {}, finished = 0, worked = 0, failed = {}, elsewhere = 0, workers = {} }
  for i = 1, 10 do
    one.trials[i] = {}
  end
  for _, each in ipairs(workers) do
    one.workers[each] = true
  end
  for name, value in pairs(more or {}) do
    one[name] = value
  end
  return one
end

-- The line of the whole sweep after 100 seconds, without its bar.
local function whole(workers, more)
  local lines = eta.lines(sweep(workers, more), 100)
  return (lines[#lines]:gsub("[█░]+ ", ""))
end

describe("eta.rate", function()
  it("is the number of trials that would be done in an hour", function()
    assert.equal("1440 trials an hour", eta.rate(4, 10))
    assert.equal("2.5 trials an hour", eta.rate(0.5, 720))
  end)
end)

describe("eta.lines", function()
  it("has a line for each worker and one for the sweep", function()
    assert.same({
      "  rope-1                 ████░░░░ 500/1000  loss 1.500  50s left",
      "  rope-2                 ████████ 1000/1000  measuring",
      "  rope-3                 ░░░░░░░░ 0/1000",
      "  (starting)",
      "sweep ████░░░░░░░░ 2 of 10 finished, 4m10s left",
    }, eta.lines(sweep({ worker(2, 1000, 0), worker(1, 500, 0), worker(3, 0, 0, {
      loss = false }), { pid = 4 } }, { finished = 2, worked = 1.2 }), 104))
    local many = {}
    for pid = 1, 15 do
      many[pid] = worker(pid, 1, 0)
    end
    local lines = eta.lines(sweep(many), 100)
    assert.equal(14, #lines)
    assert.equal("  and 3 more", lines[13])
  end)

  it("estimates the time left from the work since the start", function()
    -- A tenth of a trial takes a hundred seconds; earlier work does not count.
    assert.equal("sweep 0 of 10 finished, 2h45m left", whole({ worker(1, 100, 0) }))
    assert.equal("sweep 0 of 10 finished, 2h30m left", whole({ worker(1, 1000, 900) }))
    assert.equal("sweep 5 of 10 finished, 1h18m left", whole({ worker(1, 300, 200) },
      { finished = 5 }))
    assert.equal("sweep 6 of 10 finished, 1h06m left", whole({}, { finished = 6, worked = 0.1 }))
    assert.equal("sweep 5 of 10 finished", whole({ worker(1, 200, 200) }, { finished = 5 }))
  end)

  it("does not wait for failed trials, and counts those running elsewhere", function()
    assert.equal("sweep 4 of 10 finished, 2 failed, 1 running elsewhere, 1m40s left",
      whole({}, { finished = 4, worked = 4, failed = { a = true, b = true }, elsewhere = 1 }))
    assert.equal("sweep 4 of 10 finished, stopping",
      whole({ worker(1, 500, 0) }, { finished = 4, worked = 4, stopping = true }))
  end)
end)
