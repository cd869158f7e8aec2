local arrays = require("tests.arrays")
local core = require("roper.core")
local models = require("tests.models")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")

local names, nn = models.names, roper.nn

setup(scratch.create)
teardown(scratch.remove)

describe("nn.TransformerLayer", function()
  local x

  before_each(function() x = roper.randn({ 2, 5, 8 }) end)

  it("norms before each part with pre", function()
    local layer = nn.TransformerLayer({ d_model = 8, heads = 2, norm = "pre", position = "roper" })
    local y = x + layer.attention(layer.attention_norm(x))
    arrays.close(y + layer.feed_forward(layer.feed_forward_norm(y)), layer(x), 1e-6)
  end)

  it("norms after each part with post", function()
    local layer = nn.TransformerLayer({ d_model = 8, heads = 2, norm = "post", position = "rope" })
    local y = layer.attention_norm(x + layer.attention(x))
    arrays.close(layer.feed_forward_norm(y + layer.feed_forward(y)), layer(x), 1e-6)
  end)

  it("adds both parts of the same input with parallel_residual", function()
    local layer = nn.TransformerLayer({ d_model = 8, heads = 2, parallel_residual = true })
    arrays.close(x + layer.attention(layer.attention_norm(x))
      + layer.feed_forward(layer.feed_forward_norm(x)), layer(x), 0)
    assert.error_matches(function()
      nn.TransformerLayer({ d_model = 8, heads = 2, parallel_residual = true, norm = "post" })
    end, 'parallel_residual: expected norm = "pre", got "post"')
  end)

  it("applies dropout in training only", function()
    local layer = nn.TransformerLayer({ d_model = 8, heads = 2, dropout = 0.5 })
    assert.is_true(models.difference(layer(x), layer(x)) > 0.01)
    layer:training(false)
    arrays.close(layer(x), layer(x), 0)
    layer:training()
    assert.is_true(models.difference(layer(x), layer(x)) > 0.01)
  end)
end)

describe("nn.Transformer", function()
  it("has the parameters of the study's models", function()
    local function count(vocabulary, options)
      options.vocabulary = vocabulary
      return nn.Transformer(options):count()
    end
    local large = count(40, { d_model = 512, layers = 6, heads = 8, norm = "post" })
    assert.is_true(large >= 18.9e6 and large <= 20e6)
    assert.equal(6 * (12 * 512 ^ 2 + 13 * 512) + 2 * 40 * 512 + 40, large)
    local small = count(5, { d_model = 128, layers = 3, heads = 4, norm = "pre" })
    assert.is_true(small >= 0.59e6 and small <= 0.61e6)
    assert.equal(3 * (12 * 128 ^ 2 + 13 * 128) + 2 * 5 * 128 + 5 + 2 * 128, small)
  end)

  it("returns logits for every token", function()
    local model, task = models.small(), models.task()
    local tokens = task:batch(3)
    assert.same({ 3, 30, #task:vocabulary() }, model(tokens):shape())
    assert.same({ 1, 1, #task:vocabulary() }, model(tokens:narrow(1, 1, 1):narrow(2, 1, 1)):shape())
  end)

  it("does not depend on later tokens", function()
    local tokens = models.task():batch(2)
    for _, position in ipairs({ "none", "rope", "roper" }) do
      local model = models.small({ position = position })
      local whole, cut = model(tokens), model(tokens:narrow(2, 1, 11))
      arrays.close(whole:narrow(2, 1, 11), cut, 1e-5)
    end
  end)

  it("passes the given positions to every layer, also with a cache", function()
    local tokens = models.task():batch(2):narrow(2, 1, 8)
    local positions = roper.tensor({ { 0, 3, 3, 1, 9, 2, 4, 5 } }, "float64"):expand({ 2, 8 })
    for _, position in ipairs({ "rope", "alibi", "sinusoidal" }) do
      local model = models.small({ position = position })
      local given = model(tokens, nil, positions)
      assert.is_true((given - model(tokens)):abs():max():item() > 1e-3, position)
      local cache = model:cache({ batch = 2, length = 8 })
      for at = 1, 8 do
        arrays.close(given:narrow(2, at, 1), model(tokens:narrow(2, at, 1), cache,
          positions:narrow(2, at, 1)), 1e-4)
      end
    end
  end)

  it("composes its parts, with a final norm for pre-norm", function()
    local tokens = models.task():batch(2)
    for _, norm in ipairs({ "pre", "post" }) do
      local model = models.small({ norm = norm })
      local x = model.embedding(tokens)
      for _, layer in ipairs(model.layers) do
        x = layer(x)
      end
      assert.equal(norm == "pre", model.norm ~= nil)
      arrays.close(model.logits(model.norm and model.norm(x) or x), model(tokens), 0)
    end
  end)

  it("names its parameters in one order", function()
    local model = models.small({ layers = 11 })
    local list = names(model)
    assert.equal("embedding.weight", list[1])
    assert.equal("layers.1.attention.key.bias", list[2])
    assert.equal("layers.1.attention_norm.bias", list[10])
    assert.equal("norm.gain", list[#list])
    assert.equal(1 + 11 * 16 + 2 + 2, #list)
    assert.same(list, names(models.small({ layers = 11, seed = 9 })))
    local at = {}
    for i, name in ipairs(list) do
      at[name] = i
    end
    assert.is_true(at["layers.2.feed_forward.outer.weight"] < at["layers.10.attention.key.bias"])
    for i, tensor in ipairs(model:parameters()) do
      assert.equal(tensor, model:named_parameters()[i].tensor)
    end
  end)

  it("works with a part replaced by hand", function()
    local model, tokens = models.small(), models.task():batch(1)
    local before, count = model(tokens), model:count()
    model.layers[2] = nn.TransformerLayer({ d_model = 16, heads = 4, position = "rope" })
    assert.is_true(models.difference(before, model(tokens)) > 1e-3)
    assert.equal(count + 16 * 2 * (64 - 24) + 64 - 24, model:count())
    model.layers[3] = nn.TransformerLayer({ d_model = 16, heads = 4 })
    assert.equal("layers.3.attention.key.bias", names(model)[2 + 2 * 16])
    model.layers[1].feed_forward.inner = { weight = roper.ones({ 2, 2 }):parameter() }
    assert.truthy(table.concat(names(model), " "):find("layers.1.feed_forward.inner.weight"))
  end)

  it("can share one matrix between the embedding and the logits", function()
    local model, tokens = models.small({ tied_embeddings = true }), models.task():batch(4)
    assert.equal(model.embedding.weight, model.logits.weight)
    local count = models.small():count() - model.embedding.weight:count()
    assert.equal(count, model:count())
    -- Rows are as long as they would be alone; so are the logits of normalized features.
    arrays.close(roper.tensor(1), model.embedding(tokens):square():mean():sqrt(), 0.2)
    assert.is_true(model(tokens):square():mean():sqrt():item() < 2)
    model:loss(tokens:narrow(2, 1, 29), tokens:narrow(2, 2, 29)):backward()
    assert.is_true(model.embedding.weight.grad:abs():min():item() > 0)
    assert.is_nil(models.small().options.tied_embeddings) -- as before there was the option
  end)

  it("counts a shared parameter once, and handles cycles of parts", function()
    local model = models.small()
    local count = model:count()
    model.logits.weight = model.embedding.weight
    assert.equal(count - model.embedding.weight:count(), model:count())
    model.layers[1].above = model
    assert.equal(count - model.embedding.weight:count(), model:count())
    model:training(false)
    assert.is_false(model.layers[2].attention.is_training)
  end)

  it("computes and clears gradients", function()
    local model, tokens = models.small(), models.task():batch(2)
    roper.cross_entropy(model(tokens:narrow(2, 1, 29)), tokens:narrow(2, 2, 29)):backward()
    for _, entry in ipairs(model:named_parameters()) do
      assert(entry.tensor.grad, entry.name)
      assert.same(entry.tensor:shape(), entry.tensor.grad:shape())
    end
    model:zero_gradients()
    for _, tensor in ipairs(model:parameters()) do
      assert.is_nil(tensor.grad)
    end
  end)

  it("sets the training mode of every part", function()
    local model = models.small({ dropout = 0.3 })
    assert.equal(model, model:training(false))
    local function all(state)
      assert.equal(state, model.is_training)
      for _, layer in ipairs(model.layers) do
        for _, part in ipairs({ layer, layer.attention, layer.feed_forward }) do
          assert.equal(state, part.is_training)
        end
      end
    end
    all(false)
    local tokens = models.task():batch(1)
    arrays.close(model(tokens), model(tokens), 0)
    model:training()
    all(true)
    assert.is_true(models.difference(model(tokens), model(tokens)) > 0.01)
  end)

  it("depends on the seed", function()
    local first = models.values(models.small({ seed = 3 }))
    assert.same(first, models.values(models.small({ seed = 3 })))
    local other = models.values(models.small({ seed = 4 }))
    assert.not_same(first["logits.weight"], other["logits.weight"])
  end)

  it("rejects bad options", function()
    local function refuses(options, message)
      options.vocabulary = options.vocabulary or 5
      assert.error_matches(function() nn.Transformer(options) end, message)
    end
    refuses({ vocabulary = 0 }, "vocabulary: expected the number of tokens .* got 0")
    refuses({ vocabulary = {} }, "vocabulary: expected the number of tokens .* got 0")
    refuses({ vocabulary = "abc" }, "vocabulary: expected the number of tokens .* got abc")
    refuses({ layers = 0 }, "option layers: expected a positive integer, got 0")
    refuses({ heads = 2.5 }, "option heads: expected a positive integer, got 2.5")
    refuses({ d_model = 10, heads = 4 },
      "expected d_model divisible by heads, got d_model 10 and 4 heads")
    refuses({ d_model = 12, heads = 4 }, "got 1, which rotates 3 of 3")
    refuses({ dropout = 0 / 0 }, "option dropout: expected")
    refuses({ position = "rop" }, 'got "rop"; did you mean "rope"')
  end)

  it("has one scheme for all layers, which creates its tables once", function()
    for _, position in ipairs({ "rope", "roper", { type = "rope", rotate = "v" } }) do
      local list = models.small({ layers = 3, position = position }).layers
      assert.is_not_nil(list[1].attention.position)
      assert.equal(list[1].attention.position, list[2].attention.position)
      assert.equal(list[1].attention.position, list[3].attention.position)
    end
  end)

  it("rejects values that are not batches of tokens", function()
    local model, task = models.small(), models.task()
    local tokens = task:batch(2)
    assert.error_matches(function() model(tokens[1]) end,
                         "Transformer: expected tokens %[batch, time%], got %[30%]")
    assert.same({ 2, 30, #task:vocabulary() }, model(task:batch(2)):shape())
    assert.error_matches(function() model(roper.zeros({ 1, 3 })) end,
                         "embedding: expected an int32 index, got float32")
    assert.error_matches(function() model(roper.full({ 1, 2 }, 99, "int32")) end, "got 99")
    assert.error_matches(function() model(roper.zeros({ 1, 0 }, "int32")) end, "got 0")
  end)

  it("has correct gradients through all parts", function()
    for _, options in ipairs({
      { norm = "post", activation = "relu", position = "roper" },
      { norm = "pre", activation = "gelu", position = { type = "rope", pairing = "interleaved" } },
    }) do
      options.vocabulary, options.d_model, options.d_ff = 5, 4, 6
      options.heads, options.layers = 2, 1
      roper.seed(2)
      local model = nn.Transformer(options)
      local entries = model:named_parameters()
      local tokens = roper.randint(0, 4, { 2, 4 })
      local targets = roper.randint(0, 4, { 2, 4 })
      local function loss(...)
        for i, entry in ipairs(entries) do
          models.replace(model, entry.name, (select(i, ...)))
        end
        return roper.cross_entropy(model(tokens), targets)
      end
      local holds, worst = roper.gradcheck(loss, model:parameters())
      assert(holds, options.norm .. ": relative error " .. worst)
    end
  end)
end)

describe("Transformer:loss", function()
  it("is the cross-entropy of the logits, with the same bits for a small vocabulary", function()
    for _, norm in ipairs({ "pre", "post" }) do
      local model, tokens = models.small({ norm = norm }), models.task():batch(3)
      local given, targets = tokens:narrow(2, 1, 29), tokens:narrow(2, 2, 29)
      for _, options in ipairs({ {}, { reduction = "none" }, { ignore = 3 } }) do
        local outcomes = {}
        for i, loss in ipairs({ model:loss(given, targets, options),
          roper.cross_entropy(model(given), targets, options) }) do
          model:zero_gradients()
          loss:backward(roper.ones(loss:shape()))
          outcomes[i] = { loss }
          for _, parameter in ipairs(model:parameters()) do
            table.insert(outcomes[i], parameter.grad)
          end
        end
        for i, tensor in ipairs(outcomes[1]) do
          arrays.close(outcomes[2][i], tensor, 0)
        end
      end
    end
  end)

  it("uses forward and logits that were replaced by hand", function()
    local model, tokens = models.small(), models.task():batch(2)
    local given, targets = tokens:narrow(2, 1, 29), tokens:narrow(2, 2, 29)
    local linear = model.logits
    local changes = {
      function()
        function linear:forward(x) return roper.linear(x, self.weight) * 2 end
      end,
      function()
        model.logits = setmetatable({}, { __call = function(_, x)
          return roper.linear(x, linear.weight) * 3
        end })
      end,
      function()
        function model:forward(x) return self.logits(self.embedding(x)) end
      end,
    }
    local last = model:loss(given, targets):item()
    for _, change in ipairs(changes) do
      change()
      local loss = model:loss(given, targets):item()
      assert.equal(roper.cross_entropy(model(given), targets):item(), loss)
      assert.is_true(math.abs(last - loss) > 1e-3)
      last = loss
    end
  end)
end)

describe("golden values from torch", function()
  for _, name in ipairs({ "post_rope", "pre_roper", "rms_swiglu", "grouped", "parallel" }) do
    local golden, metadata = roper.load("tests/fixtures/transformer_" .. name .. ".safetensors")
    local settings = {
      post_rope = { rate = 1e-2, epsilon = 1e-3 },
      pre_roper = { rate = 1e-2, epsilon = 1e-3, decay = 0.1 },
      rms_swiglu = { rate = 1e-2, epsilon = 1e-3, decay = 0.1, decay_on = "matrices" },
      grouped = { rate = 1e-2, epsilon = 1e-3, decay = 0.1 },
      parallel = { rate = 1e-2, epsilon = 1e-3 },
    }

    -- The model of the file, its loss, and its logits; parameters in `dtype`.
    local function load_golden(dtype)
      local model = nn.Transformer(core.json_decode(metadata.options))
      for _, entry in ipairs(model:named_parameters()) do
        entry.tensor:copy(golden["before." .. entry.name])
      end
      models.convert(model, dtype)
      if model.options.tied_embeddings then
        model.logits.weight = model.embedding.weight
      end
      return model, function()
        local logits = model(golden.tokens)
        return roper.cross_entropy(logits, golden.targets), logits
      end
    end

    for dtype, tolerance in pairs({ float32 = 1e-5, float64 = 1e-12 }) do
      it(("agree: %s, %s"):format(name, dtype), function()
        local model, loss_of = load_golden(dtype)
        local optimizer = roper.optim.Adam(settings[name])
        local parameters = model:parameters()
        for step = 1, 3 do
          local loss, logits = loss_of()
          model:zero_gradients()
          loss:backward()
          if step == 1 then
            arrays.close(golden.logits, logits, tolerance)
            arrays.close(golden.loss, loss, tolerance)
            for _, entry in ipairs(model:named_parameters()) do
              arrays.close(golden["gradient." .. entry.name], entry.tensor.grad, tolerance,
                           entry.name)
            end
          end
          optimizer:step(parameters)
        end
        for _, entry in ipairs(model:named_parameters()) do
          arrays.close(golden["after." .. entry.name], entry.tensor, tolerance, entry.name)
        end
      end)
    end
  end
end)

describe("nn.Transformer:save and roper.load", function()
  it("keep parameters and options", function()
    local tokens = models.task():batch(2)
    local scheme = roper.position.rope({ dim = 8, rotate = "vo", base = 50 })
    for i, options in ipairs({
      { norm = "post", position = "rope", activation = "gelu" },
      { position = { type = "roper", pairing = "interleaved", fraction = 0.5 }, dropout = 0.1 },
      { position = scheme, layers = 1 },
      { rms_norm = true, activation = "swiglu", tied_embeddings = true, norm = "post" },
      { position = "none" },
      { kv_heads = 1, attention_bias = "qkv", feed_forward_bias = "none", logits_bias = "none",
        norm_epsilon = 0.01, embedding_scale = 0.5, parallel_residual = true,
        activation = "gelu_tanh", tied_embeddings = true },
    }) do
      local model = models.small(options)
      local path = scratch.path(("model-%d.safetensors"):format(i))
      model:save(path)
      local restored = roper.load(path)
      assert.same(models.values(model), models.values(restored))
      assert.same(roper.no_grad(model:training(false).forward, model, tokens):totable(),
                  roper.no_grad(restored:training(false).forward, restored, tokens):totable())
      roper.save(path, restored)
      assert.same(models.values(model), models.values(roper.load(path)))
    end
  end)

  it("write the same bytes for the same model", function()
    models.small({ seed = 6 }):save(scratch.path("a.safetensors"))
    models.small({ seed = 6 }):save(scratch.path("b.safetensors"))
    assert.is_true(scratch.read(scratch.path("a.safetensors"))
      == scratch.read(scratch.path("b.safetensors")))
  end)
end)

describe("a loop in plain Lua", function()
  -- Resident MiB of a fresh program after the first and after all of `counts` runs of `body`.
  local function resident(setup_code, body, counts)
    local script = scratch.write("loop.lua", ([[
      local function resident()
        local file <close> = io.open("/proc/self/statm")
        return file:read("a"):match("^%%d+ (%%d+)") * 4096 / 2^20
      end
      %s
      for i = 1, %d do
        %s
        if i == %d then
          print(resident())
        end
      end
      print(resident())
    ]]):format(setup_code, counts[2], body, counts[1]))
    local status, output, errors = process.run({ "./roper", script })
    assert.equal(0, status, errors)
    local early, late = output:match("^(%S+)\n(%S+)\n$")
    return tonumber(early), tonumber(late)
  end

  it("trains in constant memory without explicit collections", function()
    local early, late = resident([[
      local task = roper.tasks.substring_index { length = 33 }
      local model = roper.nn.Transformer { vocabulary = task:vocabulary(), d_model = 16,
        heads = 2, layers = 2 }
    ]], [[
      local tokens = task:batch(4)
      model:zero_gradients()
      local logits = model(tokens:narrow(2, 1, 32))
      roper.cross_entropy(logits, tokens:narrow(2, 2, 32)):backward()
    ]], { 100, 1000 })
    assert(late - early < 4, ("%g MiB after 100 steps, %g after 1000"):format(early, late))
  end)

  it("frees large tensors in time", function()
    local early, late = resident("local x = roper.zeros { 1 << 20 }", "x = x + 1", { 100, 500 })
    assert(late < 256 and late - early < 32, ("%g, then %g MiB"):format(early, late))
  end)
end)
