-- Checks gradients against central differences, for inputs of every memory layout.

local roper = require("roper")

local M = {}

local function with(shape, axis, size)
  local result = table.move(shape, 1, #shape, 1, {})
  result[axis] = size
  return result
end

-- For each layout: the stored shape, and the view that has the requested shape.
local layouts = {
  {
    name = "packed",
    stored = function(shape) return shape end,
    view = function(x) return x end,
  },
  {
    name = "transposed",
    stored = function(shape)
      local rank = #shape
      return rank < 2 and shape or with(with(shape, rank, shape[rank - 1]), rank - 1, shape[rank])
    end,
    view = function(x) return x:rank() < 2 and x or x:transpose(-1, -2) end,
  },
  {
    name = "every other",
    stored = function(shape)
      local stored = table.move(shape, 1, #shape, 1, {})
      stored[#stored + 1] = 2
      return stored
    end,
    view = function(x) return x:narrow(-1, 2, 1):squeeze(-1) end,
  },
  {
    name = "narrowed",
    stored = function(shape)
      return #shape == 0 and shape or with(shape, #shape, shape[#shape] + 2)
    end,
    view = function(x) return x:rank() == 0 and x or x:narrow(-1, 2, x:size(-1) - 2) end,
  },
  {
    name = "expanded",
    stored = function(shape)
      return (#shape == 0 or shape[1] == 0) and shape or with(shape, 1, 1)
    end,
    view = function(x, shape) return #shape == 0 and x or x:expand(shape) end,
  },
}

--- roper.gradcheck with one thread: more are slower for inputs this small.
local function gradcheck(f, inputs, options)
  local threads = roper.threads()
  roper.threads(1)
  local ran, ok, worst = pcall(roper.gradcheck, f, inputs, options)
  roper.threads(threads)
  if not ran then
    error(ok, 0)
  end
  return ok, worst
end

--- Check f at random inputs of the given shapes, each packed, transposed, strided, narrowed and
--- expanded.
---@param f fun(...): userdata
---@param shapes integer[][]
---@param options table? domain: fun(x) maps normal numbers to where f is smooth; layouts = false
--- checks only packed inputs; step, tolerance as for roper.gradcheck
function M.check(f, shapes, options)
  options = options or {}
  for _, layout in ipairs(layouts) do
    local inputs = {}
    for i, shape in ipairs(shapes) do
      local x = roper.randn(layout.stored(shape), "float64")
      inputs[i] = options.domain and options.domain(x) or x
    end
    local function of_views(...)
      local views = { ... }
      for i, shape in ipairs(shapes) do
        views[i] = layout.view(views[i], shape)
      end
      return f(table.unpack(views))
    end
    local ok, worst = gradcheck(of_views, inputs,
      { step = options.step, tolerance = options.tolerance })
    if not ok then
      error(("gradcheck, %s inputs: relative error %g"):format(layout.name, worst), 2)
    end
    if options.layouts == false then
      return
    end
  end
end

return M
