-- Models that write into the tensors that they are given.
local evaluation = require("roper.training.evaluation")
local interpret = require("roper.interpret")
local modules = require("roper.model.module")
local roper = require("roper")
local train = require("roper.training")

local task = roper.tasks.copy({ letters = 5, length = 30, seed = 1 })

-- A model that replaces its tokens by 0, and predicts 0.
local function writer(loss)
  local model = roper.nn.class("Writer")()
  function model.forward(_, tokens, _, positions)
    tokens:fill(0)
    if positions then
      positions:fill(0)
    end
    return tokens:unsqueeze(3):eq(roper.arange(0, #task:vocabulary(), 1, "int32"))
      :to("float32") * 100
  end
  if loss then
    function model:loss(tokens, targets, how, positions)
      return roper.cross_entropy(self(tokens, nil, positions), targets, how)
    end
  end
  return model
end

describe("a model that writes into its tokens", function()
  it("changes neither the tokens nor the positions of its caller", function()
    local tokens = task:batch(2)
    local positions = roper.arange(0, 30):expand(2, 30):clone()
    local before, places = tokens:clone(), positions:clone()
    modules.logits(writer(), tokens, nil, positions)
    for _, has_loss in ipairs({ false, true }) do
      train.loss(writer(has_loss), tokens, positions)
    end
    assert.is_true(tokens == before)
    assert.is_true(positions == places)
  end)

  it("does not change its targets in training and evaluation", function()
    for _, has_loss in ipairs({ false, true }) do
      assert.is_true(train.loss(writer(has_loss), task:batch(8)):item() > 50)
    end
    assert.is_true(evaluation.answers(writer(), task, { sequences = 8 }).accuracy < 0.5)
  end)

  it("does not change the tokens of functions of interpret", function()
    local model = roper.nn.Transformer({ vocabulary = task:vocabulary(), d_model = 8, heads = 2 })
    local forward = model.forward
    function model:forward(tokens, ...)
      local logits = forward(self, tokens, ...)
      tokens:fill(0)
      return logits
    end
    local tokens = task:batch(2)
    local before = tokens:clone()
    interpret.previous_token(model, tokens)
    interpret.logit_lens(model, tokens)
    interpret.ablation(model, tokens)
    assert.is_true(tokens == before)
  end)
end)
