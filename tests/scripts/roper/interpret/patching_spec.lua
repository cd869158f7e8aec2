local arrays = require("tests.arrays")
local models = require("tests.models")
local roper = require("roper")

local interpret = roper.interpret
local both = models.task():batch(2)
local clean, corrupted = both[{ { 1, 1 } }], both[{ { 1, 1 } }]:clone()
corrupted[{ 1, 5 }] = (clean[{ 1, 5 }]:item() + 1) % 9

local function all_heads()
  return { { 1, 1 }, { 1, 2 }, { 2, 1 }, { 2, 2 } }
end

describe("interpret.patch", function()
  it("gives the clean logits if everything is patched, for every scheme", function()
    for _, position in ipairs(roper.position.list()) do
      local model = models.small({ position = position, length = 30 })
      local expected = model(clean)
      assert.is_true(models.difference(expected, model(corrupted)) > 1e-3)
      local everything = all_heads()
      table.move({ "embedding", "layers.1.feed_forward", "layers.2.feed_forward" }, 1, 3, 5,
        everything)
      for _, parts in ipairs({ { "Transformer" }, { "layers.2" }, { "layers.1" }, everything }) do
        arrays.close(expected, interpret.patch(model, clean, corrupted, parts), 1e-5)
      end
    end
  end)

  it("changes nothing if the inputs are equal", function()
    local model = models.small()
    arrays.close(model(clean), interpret.patch(model, clean, clean, all_heads()), 0)
  end)

  it("replaces the outputs at some tokens only", function()
    local model = models.small()
    local logits = interpret.patch(model, clean, corrupted, { "layers.1" }, { at = { 5, 7 } })
    local x = model.layers[1](model.embedding(corrupted)):detach():clone()
    local from = model.layers[1](model.embedding(clean))
    for _, i in ipairs({ 5, 7 }) do
      x:narrow(2, i, 1):copy(from:narrow(2, i, 1))
    end
    arrays.close(model.logits(model.norm(model.layers[2](x))), logits, 1e-6)
  end)

  it("replaces one head, and the sum of both is as both", function()
    local model = models.small({ layers = 1 })
    local inputs = {}
    for name, tokens in pairs({ clean = clean, corrupted = corrupted }) do
      model:with_hooks({ ["layers.1.attention.output"] = function(_, _, x)
        inputs[name] = x:detach():clone()
      end }, model, tokens)
    end
    inputs.corrupted:narrow(3, 9, 8):copy(inputs.clean:narrow(3, 9, 8))
    local expected = model:with_hooks({ ["layers.1.attention.output"] = function(_, output)
      return output(inputs.corrupted)
    end }, model, corrupted)
    arrays.close(expected, interpret.patch(model, clean, corrupted, { { 1, 2 } }), 1e-6)
    local both_heads = interpret.patch(model, clean, corrupted, { { 1, 1 }, { 1, 2 } })
    arrays.close(interpret.patch(model, clean, corrupted, { "layers.1.attention" }), both_heads,
      1e-5)
  end)

  it("patches each call of a module that is called repeatedly", function()
    local Twice = roper.nn.class("Twice")
    function Twice:init() self.part = roper.nn.Linear({ inputs = 2, outputs = 2 }) end
    function Twice:forward(x)
      return self.part(self.part(roper.stack({ x, x + 1 }, 3):to("float32")))
    end
    local model = Twice()
    local a, b = roper.tensor({ { 1, 2 } }, "int32"), roper.tensor({ { 5, 3 } }, "int32")
    arrays.close(model(a), interpret.patch(model, a, b, { "part" }), 1e-6)
  end)

  it("rejects parts, tokens and inputs that do not fit", function()
    local model = models.small()
    local function refused(message, ...)
      local given = table.pack(...)
      assert.error_matches(function() interpret.patch(model, table.unpack(given, 1, given.n)) end,
        message, 1, true)
    end
    refused('with_hooks: list: expected the name of a module, got "layers.3"', clean, corrupted,
      { "layers.3" })
    refused("patch: parts: expected names of modules or {layer, head}, got {1, 9}", clean,
      corrupted, { { 1, 9 } })
    refused("patch: parts: expected names of modules or {layer, head}, got 4", clean, corrupted,
      { 4 })
    refused("patch: parts: expected names of modules or {layer, head}, got none", clean, corrupted,
      {})
    refused("patch: at: expected integers from 1 to 30, got 31 as element 2", clean, corrupted,
      { "layers.1" }, { at = { 1, 31 } })
    refused("patch: expected two inputs of tokens [batch, time], got int32 [2, 30] and "
      .. "int32 [1, 30]", both, clean, { "layers.1" })
    model.layers[1].forward = function(_, x) return x end
    refused("patch: expected the model to call layers.1.attention, it did not", clean, corrupted,
      { "layers.1.attention" })
  end)
end)

describe("interpret.patching", function()
  it("is the share of the difference in log-probability", function()
    local model = models.small()
    local function score(logits)
      local target = model(clean):narrow(2, 30, 1):argmax(3) - 1
      return -roper.cross_entropy(logits:narrow(2, 30, 1), target):item()
    end
    local low = score(model(corrupted))
    local difference = score(model(clean)) - low
    for kind, part in pairs({ layers = "layers.1", attention = "layers.1.attention",
      feed_forward = "layers.1.feed_forward" }) do
      local restored = interpret.patching(model, clean, corrupted, { parts = kind })
      assert.same({ 2, 30 }, restored:shape())
      for _, i in ipairs({ 4, 5, 9, 30 }) do
        local logits = interpret.patch(model, clean, corrupted, { part }, { at = { i } })
        assert.near((score(logits) - low) / difference, restored[{ 1, i }]:item(), 1e-3)
      end
      for i = 1, 4 do -- before the first different token
        assert.equal(0, restored[{ 1, i }]:item())
      end
    end
    local restored = interpret.patching(model, clean, corrupted)
    assert.near(1, restored[{ 2, 30 }]:item(), 1e-3)
    assert.equal(0, restored[{ 2, 29 }]:item())
    local heads = interpret.patching(model, clean, corrupted, { parts = "heads" })
    local logits = interpret.patch(model, clean, corrupted, { { 2, 1 } })
    assert.near((score(logits) - low) / difference, heads[{ 2, 1 }]:item(), 1e-3)
  end)

  it("takes the targets of the option", function()
    local model = models.small()
    local function score(logits)
      return -roper.cross_entropy(logits:narrow(2, 30, 1):squeeze(2),
        roper.tensor({ 3 }, "int32")):item()
    end
    local low = score(model(corrupted))
    local logits = interpret.patch(model, clean, corrupted, { { 1, 2 } })
    assert.near((score(logits) - low) / (score(model(clean)) - low),
      interpret.patching(model, clean, corrupted, { parts = "heads",
        targets = roper.tensor({ 3 }, "int32") })[{ 1, 2 }]:item(), 1e-3)
  end)

  it("rejects equal inputs", function()
    assert.error_matches(function() interpret.patching(models.small(), clean, clean) end,
      "patching: expected a target whose probability the corruption changes; it does not")
  end)
end)
