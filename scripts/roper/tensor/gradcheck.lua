--- Gradient check by central differences.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local format = require "roper.text.format"
local options_of = require "roper.options.rows"

local M = {}

local function check_tensor(value, what)
  if not format.is_tensor(value) then
    error(("gradcheck: %s: expected a tensor, got %s"):format(what, type(value)), 0)
  end
end

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

-- The largest error of the gradient of the scalar f with respect to one input, relative to the
-- largest element of that gradient or to 1, whichever is larger; NaN if an error is NaN.
local function worst_of(f, inputs, input, o)
  local gradient, flat = input.grad, input:detach():view { -1 }
  local count = flat:count()
  local scale = gradient and math.max(gradient:abs():max():item(), 1) or 1
  local analytic = gradient and gradient:contiguous():view { -1 }
  local worst = 0
  for i = 1, count, (count + o.limit - 1) // o.limit do
    local numeric = core.no_grad(difference, f, inputs, flat, i, o.step)
    local off = math.abs(numeric - (analytic and analytic[i]:item() or 0)) / scale
    if off > worst or off ~= off then
      worst = off
    end
  end
  return worst
end

local OPTIONS <const> = options_of.define("GradcheckOptions", {
  { "step", "number", 1e-5, "h in the formula" },
  { "tolerance", "number", 1e-6, "limit of the relative error" },
  { "limit", "size", 200, "maximum number of elements to check in each input" },
})

--- Compares the gradients of a function with central differences, in float64. A result that is not
--- a scalar is reduced to a weighted sum, in which each element has a different weight.
---
---     (f(x + h) − f(x − h)) / 2h
---
--- Errors: an input or a result that is not a tensor; unknown options; an error in f.
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
---@return number worst the largest error, relative to the largest gradient of its input or to 1,
---   whichever is larger
function M.gradcheck(f, inputs, options)
  arguments.check("gradcheck", "f", "callable", f)
  local o = options_of.check("gradcheck", options, OPTIONS)
  if type(inputs) ~= "table" then
    error("gradcheck: inputs: expected a list of tensors, got " .. type(inputs), 2)
  end
  local copies, weights = {}, nil
  for i, input in ipairs(inputs) do
    check_tensor(input, "inputs: element " .. i)
    if input:dtype() == "int32" then
      copies[i] = input
    else
      copies[i] = input:detach():to("float64"):clone():detach():contiguous():parameter()
    end
  end
  local function scalar(...)
    local y = f(...)
    check_tensor(y, "the result")
    if y:rank() == 0 then
      return y
    end
    if not weights then -- irrational steps: all weights are different
      weights = core.arange(1, y:count() + 1, 1, "float64"):mul(0.7548776662466927):sin()
        :add(1.5):view(y:shape())
    end
    return (y * weights):sum()
  end
  scalar(table.unpack(copies)):backward()
  local worst = 0
  for _, input in ipairs(copies) do
    if input:dtype() == "float64" and input:count() > 0 then
      local off = worst_of(scalar, copies, input, o)
      if off > worst or off ~= off then
        worst = off
      end
    end
  end
  return worst <= o.tolerance, worst
end

return M
