--- The bound: a product of large square float32 matrices. Options: size.
local core = require "roper.core"
local stopwatch = require "tests.bench.stopwatch"

return function(options)
  local a = core.randn { options.size, options.size }
  return {
    product = function()
      collectgarbage()
      return (stopwatch(core.matmul, a, a))
    end,
  }
end
