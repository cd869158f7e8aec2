--- Training steps, one case for each position scheme: seconds a step, of `shape.steps` in a row.
--- Options: shape, positions.
local stopwatch = require "tests.bench.stopwatch"
local training = require "tests.bench.training"

return function(options)
  local cases = {}
  for _, position in ipairs(options.positions) do
    local run, steps = training.new(options.shape, position), options.shape.steps or 1
    cases[position] = function()
      return stopwatch(function()
        for _ = 1, steps do
          run:step()
        end
      end) / steps
    end
    cases.count = function()
      return run.model:count()
    end
  end
  return cases
end
