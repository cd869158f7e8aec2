--- The rounding check: compares both sides on random tensors in float32 and float64, computed with
--- the library's own rotation.
local core = require "roper.core"
local merged = require("roper.base.tables").merged
local statement = require "roper.identity.statement"
local tensors = require "roper.identity.tensors"

local M = {}

--- Largest residual of an identity that holds, relative to the scale of the sums.
M.TOLERANCE = { float32 = 1e-5, float64 = 1e-13 }

local LARGEST_SCALE <const> = 1e38 -- of sums; the largest float32 is 3.4e38

local LARGEST_ANGLE <const> = 100 -- standard deviation of angles, in radians

local FRACTION <const> = 256 -- fractional positions are multiples of 1/256, so sums are exact

--- The shapes tried by the check.
M.SHAPES = {
  { positions = "0 to 640", from = 0, to = 640, unit = 1, terms = 1, width = 2, base = 10000,
    pairing = "half" },
  { positions = "-640 to 640", from = -640, to = 640, unit = 1, terms = 7, width = 8, base = 100,
    pairing = "interleaved" },
  { positions = "-40 to 40, fractions", from = -40, to = 40, unit = FRACTION, terms = 64,
    width = 64, base = 10000, pairing = "half" },
  { positions = "0 to 131072, fractions", from = 0, to = 131072, unit = FRACTION, terms = 33,
    width = 128, base = 500000, pairing = "interleaved" },
}

-- Returns random numbers of magnitude 1 to 2 and random sign, so no product of them is
-- negligibly small.
local function draw_numbers(shape)
  local x, signs = core.rand(shape, "float64") + 1, core.randint(0, 1, shape)
  return x * (2 * signs:to "float64" - 1)
end

-- Returns random values of all variables, in float64.
local function draw(variables, shape)
  local values = { terms = shape.terms }
  for _, v in ipairs(variables) do
    local count = v.is_many and shape.terms or 1
    if v.kind == "position" then
      local numerators = core.randint(shape.from * shape.unit, shape.to * shape.unit, { count })
      values[v.name] = (numerators:to "float64" / shape.unit):totable()
    elseif v.kind == "angle" then -- in a table, because angles stay in float64
      values[v.name] = { core.randn({ count, shape.width // 2 }, "float64") * LARGEST_ANGLE }
    else
      values[v.name] = draw_numbers { count, v.kind == "number" and 1 or shape.width,
        v.kind == "matrix" and shape.width or 1 }
    end
  end
  return values
end

-- For each side but the first, returns the scale of its sums plus that of the first.
local function scales_of(sides, shape, values)
  local results, sums = statement.evaluate(sides, tensors.scales(shape, values)), {}
  for i = 2, #results do
    local sum = results[1] + results[i]
    local most = sum:max():item()
    local is_finite = most < LARGEST_SCALE
    if not is_finite then
      error(("identity: too large for float32: expected sums below %.0e, got up to %.1e"):format(
        LARGEST_SCALE, most), 0)
    end
    sums[i] = sum:maximum(1) -- a scale of 0, of sides that are 0, becomes 1
  end
  return sums
end

-- Returns the residual of one random draw in a dtype; NaN counts as infinity.
local function residual(sides, shape, values, sums, dtype)
  local converted = {}
  for name, value in pairs(values) do
    converted[name] = type(value) == "userdata" and value:to(dtype) or value
  end
  local results = statement.evaluate(sides, tensors.new(dtype, shape, converted))
  local worst = 0
  for i = 2, #results do
    local off = ((results[1] - results[i]):abs():to "float64" / sums[i]):max():item()
    worst = math.max(worst, off == off and off or math.huge)
  end
  return worst
end

--- Returns the residuals in both dtypes for each shape.
---@return table[] rows the fields of a shape, with float32 and float64
---@return number float32 the largest
---@return number float64
function M.table(sides, variables)
  local rows, float32, float64 = {}, 0, 0
  for i, shape in ipairs(M.SHAPES) do
    local values = draw(variables, shape)
    local sums = scales_of(sides, shape, values)
    local row = merged(shape, { float32 = residual(sides, shape, values, sums, "float32"),
      float64 = residual(sides, shape, values, sums, "float64") })
    rows[i], float32, float64 = row, math.max(float32, row.float32), math.max(float64, row.float64)
  end
  return rows, float32, float64
end

return M
