--- The bound: a large product of square matrices of float32. Options: size.
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
