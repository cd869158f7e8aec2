--- Samples answers to addition problems, all rows at once, for the length of the longest correct
--- answer: the model is not trained and does not stop by itself. Options: shape, problems.
local core = require "roper.core"
local generate = require("roper.model.generate").generate
local stopwatch = require "tests.bench.stopwatch"
local training = require "tests.bench.training"

-- Simpson's rule, which is exact for quadratic functions such as the cost of attention.
local function integrate(f, length)
  return length / 6 * (f(0) + 4 * f(length // 2) + f(length))
end

return function(options)
  local shape = options.shape
  core.seed(1)
  local task = require("roper.tasks").addition { length = 64, seed = 1 }
  local model = training.model(shape, task:vocabulary(), "roper")
  local questions, texts, most = {}, {}, 0
  for i = 1, options.problems do
    local question, answer = task:question()
    questions[i] = question
    texts[i] = question .. answer:rep(256 // #answer + 1) -- text enough for any prefix
    most = math.max(most, #answer)
  end

  -- Seconds to sample `count` tokens per row after `given` characters beyond the questions.
  local function sample(given, count, has_cache)
    local prompts = {}
    for i, question in ipairs(questions) do
      prompts[i] = texts[i]:sub(1, #question + given)
    end
    return (stopwatch(generate, model, prompts, { task = task, stop = false, limit = count,
      seed = 1, cache = has_cache }))
  end

  return {
    --- The number of tokens, and seconds with the cache.
    cached = function()
      return { tokens = #questions * most, seconds = sample(0, most, true) }
    end,
    --- Seconds with a full forward pass per token, integrated from the cost at three lengths.
    full = function()
      return { tokens = #questions * most, seconds = integrate(function(given)
        return sample(given, 1, false)
      end, most) }
    end,
  }
end
