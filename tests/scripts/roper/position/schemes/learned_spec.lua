local models = require("tests.models")
local roper = require("roper")

describe("position.learned", function()
  before_each(function() roper.seed(1) end)

  it("trains the rows that were read, once per use", function()
    local learned = roper.position.learned({ d_model = 2, length = 4 })
    local x = roper.zeros({ 2, 2, 2 })
    learned:embed(x, roper.tensor({ { 0, 3 }, { 3, 1 } }, "float64")):sum():backward()
    assert.same({ { 1, 1 }, { 1, 1 }, { 0, 0 }, { 2, 2 } }, learned.table.grad:totable())
  end)

  it("rejects positions outside its table", function()
    local learned = roper.position.learned({ d_model = 2, length = 4 })
    for position, shown in pairs({ [4] = "4", [-1] = "-1", [1.5] = "1.5", [1e15] = "1e+15",
      [math.huge] = "inf" }) do
      assert.error_matches(function()
        learned:embed(roper.zeros({ 1, 2, 2 }), roper.tensor({ { 0, position } }, "float64"))
      end, "position: learned: expected whole positions from 0 to 3, got " .. shown, nil, true)
    end
    assert.error_matches(function()
      learned:embed(roper.zeros({ 1, 2, 2 }), roper.zeros({ 1, 2, 3 }, "float64"))
    end, "learned: expected one number per position")
  end)

  it("handles prompts of different lengths, up to the end of its table", function()
    local model = models.small({ position = "learned", length = 6 }):training(false)
    local tokens = models.task():batch(2):narrow(2, 1, 6)
    local cache = model:cache({ batch = 2, length = 8, lengths = { 5, 3 } })
    local padded = tokens:narrow(2, 1, 5):clone()
    padded[{ 2, { 3, 5 } }] = tokens[{ 2, { 1, 3 } }]
    local logits = model(padded, cache)
    for row, length in ipairs({ 5, 3 }) do
      local alone = model(tokens[{ { row, row }, { 1, length } }])
      assert.is_true(models.difference(alone:narrow(2, length, 1),
        logits:narrow(1, row, 1):narrow(2, 5, 1)) < 1e-5)
    end
    model(tokens:narrow(2, 1, 1), cache)
    assert.error_matches(function() model(tokens:narrow(2, 1, 1), cache) end,
      "expected whole positions from 0 to 5, got 6")
  end)
end)
