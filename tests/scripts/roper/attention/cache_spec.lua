local arrays = require("tests.arrays")
local models = require("tests.models")
local roper = require("roper")

-- Every subset of qkvo.
local function subsets()
  local list = {}
  for bits = 0, 15 do
    local letters = ""
    for i = 1, 4 do
      letters = letters .. (bits >> (i - 1) & 1 == 1 and ("qkvo"):sub(i, i) or "")
    end
    list[bits + 1] = letters
  end
  return list
end

local function forward(...)
  return roper.no_grad(...)
end

describe("Transformer:cache", function()
  local tokens = models.task():batch(3)

  -- Feed the first tokens in chunks of these sizes and compare with the whole forward pass.
  local function assert_chunks_agree(model, chunks, name)
    local whole = forward(model, tokens)
    local cache = model:cache({ batch = 3, length = 30 })
    local first = 1
    for _, size in ipairs(chunks) do
      local logits = forward(model, tokens:narrow(2, first, size), cache)
      arrays.close(whole:narrow(2, first, size), logits, 1e-5, name)
      first = first + size
      assert.equal(first - 1, cache.filled)
    end
  end

  it("does not change logits, for any rotated inputs", function()
    for _, norm in ipairs({ "pre", "post" }) do
      for _, name in ipairs({ "none", "rope", "roper" }) do
        local model = models.small({ position = name, norm = norm })
        assert_chunks_agree(model, { 1, 1, 7, 1, 20 }, norm .. " " .. name)
      end
      for i, rotate in ipairs(subsets()) do
        local model = models.small({ norm = norm, position = { type = "rope", rotate = rotate,
          pairing = i % 2 == 0 and "half" or "interleaved", fraction = 0.5,
          value_fraction = i % 3 == 0 and 1 or 0.25 } })
        assert_chunks_agree(model, { 5, 1, 1, 3 }, norm .. " " .. rotate)
      end
    end
  end)

  it("rotates keys again if angles depend on the length of the text", function()
    for _, position in ipairs({ { type = "ntk", factor = 3 },
      { type = "longrope", short = { 1, 1.25, 2, 1 }, long = { 1, 2, 3, 4 } } }) do
      position.trained_length, position.rotate = 8, "qkvo"
      local model = models.convert(models.small({ layers = 1, position = position }), "float64")
      local cache = model:cache({ batch = 3, length = 30 })
      for length = 1, 20 do
        local whole = forward(model, tokens:narrow(2, 1, length))
        local last = forward(model, tokens:narrow(2, length, 1), cache)
        arrays.close(whole:narrow(2, length, 1), last, 1e-12, position.type)
      end
    end
  end)

  it("accepts one token after another", function()
    local steps = {}
    for i = 1, 30 do
      steps[i] = 1
    end
    assert_chunks_agree(models.small(), steps)
  end)

  it("handles prompts of different lengths at once, each as if it were alone", function()
    local lengths = { 4, 11, 7 }
    for _, norm in ipairs({ "pre", "post" }) do
      for _, position in ipairs({ "none", "rope", "roper", { type = "rope", rotate = "kvo" } }) do
        local model = models.small({ position = position, norm = norm })
        local cache = model:cache({ batch = 3, length = 11 + 5, lengths = lengths })
        local padded = roper.zeros({ 3, 11 }, "int32")
        for row, length in ipairs(lengths) do
          padded[{ row, { 11 - length + 1, 11 } }] = tokens[{ row, { 1, length } }]
        end
        local logits = { forward(model, padded, cache) }
        for step = 1, 5 do
          local next_tokens = {}
          for row, length in ipairs(lengths) do
            next_tokens[row] = tokens[{ { row, row }, { length + step, length + step } }]
          end
          logits[step + 1] = forward(model, roper.cat(next_tokens, 1), cache)
        end
        local all = roper.cat(logits, 2)
        for row, length in ipairs(lengths) do
          local alone = forward(model, tokens[{ { row, row }, { 1, length + 5 } }])
          arrays.close(alone[1], all[{ row, { 11 - length + 1, 16 } }], 1e-5)
        end
      end
    end
  end)

  it("keeps the dtype of the model", function()
    local model = models.convert(models.small(), "float64")
    local whole = forward(model, tokens)
    local cache = model:cache({ batch = 3, length = 30 })
    forward(model, tokens:narrow(2, 1, 20), cache)
    arrays.close(whole:narrow(2, 21, 10), forward(model, tokens:narrow(2, 21, 10), cache), 1e-13)
  end)

  it("rejects more tokens than fit, and stays usable", function()
    local model = models.small()
    local cache = model:cache({ batch = 3, length = 12 })
    forward(model, tokens:narrow(2, 1, 10), cache)
    assert.has_error(function() forward(model, tokens:narrow(2, 11, 3), cache) end,
                     "cache: expected at most 12 tokens (its length), got 10 stored and 3 new")
    local logits = forward(model, tokens:narrow(2, 11, 2), cache)
    arrays.close(forward(model, tokens):narrow(2, 11, 2), logits, 1e-5)
    assert.has_error(function() forward(model, tokens:narrow(2, 13, 1), cache) end,
                     "cache: expected at most 12 tokens (its length), got 12 stored and 1 new")
  end)

  it("rejects another number of rows", function()
    for _, position in ipairs({ "none", "roper" }) do
      local model = models.small({ position = position })
      local cache = model:cache({ batch = 2, length = 30 })
      assert.has_error(function() forward(model, tokens, cache) end,
                       "cache: expected 2 rows, got 3")
      assert.equal(0, cache.filled)
    end
  end)

  it("raises an error if attention did not process each token once", function()
    local model = models.small()
    local attention = model.layers[2].attention
    local attend = attention.attend
    for count, change in pairs({
      [0] = function(self, inputs)
        inputs.cache = nil
        return attend(self, inputs)
      end,
      [6] = function(self, inputs)
        inputs.cache:extend(inputs.k, inputs.v, self.position)
        return attend(self, inputs)
      end,
    }) do
      local cache = model:cache({ batch = 3, length = 30 })
      forward(model, tokens:narrow(2, 1, 3), cache)
      assert.is_true(cache:holds(3))
      attention.attend = change
      forward(model, tokens:narrow(2, 4, 3), cache)
      attention.attend = nil
      assert.is_false(cache:holds(6))
      assert.has_error(function() forward(model, tokens:narrow(2, 7, 1), cache) end,
        ("cache: expected layer 2 to store 3 tokens, got %d; attention must use the cache once in "
          .. "each pass, and no pass may be interrupted; make a new cache"):format(count))
    end
  end)

  it("accepts keys and values of any number of heads and features", function()
    local model = models.small()
    local cache = model:cache({ batch = 3, length = 30 }):layer(1)
    local q, k, v = roper.randn({ 3, 5, 4, 6 }), roper.randn({ 3, 5, 4, 6 }),
      roper.randn({ 3, 5, 4, 2 })
    local keys, values, how = cache:extend(k, v)
    how.causal = true
    arrays.close(roper.attention(q, k, v, { causal = true }),
      roper.attention(q, keys, values, how), 1e-6)
  end)

  it("rejects bad options", function()
    local model = models.small()
    local function refuses(options, message)
      assert.error_matches(function() model:cache(options) end, message)
    end
    refuses({ batch = 0, length = 3 }, "cache: option batch: expected .* got 0")
    refuses({ batch = 2, length = 3, lengths = { 1 } },
            "cache: lengths: expected one for each of 2 rows, got 1")
    for _, length in ipairs({ 0, -1, 4, 1.5, "2" }) do
      refuses({ batch = 2, length = 3, lengths = { 1, length } },
              "cache: lengths: expected integers from 1 to 3, got "
                .. tostring(length):gsub("%-", "%%-"))
    end
  end)
end)
