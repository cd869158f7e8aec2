--- Reads memory: the sum of a tensor that is larger than the caches. Option: bytes.
local core = require "roper.core"
local stopwatch = require "tests.bench.stopwatch"

return function(options)
  local x = core.ones { options.bytes // 4 }
  return {
    read = function()
      return (stopwatch(x.sum, x))
    end,
  }
end
