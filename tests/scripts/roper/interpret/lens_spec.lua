local arrays = require("tests.arrays")
local models = require("tests.models")
local roper = require("roper")

local interpret = roper.interpret
local tokens = models.task():batch(2)

describe("interpret.logit_lens", function()
  it("applies the last norm and the logits to each layer, for every scheme", function()
    for _, position in ipairs(roper.position.list()) do
      local model = models.small({ position = position, length = 30 })
      local lens = interpret.logit_lens(model, tokens)
      local x = model:embed(model.embedding(tokens))
      assert.same({ 3, 2, 30, model.logits.weight:size(1) }, lens:shape())
      for i = 0, 2 do
        arrays.close(model.logits(model.norm(x)), lens[i + 1], 0)
        x = i < 2 and model.layers[i + 1](x) or x
      end
      arrays.close(model(tokens), lens[3], 0)
    end
  end)

  it("works without a last norm, with dropout, and with positions", function()
    local task, model = models.coupled({ norm = "post", dropout = 0.5, tied_embeddings = true })
    local batch = task:batch(2)
    local positions = task:positions(batch)
    local lens = interpret.logit_lens(model, batch, { positions = positions })
    model:training(false)
    arrays.close(model.logits(model.embedding(batch)), lens[1], 0)
    arrays.close(model(batch, nil, positions), lens[3], 0)
  end)

  it("rejects models without layers", function()
    assert.error_matches(function() interpret.logit_lens(models.small().logits, tokens) end,
      "logit_lens: expected a model with the fields layers and logits, such as a Transformer")
  end)
end)
