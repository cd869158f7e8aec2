local head_scores = require("roper.workbench.study.report.head_scores")
local models = require("tests.models")
local roper = require("roper")

describe("head_scores.of", function()
  it("measures each head on fresh problems, without changing the task", function()
    local task, model = models.task(), models.small({ position = "roper" })
    local seed, counter = task:random()
    local scores = head_scores.of(model, task)
    assert.same({ seed, counter }, { task:random() })
    for _, name in ipairs({ "by_distance", "previous_token", "copying", "induction",
      "ablation" }) do
      assert.same({ 2, 2 }, { #scores[name], #scores[name][1] }, name)
    end
    assert.equal(30, #scores.by_distance[1][1])
    assert.same(roper.interpret.induction(model):totable(), scores.induction)
    local tokens = roper.evaluate.fresh(task, 2000004):batch(16)
    assert.same(roper.interpret.previous_token(model, tokens):totable(), scores.previous_token)
    local _, sources = task:explain(tokens)
    assert.same(roper.interpret.copying(model, tokens, sources):totable(), scores.copying)
    assert.same(scores, head_scores.of(model, task))
  end)

  it("leaves out copying if no token of an answer repeats an earlier one", function()
    local task = roper.tasks.state_tracking({ length = 30, seed = 1 })
    local _, sources = task:explain(task:batch(4))
    assert.is_false(sources:ge(0):any())
    local scores = head_scores.of(models.small({ vocabulary = task:vocabulary() }), task)
    assert.is_nil(scores.copying)
    assert.same({}, scores.problems)
  end)

  it("uses the positions of the task, and shows at most 64 distances", function()
    local task = roper.tasks.addition({ max_digits = 2, length = 80, coupled = true, seed = 3 })
    local model = models.small({ vocabulary = task:vocabulary() })
    local scores = head_scores.of(model, task)
    assert.equal(64, #scores.by_distance[2][1])
    local plain = roper.tasks.addition({ max_digits = 2, length = 80, seed = 3 })
    assert.not_same(head_scores.of(model, plain).by_distance, scores.by_distance)
  end)

  it("leaves out the loss without each head for large models", function()
    local model = models.small({ d_model = 32 })
    function model.count() return 1e9 end
    local scores = head_scores.of(model, models.task())
    assert.is_nil(scores.ablation)
    assert.equal(30, #scores.by_distance[1][1])
  end)

  it("names scores that it cannot measure, such as those of layers with tied weights", function()
    local model = models.small()
    model.layers[2] = model.layers[1]
    local scores = head_scores.of(model, models.task())
    assert.same({ 2, 2 }, { #scores.by_distance, #scores.induction })
    assert.is_nil(scores.ablation)
    assert.same({ "no increase in loss: layers share their weights (1 module in 2 layers), so no "
      .. "head can be left out alone" }, scores.problems)
    model = models.small({ layers = 1 })
    model.options = { length = 2 }
    scores = head_scores.of(model, models.task())
    assert.is_nil(scores.induction)
    assert.equal(1, #scores.ablation)
    assert.same({ "no induction score: induction: length: expected from 2 to 45, the number of "
      .. "token ids, got 1" }, scores.problems)
  end)

  it("shows distances from 0, also for a model that has diverged", function()
    local model = models.small()
    model.layers[1].attention.query.weight:detach():fill(0 / 0)
    local scores = head_scores.of(model, models.task())
    assert.equal(30, #scores.by_distance[1][1])
  end)
end)
