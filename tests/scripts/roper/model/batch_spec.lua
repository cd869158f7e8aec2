-- A completion depends on its own prompt alone, whatever else is in the batch.

local cases = require("roper.model.battery.case")
local generate = require("roper.model.generate")
local models = require("tests.models")
local positions = require("tests.positions")
local roper = require("roper")
local stdout = require("tests.stdout")

local LIMIT <const> = 5
local LENGTHS <const> = { 4, 9, 13, 20 } -- below and above the trained length
local TRAINED_LENGTH <const> = 10

-- The greedy completions of prompts, and the logits of each step, [prompts, vocabulary].
local function completed(model, task, prompts, cache)
  local sample, logits = generate.sample, {}
  generate.sample = function(given, temperature)
    logits[#logits + 1] = given
    return sample(given, temperature)
  end
  local texts
  local ok, message = pcall(stdout.capture_errors, function()
    texts = roper.generate(model, prompts, { task = task, limit = LIMIT, temperature = 0,
      stop = false, cache = cache })
  end)
  generate.sample = sample
  assert(ok, message)
  return texts, logits
end

-- Compares the completions of a batch with those of each prompt alone, with the cache and without.
local function assert_alone(model, task, prompts)
  for _, cache in ipairs({ true, false }) do
    local texts, logits = completed(model, task, prompts, cache)
    for row, prompt in ipairs(prompts) do
      local alone, expected = completed(model, task, { prompt }, cache)
      local where = ("prompt %d, %s"):format(row, cache and "cache" or "no cache")
      assert.equal(alone[1], texts[row], where)
      assert.equal(LIMIT, #expected)
      for step = 1, LIMIT do
        local largest = expected[step]:abs():max():item()
        local off = models.difference(expected[step], logits[step]:narrow(1, row, 1))
        assert.is_true(off < 1e-5 * largest, ("%s, step %d: off by %g of %g"):format(where, step,
          off, largest))
      end
    end
  end
end

-- The bias depends on the length of each row.
roper.position.register("batch_spec_by_length", {
  bias = function(_, q, _, places)
    return (places:distances() / places:lengths():view({ -1, 1, 1, 1 })):to(q:dtype())
  end })

roper.position.register("batch_spec_kept", { state = { "step" },
  bias = function(self, q, _, places, x)
    local sums = places:accumulate(self, "step", x, function() return x:mean(3) end)
    return sums:to(q:dtype()):view({ -1, 1, 1, places.keys })
  end })

describe("a completion does not depend on the other prompts of its batch", function()
  for _, name in ipairs(roper.position.list()) do
    it("with " .. name, function()
      local position = { type = name }
      if roper.position.takes(name).trained_length then
        position.trained_length = TRAINED_LENGTH
      end
      local model = cases.stir(models.small({ position = position, length = 40, dropout = 0 }),
        "float32")
      local letters, prompts = models.task():vocabulary(), {}
      for row, length in ipairs(LENGTHS) do
        local words = {}
        for i = 1, length do
          words[i] = letters[(i * i + row) % #letters + 1]
        end
        prompts[row] = table.concat(words)
      end
      assert_alone(model, models.task(), prompts)
    end)
  end

  for _, name in ipairs(positions.names("tests/fixtures/published", ".safetensors")) do
    it("with the imported model " .. name, function()
      local model, task = roper.import("tests/fixtures/published/" .. name)
      local prompts = {}
      for row, length in ipairs(LENGTHS) do
        local words = {}
        for i = 1, length do
          words[i] = (i * i + row) % 13
        end
        prompts[row] = table.concat(words, " ")
      end
      assert_alone(model, task, prompts)
    end)
  end
end)
