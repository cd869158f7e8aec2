--- Forward and backward passes of linear attention, and of attention beside it, causal, with
--- RoPER. Options: shape, lengths. Cases: the name of the operation, a blank, the length.
local core = require "roper.core"
local position = require "roper.position"
local stopwatch = require "tests.bench.stopwatch"

return function(options)
  local shape = options.shape
  local features = shape.d_model // shape.heads
  local scheme = position.resolve("roper", features)
  local cases = {}
  for _, length in ipairs(options.lengths) do
    local inputs = {}
    for i = 1, 3 do -- with the memory layout of projections
      inputs[i] = core.randn({ shape.batch, length, shape.heads, features }):transpose(2, 3)
        :parameter()
    end
    local gradient = core.randn { shape.batch, shape.heads, length, features }
    for _, name in ipairs { "linear_attention", "attention" } do
      cases[name .. " " .. length] = function()
        collectgarbage()
        local seconds = stopwatch(function()
          core[name](inputs[1], inputs[2], inputs[3], { position = scheme, causal = true })
            :backward(gradient)
        end)
        for _, input in ipairs(inputs) do
          input.grad = nil
        end
        return seconds
      end
    end
  end
  return cases
end
