local estimate = require("roper.experiment.estimate")
local experiment = require("roper.experiment")
local roper = require("roper")

describe("estimate.run", function()
  it("counts parameters and its own memory, and leaves the generator", function()
    local others = roper.zeros({ 8 << 20 })
    roper.seed(3)
    local before = { roper.random_state() }
    local config = experiment.configure("addition", { preset = "smoke", batch = 16 })
    local cost = estimate.run(config)
    assert.same(before, { roper.random_state() })
    assert.equal(experiment.build(config).model:count(), cost.parameters)
    assert.is_true(cost.bytes > 16 * cost.parameters and cost.bytes < 4 * others:count())
    assert.is_true(cost.seconds > 0 and cost.evaluation > 0)
    assert.near(cost.seconds * 20 + cost.evaluation * 2, cost.total, 1e-9)
    -- Activations grow with the batch, parameters do not.
    config.batch = 64
    assert.is_true(estimate.run(config).bytes > 2 * cost.bytes)
  end)
end)
