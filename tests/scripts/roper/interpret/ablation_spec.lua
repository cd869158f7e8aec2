local arrays = require("tests.arrays")
local models = require("tests.models")
local roper = require("roper")

local interpret = roper.interpret
local tokens = models.task():batch(3)

-- Sets the weights of the map after attention to 0 for one head.
local function zero_output(model, layer, head)
  local weight = model.layers[layer].attention.output.weight:detach()
  weight:narrow(2, (head - 1) * 8 + 1, 8):fill(0)
end

local function loss_of(model, mask)
  local loss = roper.cross_entropy(model(tokens:narrow(2, 1, 29)), tokens:narrow(2, 2, 29),
    { reduction = "none" }):detach():to("float64")
  if not mask then
    return loss:mean():item()
  end
  mask = mask:narrow(2, 2, 29):to("float64")
  return ((loss * mask):sum() / mask:sum()):item()
end

describe("interpret.ablation_hooks", function()
  it("give the model whose output weights of these heads are 0, for every scheme", function()
    for _, position in ipairs(roper.position.list()) do
      local options = { position = position, length = 30 }
      local model, without = models.small(options), models.small(options)
      zero_output(without, 1, 2)
      zero_output(without, 2, 1)
      local hooks = interpret.ablation_hooks(model, { { 1, 2 }, { 2, 1 } })
      arrays.close(without(tokens), model:with_hooks(hooks, model, tokens), 1e-6)
      assert.is_true(models.difference(without(tokens), model(tokens)) > 1e-4)
    end
  end)

  it("leave the bias of the output if they ablate all heads", function()
    local model = models.small({ layers = 1 })
    local hooks = interpret.ablation_hooks(model, { { 1, 1 }, { 1, 2 } })
    local output = model:with_hooks(hooks, function()
      return model:trace(tokens)["layers.1.attention"]
    end)
    local bias = model.layers[1].attention.output.bias
    arrays.close(bias:expand({ 3, 30, 16 }), output, 0)
  end)

  it("replace a head by its mean over the batch at each token", function()
    local model = models.small()
    local hooks = interpret.ablation_hooks(model, { { 1, 1 } }, "mean")
    local seen
    model:with_hooks({ ["layers.1.attention.output"] = function(_, _, x) seen = x end }, model,
      tokens)
    local expected = seen:detach():clone()
    expected:narrow(3, 1, 8):copy(seen:narrow(3, 1, 8):mean(1, true):expand({ 3, 30, 8 }))
    expected = model.layers[1].attention.output(expected)
    model:with_hooks(hooks, function()
      arrays.close(expected, model:trace(tokens)["layers.1.attention"], 1e-6)
    end)
    local same = tokens[{ { 1, 1 } }]:expand({ 2, 30 }):contiguous()
    arrays.close(model(same), model:with_hooks(hooks, model, same), 1e-5)
  end)

  it("remove a head even if its output is not finite", function()
    local model = models.small()
    model.layers[1].attention.value.bias:detach():narrow(1, 1, 8):fill(math.huge)
    local hooks = interpret.ablation_hooks(model, { { 1, 1 } })
    assert.equal(0, model(tokens):isfinite():sum():item())
    local logits = model:with_hooks(hooks, model, tokens)
    assert.equal(logits:count(), logits:isfinite():sum():item())
  end)

  it("pass gradients, to all heads but the ablated ones", function()
    local model = models.small()
    local hooks = interpret.ablation_hooks(model, { { 1, 1 } })
    model:with_hooks(hooks, function()
      model:loss(tokens:narrow(2, 1, 29), tokens:narrow(2, 2, 29)):backward()
    end)
    local grad = model.layers[1].attention.value.weight.grad
    assert.equal(0, grad:narrow(1, 1, 8):abs():max():item())
    assert.is_true(grad:narrow(1, 9, 8):abs():max():item() > 0)
  end)

  it("reject heads that do not exist", function()
    local model = models.small()
    local function refused(message, ...)
      local given = table.pack(...)
      assert.error_matches(function() interpret.ablation_hooks(table.unpack(given)) end, message,
        1, true)
    end
    local expected = "ablation_hooks: heads: expected {layer, head} with layers of 2, 2 heads, got "
    refused(expected .. "{3, 1} as element 1", model, { { 3, 1 } })
    refused(expected .. "{1, 3} as element 2", model, { { 1, 1 }, { 1, 3 } })
    refused(expected .. "1 as element 1", model, { 1, 2 })
    refused("ablation_hooks: heads: expected a list of {layer, head}, got none", model, {})
    refused("ablation_hooks: expected a model with MultiHeadAttention, found none", model.logits,
      { { 1, 1 } })
    assert.error_matches(function()
      model:with_hooks(interpret.ablation_hooks(model, { { 1, 1 } }, "mean"), model,
        tokens[{ { 1, 1 } }])
    end, "ablation by mean: expected a batch of at least 2 rows, got 1")
  end)
end)

describe("interpret.ablation", function()
  it("is the increase in loss without each head", function()
    local model = models.small({ dropout = 0.5 })
    model:training(false)
    local before = loss_of(model)
    model:training(true)
    local increase = interpret.ablation(model, tokens)
    assert.is_true(model.is_training)
    for layer = 1, 2 do
      for head = 1, 2 do
        local without = models.small()
        zero_output(without, layer, head)
        assert.near(loss_of(without) - before, increase[{ layer, head }]:item(), 1e-6)
      end
    end
  end)

  it("counts the tokens of a mask only", function()
    local model = models.small()
    local batch, mask = models.task():batch(3, { answers = true })
    assert.same(tokens:totable(), batch:totable())
    local before, without = loss_of(model, mask), models.small()
    zero_output(without, 2, 1)
    local increase = interpret.ablation(model, tokens, { mask = mask })
    assert.near(loss_of(without, mask) - before, increase[{ 2, 1 }]:item(), 1e-6)
  end)

  it("is 0 by the mean of equal rows", function()
    local same = tokens[{ { 1, 1 } }]:expand({ 2, 30 }):contiguous()
    local increase = interpret.ablation(models.small(), same, { by = "mean" })
    assert.is_true(increase:abs():max():item() < 1e-5)
  end)

  it("rejects a model that does not call its heads, and too few tokens", function()
    local model = models.small()
    assert.error_matches(function() interpret.ablation(model, tokens:narrow(2, 1, 1)) end,
      "ablation: expected tokens %[batch, time%] with at least 2 tokens, got %[3, 1%]")
    for _, layer in ipairs(model.layers) do
      function layer.forward(_, x) return x end
    end
    assert.error_matches(function() interpret.ablation(model, tokens) end,
      "ablation: expected the model to call layers.1.attention.output, it did not")
  end)

  it("rejects a mask of another shape or without tokens, and an empty batch", function()
    local model, none = models.small(), roper.zeros({ 3, 30 })
    none:narrow(2, 1, 1):fill(1) -- nothing predicts the first token
    for _, row in ipairs({
      { 3, "ablation: option mask: expected a tensor, got 3" },
      { roper.ones({ 3, 29 }), "mask: expected a tensor %[3, 30%], as the tokens, got %[3, 29%]" },
      { none, "mask: expected at least one token after the first that is not 0, found none" },
    }) do
      assert.error_matches(function() interpret.ablation(model, tokens, { mask = row[1] }) end,
        row[2])
    end
    assert.error_matches(function() interpret.ablation(model, roper.zeros({ 0, 4 }, "int32")) end,
      "ablation: expected tokens %[batch, time%] with at least 2 tokens, got %[0, 4%]")
  end)
end)
