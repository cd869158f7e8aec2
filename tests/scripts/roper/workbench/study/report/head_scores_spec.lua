local head_scores = require("roper.workbench.study.report.head_scores")
local models = require("tests.models")
local roper = require("roper")

describe("head_scores.of", function()
  it("measures each head on fresh problems, without changing the task", function()
    local task, model = models.task(), models.small({ position = "roper" })
    local seed, counter = task:random()
    local scores = head_scores.of(model, task)
    assert.same({ seed, counter }, { task:random() })
    for _, name in ipairs({ "by_distance", "previous_token", "induction", "ablation" }) do
      assert.same({ 2, 2 }, { #scores[name], #scores[name][1] }, name)
    end
    assert.equal(30, #scores.by_distance[1][1])
    for layer = 1, 2 do
      for head = 1, 2 do
        assert.equal(scores.previous_token[layer][head], scores.by_distance[layer][head][2])
      end
    end
    assert.same(roper.interpret.induction(model):totable(), scores.induction)
    assert.same(scores, head_scores.of(model, task))
  end)

  it("uses the positions of the task, and shows at most 64 distances", function()
    local task = roper.tasks.addition({ max_digits = 2, length = 80, coupled = true, seed = 3 })
    local model = models.small({ vocabulary = task:vocabulary() })
    local scores = head_scores.of(model, task)
    assert.equal(64, #scores.by_distance[2][1])
    local plain = roper.tasks.addition({ max_digits = 2, length = 80, seed = 3 })
    assert.not_same(head_scores.of(model, plain).by_distance, scores.by_distance)
  end)

  it("shows distances from 0, also for a model that has diverged", function()
    local model = models.small()
    model.layers[1].attention.query.weight:detach():fill(0 / 0)
    local scores = head_scores.of(model, models.task())
    assert.equal(30, #scores.by_distance[1][1])
  end)
end)
