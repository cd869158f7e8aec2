--- Training steps, one case for each position scheme. Options: shape, positions.
local stopwatch = require "tests.bench.stopwatch"
local training = require "tests.bench.training"

return function(options)
  local cases = {}
  for _, position in ipairs(options.positions) do
    local run = training.new(options.shape, position)
    cases[position] = function()
      return (stopwatch(run.step, run))
    end
    cases.count = function()
      return run.model:count()
    end
  end
  return cases
end
