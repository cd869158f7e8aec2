--- Generates tokens after short prompts, with a cache of keys and values. Options: shape, batch,
--- tokens (new ones in each row). Cases: the dtype of the weights.
local core = require "roper.core"
local generate = require("roper.model.generate").generate
local stopwatch = require "tests.bench.stopwatch"
local training = require "tests.bench.training"

local PROMPT <const> = "?d=1+2;"

return function(options)
  local shape = options.shape
  core.seed(1)
  local task = require("roper.tasks").addition { length = 64, seed = 1 }
  local model = training.model(shape, task:vocabulary(), "rope")
  local prompts = {}
  for i = 1, options.batch do
    prompts[i] = PROMPT
  end
  -- Seconds for all tokens.
  local function seconds(weights)
    return (stopwatch(generate, model, prompts, { task = task, stop = false,
      limit = options.tokens, seed = 1, weights = weights }))
  end

  return {
    float32 = function() return seconds "float32" end,
    bfloat16 = function() return seconds "bfloat16" end,
    --- The number of parameters.
    count = function()
      local count = 0
      for _, parameter in pairs(model:parameters()) do
        count = count + parameter:count()
      end
      return count
    end,
  }
end
