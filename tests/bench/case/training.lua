--- A few training steps, whose parameters are saved. Options: shape, position, steps, path.
local training = require "tests.bench.training"

return function(options)
  local run = training.new(options.shape, options.position)
  return {
    save = function()
      for _ = 1, options.steps do
        run:step()
      end
      run.model:save(options.path)
      return true
    end,
  }
end
