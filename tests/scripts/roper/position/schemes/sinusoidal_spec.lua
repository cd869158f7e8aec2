local models = require("tests.models")
local roper = require("roper")

describe("position.sinusoidal", function()
  before_each(function() roper.seed(1) end)

  it("follows the formula, for any positions of each row", function()
    local rows = { { 0, 1, -3 }, { 0.5, 640, 131072 } }
    local x = roper.randn({ 2, 3, 6 }, "float64")
    local y = roper.position.sinusoidal({ d_model = 6, base = 100 })
      :embed(x, roper.tensor(rows, "float64"))
    for b, row in ipairs(rows) do
      for i, position in ipairs(row) do
        for t = 0, 2 do
          local angle = position / 100 ^ (2 * t / 6)
          local added = y[b][i] - x[b][i]
          assert.near(math.sin(angle), added[2 * t + 1]:item(), 1e-9)
          assert.near(math.cos(angle), added[2 * t + 2]:item(), 1e-9)
        end
      end
    end
  end)

  it("reads positions of any dtype in a model", function()
    local model = models.small({ position = "sinusoidal" })
    local tokens = roper.tensor({ { 3, 1, 2 } }, "int32")
    local expected = model(tokens, nil, roper.tensor({ { 4, 0, 7 } }, "float64"))
    for _, dtype in ipairs({ "int32", "float32" }) do
      local found = model(tokens, nil, roper.tensor({ { 4, 0, 7 } }, dtype))
      assert.equal(0, models.difference(expected, found))
    end
    assert.is_true(models.difference(expected, model(tokens)) > 1e-3)
  end)

  it("rejects an odd width, a base, and coordinates", function()
    local function refused(message, f)
      assert.error_matches(f, message, nil, true)
    end
    refused("sinusoidal: option d_model: expected an even number, got 5",
      function() roper.position.sinusoidal({ d_model = 5 }) end)
    refused("sinusoidal: option base: expected a finite positive number, got -1",
      function() roper.position.sinusoidal({ d_model = 4, base = -1 }) end)
    refused("position: sinusoidal: expected one number per position", function()
      roper.position.sinusoidal({ d_model = 4 })
        :embed(roper.zeros({ 1, 2, 4 }), roper.zeros({ 1, 2, 3 }, "float64"))
    end)
  end)
end)
