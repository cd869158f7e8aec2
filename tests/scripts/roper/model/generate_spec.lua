local arrays = require("tests.arrays")
local bfloat16 = require("tests.bfloat16")
local core = require("roper.core")
local generate = require("roper.model.generate")
local models = require("tests.models")
local roper = require("roper")
local stdout = require("tests.stdout")

local task = models.task()
local letters = table.concat(task:vocabulary())

-- A model whose likeliest next token is the next of the vocabulary, after the last the first.
local function alphabet()
  local count = #letters
  local model = models.small({ d_model = count, heads = 1, layers = 1, norm = "post",
    position = "none" })
  model.layers = {}
  model.embedding.weight = roper.eye(count):parameter()
  local weight = roper.zeros({ count, count })
  for id = 0, count - 1 do
    weight[{ (id + 1) % count + 1, id + 1 }] = 50
  end
  model.logits.weight = weight:parameter()
  return model
end

describe("generate.sample", function()
  it("draws with the probabilities of the softmax, at any temperature", function()
    local draws = 20000
    local logits = roper.tensor({ 1.5, -1, 0, 0.3, 2, -3 })
    for seed, temperature in ipairs({ 0.5, 1, 2.5 }) do
      roper.seed(seed)
      local ids = generate.sample(logits:view({ 1, 6 }):expand({ draws, 6 }), temperature)
      assert.same({ draws, 1 }, ids:shape())
      assert.equal("int32", ids:dtype())
      local chances = (logits:to("float64") / temperature):softmax(1)
      local chi_square = 0
      for id = 0, 5 do
        local expected = chances[id + 1]:item() * draws
        local seen = ids:eq(id):sum():item()
        chi_square = chi_square + (seen - expected) ^ 2 / expected
      end
      assert(chi_square < 20.5, ("seed %d: %g"):format(seed, chi_square)) -- 5 degrees, p = 0.001
    end
  end)

  it("draws each row from its own logits", function()
    local logits = roper.full({ 4, 4 }, -100)
    for row = 1, 4 do
      logits[{ row, 5 - row }] = 0
    end
    assert.same({ { 3 }, { 2 }, { 1 }, { 0 } }, generate.sample(logits, 1):totable())
  end)

  it("never draws a token of probability 0", function()
    roper.seed(1)
    local logits = roper.tensor({ -math.huge, 0, -math.huge, 0, -math.huge })
    local ids = generate.sample(logits:view({ 1, 5 }):expand({ 4000, 5 }), 1)
    assert.equal(4000, (ids:eq(1) + ids:eq(3)):sum():item())
    local rand = core.rand
    finally(function() core.rand = rand end)
    for draw, id in pairs({ [0] = 1, [1 - 2 ^ -53] = 3 }) do -- the ends of what rand gives
      core.rand = function(shape, dtype) return core.full(shape, draw, dtype) end
      assert.equal(id, generate.sample(logits:view({ 1, 5 }), 1):item())
    end
  end)

  it("returns the likeliest token at temperature 0, and near it", function()
    local logits = roper.tensor({ { 1, 3, 2 }, { 5, 5, 5 }, { -1e30, -3e30, -2e30 } })
    assert.same({ { 1 }, { 0 }, { 0 } }, generate.sample(logits, 0):totable())
    for _, temperature in ipairs({ 1e-3, 1e-40, 5e-324 }) do
      assert.equal(1, generate.sample(logits:narrow(1, 1, 1), temperature):item())
    end
  end)

  it("rejects logits that are not finite", function()
    for _, bad in ipairs({ 0 / 0, math.huge }) do
      for _, temperature in ipairs({ 0, 1 }) do
        assert.error_matches(function()
          generate.sample(roper.tensor({ { 1, 2 }, { bad, 1 } }), temperature)
        end, "generate: expected finite logits")
      end
    end
  end)
end)

describe("generate", function()
  local prompts = { "?s='abcd'; s[2:]=='", "a", "?s='wx", "?s='abcd'; s[0:]=='abcd'#?s='" }

  it("samples from the logits of the full forward pass, with the cache and without", function()
    for _, options in ipairs({
      { norm = "pre", position = "roper" }, { norm = "post", position = "rope" },
      { norm = "post", position = { type = "roper", pairing = "interleaved", fraction = 0.5 } },
      { norm = "pre", position = "none" }, { position = { type = "rope", rotate = "vo" } },
    }) do
      local model = models.small(options)
      for _, cache in ipairs({ true, false }) do
        local seen = {}
        local sample = generate.sample
        finally(function() generate.sample = sample end)
        generate.sample = function(logits, temperature)
          seen[#seen + 1] = logits
          return sample(logits, temperature)
        end
        local texts = roper.generate(model, prompts, { task = task, limit = 12, stop = false,
          temperature = 1, seed = 4, cache = cache })
        generate.sample = sample
        assert.equal(12, #seen)
        for row, prompt in ipairs(prompts) do
          assert.equal(12, #texts[row])
          local whole = roper.no_grad(model, task:encode(prompt .. texts[row]):view({ 1, -1 }))
          for step = 1, 12 do
            arrays.close(whole[{ 1, #prompt + step - 1 }], seen[step][row], 1e-5)
          end
        end
      end
    end
  end)

  it("returns the same text with and without the cache", function()
    for _, position in ipairs({ "none", "rope", "roper" }) do
      local model = models.small({ position = position })
      for _, temperature in ipairs({ 0, 0.7, 1 }) do
        local function run(cache)
          return roper.generate(model, prompts, { task = task, limit = 40, cache = cache,
            temperature = temperature, seed = 11 })
        end
        assert.same(run(false), run(true))
      end
    end
  end)

  it("passes the task's positions to the model, for each new token", function()
    for _, position in ipairs({ "rope", "roper", "alibi", "sinusoidal", "shaw" }) do
      local addition, model = models.coupled({ position = position })
      local asked = { "?d=12+3;", "?d=7+58; 7e0+", "?d=99+99; 9e0+9e0+0e0==18e0 and 9e1+" }
      local texts = {}
      for _, cache in ipairs({ true, false }) do
        local seen, sample = {}, generate.sample
        finally(function() generate.sample = sample end)
        generate.sample = function(logits, temperature)
          seen[#seen + 1] = logits
          return sample(logits, temperature)
        end
        texts[cache] = roper.generate(model, asked, { task = addition, limit = 25, stop = false,
          seed = 9, cache = cache })
        generate.sample = sample
        for row, prompt in ipairs(asked) do
          local text = prompt .. texts[cache][row]
          local positions = {}
          for n = #prompt, #text do
            local so_far = addition:positions(addition:encode(text:sub(1, n)):view({ 1, -1 }))
            table.move(so_far:totable()[1], n == #prompt and 1 or n, n, #positions + 1, positions)
          end
          local whole = roper.no_grad(model, addition:encode(text):view({ 1, -1 }), nil,
            roper.tensor({ positions }, "float64"))
          for step = 1, 25 do
            arrays.close(whole[{ 1, #prompt + step - 1 }], seen[step][row], 1e-5)
          end
        end
      end
      assert.same(texts[false], texts[true])
    end
  end)

  -- Texts of a model with the cache and without, and what was said on the way.
  local function both(model)
    local texts = {}
    local said = stdout.capture_errors(function()
      for _, cache in ipairs({ true, false }) do
        texts[cache] = roper.generate(model, prompts, { task = task, limit = 12, stop = false,
          cache = cache, seed = 3 })
      end
    end)
    return texts[true], texts[false], said
  end

  -- Attention as in a formula: what `forward` becomes in the hands of who tries something.
  local function by_hand(change)
    return function(self, x, cache)
      local q, k, v = self:split(self.query(x)), self:split(self.key(x)), self:split(self.value(x))
      local o = change(self, q, k, v, cache)
      return self.output(o:transpose(2, 3):view(x:shape()))
    end
  end

  local function uncached(self, q, k, v)
    return roper.attention(q * 3, k, v, { position = self.position, causal = self.causal })
  end

  local changes = {
    ["attention replaced in one layer"] = function(model)
      model.layers[2].attention.forward = by_hand(uncached)
    end,
    ["attention that is a function"] = function(model)
      local module = model.layers[1].attention
      model.layers[1].attention = function(x) return by_hand(uncached)(module, x) end
    end,
    ["attention replaced in its class"] = function(model)
      local class = getmetatable(model.layers[1].attention)
      local attend = class.attend
      finally(function() class.attend = attend end)
      function class:attend(inputs)
        return uncached(self, inputs.q, inputs.k, inputs.v)
      end
    end,
    ["a replaced layer"] = function(model)
      local layer = model.layers[2]
      function layer:forward(x)
        return self:residual(x, self.attention_norm, self.attention)
      end
    end,
    ["a model with a forward pass of its own"] = function(model)
      function model:forward(tokens)
        local x = self.embedding(tokens)
        for _, layer in ipairs(self.layers) do
          x = layer(layer(x))
        end
        return self.logits(x)
      end
    end,
    ["a layer that attends twice to one cache"] = function(model)
      local layer = model.layers[1]
      function layer:forward(x, cache)
        x = self:residual(x, self.attention_norm, self.attention, cache)
        return self:residual(x, self.attention_norm, self.attention, cache)
      end
    end,
    ["attention that sees what comes"] = function(model)
      for _, layer in ipairs(model.layers) do
        layer.attention.causal = false
        layer.attention.output.weight = layer.attention.output.weight * 5
      end
    end,
    ["attention that uses the cache for prompts alone"] = function(model)
      model.layers[1].attention.forward = by_hand(function(self, q, k, v, cache)
        return self:attend({ q = q * 3, k = k, v = v, cache = q:size(3) > 1 and cache or nil })
      end)
    end,
  }
  for name, change in pairs(changes) do
    it("notes once that it does not use the cache, for " .. name, function()
      local model = models.small({ seed = 2 })
      local before = both(model)
      change(model)
      local with, without, said = both(model)
      assert.same(without, with)
      assert.not_same(before, with)
      assert.equal("generate: the attention of this model does not use its cache: "
        .. "each token needs a full forward pass\n", said)
      assert.equal("", (select(3, both(model))))
      local greedy = { task = task, limit = 12, stop = false, temperature = 0 }
      local together = roper.generate(model, prompts, greedy)
      for i, prompt in ipairs(prompts) do
        assert.same({ together[i] }, roper.generate(model, { prompt }, greedy))
      end
    end)
  end

  it("notes once that a position scheme cannot use the cache: it fails, or gives other logits",
    function()
      local position = roper.position
      local function biased(of)
        return { takes = { d_model = "size" }, per_layer = true, init = function(self)
          self.weight = (roper.randn({ 1, self.d_model }) * 3):parameter()
        end, bias = function(self, _, k, _, x) return of(roper.linear(x, self.weight), k) end }
      end
      pcall(position.register, "fails", biased(function(b)
        return b:transpose(2, 3):unsqueeze(2)
      end))
      pcall(position.register, "differs", biased(function(b, k) -- by the tokens of this pass alone
        return (b:sum(2, true) * roper.arange(0, k:size(3), 1, "float32")):unsqueeze(2)
      end))
      pcall(position.register, "caches", { bias = function(_, _, _, positions)
        return positions:by_distance(function(distance) return distance:unsqueeze(1) * 3 end)
      end })
      for name, refused in pairs({ fails = true, differs = true, caches = false,
        ["rope+fails"] = true }) do
        local model = models.small({ seed = 2, position = name })
        local with, without, said = both(model)
        assert.same(without, with, name)
        assert.equal(refused and ("generate: the position scheme %s cannot use a cache: each token "
          .. "needs a full forward pass\n"):format((name:gsub("rope", "rotary"))) or "", said)
        assert.equal("", (select(3, both(model))))
      end
    end)

  it("accepts a model without a cache, and notes it once if one was requested", function()
    local model = models.small({ seed = 2 })
    local before = both(model)
    model.cache = false
    local with, without, said = both(model)
    assert.same({ before, before }, { with, without })
    assert.equal("generate: this model has no cache: each token needs a full forward pass\n",
                 said)
    assert.equal("", (select(3, both(model))))
  end)

  it("accepts a custom module, with its own cache", function()
    local inner = models.small({ seed = 2 })
    local Own, passes = roper.nn.class "Own", 0
    function Own:init() self.inner = inner end
    function Own:cache(options) return self.inner:cache(options) end
    function Own:forward(tokens, cache, positions)
      passes = passes + (cache and 1 or 0)
      return self.inner(tokens, cache, positions)
    end
    assert.same({ both(inner) }, { both(Own()) })
    assert.equal(12, passes)
  end)

  it("rejects values that are not models, and results that are not logits", function()
    local function refused(model, message)
      assert.error_matches(function()
        roper.generate(model, prompts, { task = task, cache = false })
      end, message)
    end
    local Own, logits = roper.nn.class "Own", nil
    function Own.forward() return logits end
    refused(Own(), "model: expected logits %[1, %d+, vocabulary%], got nil")
    logits = roper.ones({ 1, 45 })
    refused(Own(), "model: expected logits %[1, %d+, vocabulary%], got %[1, 45%]")
    logits = roper.ones({ 1, 2, 45 })
    refused(Own(), "model: expected logits %[1, %d+, vocabulary%], got %[1, 2, 45%]")
  end)

  it("keeps the cache for overridden attention that uses it", function()
    local model = models.small({ seed = 2 })
    local before = both(model)
    local passes = 0
    for _, layer in ipairs(model.layers) do
      layer.attention.forward = by_hand(function(self, q, k, v, cache)
        passes = passes + (cache and 1 or 0)
        return self:attend({ q = q * 3, k = k, v = v, cache = cache })
      end)
    end
    local with, without, said = both(model)
    assert.same(without, with)
    assert.not_same(before, with)
    assert.equal("", said)
    assert.equal(2 * 12, passes)
  end)

  it("continues each prompt as if it were alone", function()
    local model = models.small()
    local function greedy(list)
      return roper.generate(model, list, { task = task, limit = 30, temperature = 0 })
    end
    local together = greedy(prompts)
    for i, prompt in ipairs(prompts) do
      assert.same({ together[i] }, greedy({ prompt }))
    end
  end)

  it("chooses the likeliest token at temperature 0", function()
    local model = models.small()
    local text = roper.generate(model, { "?s=" }, { task = task, limit = 9, temperature = 0,
      stop = false })[1]
    local logits = roper.no_grad(model, task:encode("?s=" .. text):view({ 1, -1 }))
    assert.equal(text, task:decode((logits[1]:argmax(2) - 1):narrow(1, 3, 9)))
  end)

  it("rounds weights to bfloat16 if asked to", function()
    local model = alphabet()
    local weight = roper.zeros({ #letters, #letters })
    weight[2], weight[3] = roper.ones({ #letters }), roper.full({ #letters }, 1.003)
    model.logits.weight = weight:parameter()
    local function first(weights) -- of the likeliest tokens
      return roper.generate(model, { "a" }, { task = task, limit = 1, temperature = 0,
        weights = weights, stop = false })[1]
    end
    assert.equal(letters:sub(3, 3), first("float32"))
    assert.equal(letters:sub(2, 2), first("bfloat16"))
  end)

  it("keeps weights of linear maps as bfloat16 if asked to, and leaves the model as it was",
    function()
      roper.seed(9)
      local model = models.small({ position = "roper" })
      local function texts(weights)
        return roper.generate(model, { "ab", "cab" }, { task = task, limit = 12, seed = 3,
          stop = false, weights = weights })
      end
      local before, rounded = texts(), texts("bfloat16")
      assert.same(before, texts("float32"))
      local count = 0
      for _, entry in ipairs(model:named_modules()) do
        local map = entry.module
        if getmetatable(map) == getmetatable(model.logits) then
          count = count + 1
          map.weight = bfloat16.unpack(roper.pack_bfloat16(map.weight), map.weight:size(2))
            :parameter()
        end
      end
      assert.equal(13, count)
      assert.same(rounded, texts())
      model.layers[1].attention.query.weight = roper.zeros(
        model.layers[1].attention.query.weight:shape(), "float64"):parameter()
      assert.error_matches(function() texts("bfloat16") end,
        "pack_bfloat16: expected float32 with at least one axis, got float64", 1, true)
    end)

  it("ends each text at its stop sign", function()
    local model = alphabet()
    local function run(options)
      options.task, options.temperature = task, 0
      return roper.generate(model, { "a", "x" }, options)
    end
    assert.same({ "bcdefghijklmnopqrstuvwxyz #", "yz #" }, run({}))
    assert.same({ "bcd", "yz #'0123456789:;=?[]abcd" }, run({ stop = "d" }))
    assert.same({ "bcdef", "yz #'" }, run({ stop = "ef", limit = 5 }))
    assert.same({ "bcdefghijklmnopqrstuvwxyz", "yz" }, run({ stop = "yz" }))
    assert.same({ "bcd", "yz #'0123456789:;=?[]abcd" }, run({ stop = "cd" }))
    -- A stop token in the prompt does not end a text.
    assert.same({ "bcde", "yz #" }, run({ stop = "xy", limit = 4 }))
  end)

  it("handles tokens of several characters, and ends a text inside one", function()
    local model, words = alphabet(), {}
    for i = 1, #letters do
      words[i] = letters:sub(i, i) .. "-" .. letters:sub(i, i)
    end
    local longer = setmetatable({
      vocabulary = function() return words end,
      encode = function(_, text) return task:encode(text) end,
      stop = function() return "e-" end,
      positions = function() end,
      targets = function() end,
    }, { __name = "roper.task" })
    local function run(options)
      options.task, options.temperature, options.limit = longer, 0, 4
      return roper.generate(model, { "a" }, options)[1]
    end
    assert.equal("b-bc-cd-de-", run({}))
    assert.equal("b-bc-cd-de-e", run({ stop = false }))
    assert.equal("b-bc-cd", run({ stop = "cd" }))
    assert.equal("b-bc-c", run({ stop = "bc-c" }))
  end)

  it("generates at most `most` tokens", function()
    local model = alphabet()
    local function run(options)
      options.task, options.temperature = task, 0
      return roper.generate(model, { "b" }, options)[1]
    end
    assert.equal("c", run({ limit = 1 }))
    assert.equal("cdefghijkl", run({ limit = 10 }))
    assert.equal(256, #run({ stop = false }))
    assert.equal(300, #run({ limit = 300, stop = false, cache = false }))
  end)

  it("draws the same from the same seed, and leaves the generator unchanged", function()
    local model = models.small()
    roper.seed(5)
    local before = { roper.random_state() }
    local function run(seed)
      return roper.generate(model, prompts, { task = task, limit = 20, seed = seed })
    end
    assert.same(run(1), run(1))
    assert.not_same(run(1), run(2))
    assert.same(before, { roper.random_state() })
    local unseeded = run()
    assert.not_same(before, { roper.random_state() })
    assert.not_same(unseeded, run())
    roper.random_state(table.unpack(before))
    assert.same(unseeded, run())
  end)

  it("applies no dropout, records nothing, and restores the mode of the model", function()
    local model = models.small({ dropout = 0.5 })
    local function run()
      return roper.generate(model, { "?s='" }, { task = task, limit = 20, temperature = 0 })
    end
    assert.same(run(), run())
    assert.is_true(model.is_training)
    assert.is_true(model.layers[1].attention.is_training)
    model:training(false)
    run()
    assert.is_false(model.is_training)
    assert.is_false(model.layers[1].feed_forward.is_training)
    assert.is_true(roper.is_recording())
  end)

  it("restores everything after an error", function()
    local model = models.small({ dropout = 0.5 })
    roper.seed(5)
    assert.error_matches(function()
      roper.generate(model, { "?", "?s=~" }, { task = task, seed = 9 })
    end, 'task:encode: .*got "~" at index 4')
    assert.is_true(model.is_training)
    assert.is_true(roper.is_recording())
    assert.same({ 5, 0 }, { roper.random_state() })
  end)

  it("rejects bad prompts and options", function()
    local model = models.small()
    local function refuses(given, options, message)
      options.task = options.task or task
      assert.error_matches(function() roper.generate(model, given, options) end, message)
    end
    refuses({ "a", "" }, {}, "generate: prompt 2 is empty")
    refuses({}, {}, "generate: expected a list of prompts, got an empty one")
    refuses("abc", {}, "generate: expected a list of prompts, got abc")
    refuses({ "a" }, { task = 5 }, "generate: option task: expected a task, got 5")
    refuses({ "a" }, { limit = 0 }, "generate: option limit: expected a positive integer")
    refuses({ "a" }, { temperature = -1 },
            "generate: option temperature: expected a finite non%-negative number, got %-1")
    refuses({ "a" }, { temperature = 0 / 0 }, "generate: option temperature: expected a finite")
    refuses({ "a" }, { seed = 1.5 }, "generate: option seed: expected an integer, got 1.5")
    refuses({ "a" }, { stop = "" }, 'generate: stop: expected a text, or false for none, got ""')
    refuses({ "a" }, { stop = 5 }, "generate: stop: expected a text, or false for none, got 5")
    local other = roper.tasks.addition({ length = 20 })
    refuses({ "?d=1" }, { task = other, limit = 300 },
            "expected tokens from 0 to %d+, as in the task, got %d+ from the model")
  end)
end)
