--- Gradients against central differences.
local core = require "roper.core"

local M = {}

-- The derivative of the scalar f with respect to element i of x, by central differences.
local function difference(f, inputs, flat, i, step)
  local at = flat[i]:item()
  flat[i] = at + step
  local above = f(table.unpack(inputs)):item()
  flat[i] = at - step
  local below = f(table.unpack(inputs)):item()
  flat[i] = at
  return (above - below) / (2 * step)
end

---@class GradcheckOptions
---@field step? number = 1e-5; h
---@field tolerance? number = 1e-6; relative
---@field most? integer = 200; elements of an input that are tried

--- Compare the gradients of a function with central differences, in float64. A result that is not
--- a scalar is reduced with fixed random weights, so that no element can hide.
---
---     (f(x + h) − f(x − h)) / 2h
---
--- Errors: other options; what f refuses.
---
---     > x = roper.randn{2, 3}
---     > (roper.gradcheck(roper.softmax, {x}))
---     true
---     > (roper.gradcheck(function(x) return x:detach() * x end, {x}))
---     false
---@param f fun(...: tensor): tensor
---@param inputs tensor[] copied to float64; int32 ones are passed on and not differentiated
---@param options? GradcheckOptions
---@return boolean holds are all errors within the tolerance?
---@return number worst the largest error, relative to the largest gradient of its input, or to 1
function M.gradcheck(f, inputs, options)
  options = options or {}
  for name in pairs(options) do
    if name ~= "step" and name ~= "tolerance" and name ~= "most" then
      error("gradcheck: unknown option " .. tostring(name)
        .. "; it takes step, tolerance, most", 2)
    end
  end
  local step, tolerance = options.step or 1e-5, options.tolerance or 1e-6
  local copies, weights = {}, nil
  for i, input in ipairs(inputs) do
    if input:dtype() == "int32" then
      copies[i] = input
    else
      copies[i] = input:detach():to("float64"):clone():detach():contiguous():parameter()
    end
  end
  local function scalar(...)
    local y = f(...)
    if y:rank() == 0 then
      return y
    end
    if not weights then -- irrational steps: no two elements weigh the same
      weights = core.arange(1, y:count() + 1, 1, "float64"):mul(0.7548776662466927):sin()
        :add(1.5):view(y:shape())
    end
    return (y * weights):sum()
  end
  scalar(table.unpack(copies)):backward()
  local worst = 0
  for _, input in ipairs(copies) do
    if input:dtype() == "float64" and input:count() > 0 then
      local gradient = input.grad
      local flat = input:detach():view { -1 }
      local count = flat:count()
      local stride = math.max(1, count // (options.most or 200))
      local scale = gradient and math.max(gradient:abs():max():item(), 1) or 1
      local analytic = gradient and gradient:contiguous():view { -1 }
      for i = 1, count, stride do
        local numeric = core.no_grad(difference, scalar, copies, flat, i, step)
        local error_here = math.abs(numeric - (analytic and analytic[i]:item() or 0)) / scale
        if error_here > worst or error_here ~= error_here then
          worst = error_here
        end
      end
    end
  end
  return worst <= tolerance, worst
end

return M
