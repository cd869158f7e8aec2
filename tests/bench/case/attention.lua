--- Forward passes of attention ("forward"), and those with their backward passes ("both"), at many
--- lengths and with several position schemes. Options: shape, lengths, positions, causal (default
--- true). Cases: what, the scheme and the length, with blanks between.
local attention = require "roper.attention"
local core = require "roper.core"
local position = require "roper.position"
local stopwatch = require "tests.bench.stopwatch"

return function(options)
  local shape, cases = options.shape, {}
  local features = shape.d_model // shape.heads
  for _, length in ipairs(options.lengths) do
    local inputs, gradient
    for _, name in ipairs(options.positions) do
      local scheme = position.resolve(name, { dim = features, heads = shape.heads })
      local function forward()
        if not inputs then
          gradient = core.randn { shape.batch, shape.heads, length, features }
          inputs = { core.randn(gradient:shape()), core.randn(gradient:shape()),
            core.randn(gradient:shape()) }
        end
        return attention.attention(inputs[1], inputs[2], inputs[3],
          { position = scheme, causal = options.causal ~= false })
      end
      cases[("forward %s %d"):format(name, length)] = function()
        collectgarbage()
        return (stopwatch(core.no_grad, forward))
      end
      cases[("both %s %d"):format(name, length)] = function()
        collectgarbage()
        core.no_grad(forward) -- creates the inputs
        for i = 1, 3 do
          inputs[i] = inputs[i]:detach():parameter()
        end
        return (stopwatch(function() forward():backward(gradient) end))
      end
    end
  end
  return cases
end
