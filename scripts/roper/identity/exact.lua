--- The exact check. Both sides of an identity of rotations are polynomials in the variables and in
--- the cosine and sine of each position's angle, and all that is true of a cosine and sine is
--- c^2 + s^2 = 1. So these are replaced by random points of that circle over a prime field, the
--- variables by random elements, and both sides compared without rounding.
---
--- A polynomial of degree D that is not zero on the circles is zero for at most 2D of each P points
--- (Schwartz-Zippel; with z = c + is a circle is a line of which z and 1/z count, hence the 2). So
--- a false identity passes N independent trials with probability at most (2D/P)^N.
---
--- Positions are real numbers and theta is any speed, so the angles n theta and n theta^2 are as
--- independent as those of two positions (where theta is irrational, they come as close as you like
--- to every pair of angles while n runs): each has a point of its own.
local angles = require "roper.identity.angle"
local core = require "roper.core"
local grid = require "roper.identity.grid"
local ring = require "roper.identity.ring"
local statement = require "roper.identity.statement"

local M = {}

--- The probability that a false identity passes is kept below this.
M.BOUND = 1e-50

-- Terms of a sum and pairs of a vector: enough for each to differ from its neighbours.
local TERMS <const>, PAIRS <const> = 3, 2

--- Values of all variables, from functions that make one.
---@param variables table[]
---@param terms integer
---@param pairs integer
---@param element fun(name: string): any
---@param angle fun(name: string, pair: integer): any, any of a position, and of it times theta
---@return table values for a grid
function M.values(variables, terms, pairs, element, angle)
  local values = { terms = terms }
  local function position(name, count)
    local plain, slowed = {}, {}
    for term = 1, count do
      plain[term], slowed[term] = {}, {}
      for pair = 1, pairs do
        plain[term][pair], slowed[term][pair] = angle(name, pair)
      end
    end
    values[name], values[name .. angles.SLOWED] = plain, slowed
  end
  position("1", 1)
  for _, v in ipairs(variables) do
    local count = v.is_many and terms or 1
    if v.kind == "position" then
      position(v.name, count)
    else
      values[v.name] = grid.fill(count, v.kind == "number" and 1 or 2 * pairs,
        v.kind == "matrix" and 2 * pairs or 1, function() return element(v.name) end)
    end
  end
  return values
end

--- What kind of polynomial the difference of the sides is.
---@param sides table[]
---@param variables table[]
---@return Measure
function M.measure(sides, variables)
  local function variable()
    return ring.measure.variable, ring.measure.variable
  end
  local values = M.values(variables, TERMS, PAIRS, variable, variable)
  local results = statement.evaluate(sides, variables, grid.new(ring.measure, PAIRS, values))
  local whole
  for _, result in ipairs(results) do
    for _, measure in ipairs(result.data) do
      whole = { degree = math.max(measure.degree, whole and whole.degree or 0),
        turns = math.max(measure.turns, whole and whole.turns or 0),
        size = math.max(measure.size, whole and whole.size or 0) }
    end
  end
  return whole
end

-- Are the results the same, element for element?
local function agree(results)
  for i = 2, #results do
    for j = 1, math.max(#results[1].data, #results[i].data) do
      if results[1].data[j] ~= results[i].data[j] then
        return false
      end
    end
  end
  return true
end

local function draw()
  return core.randint(0, ring.PRIME - 1, { 1 }):item()
end

local function draw_points()
  return ring.point(draw()), ring.point(draw())
end

--- Decide an identity.
---@param sides table[]
---@param variables table[]
---@return {holds: boolean, degree: integer, prime: integer, trials: integer, bound: number} result
---   bound: of the probability that a false identity passed; trials: made, up to the first that
---   told the sides apart
function M.check(sides, variables)
  local measure = M.measure(sides, variables)
  -- With its coefficients below P, what is not zero is not zero in the field.
  if 2 * measure.size * 2.0 ^ measure.turns >= ring.PRIME then
    error(("identity: too large for the exact check: %d cosines and sines in a product, "
      .. "coefficients up to %.0f"):format(measure.turns, measure.size), 0)
  end
  local chance = 2 * math.max(measure.degree, 1) / ring.PRIME
  if chance > 0.01 then
    error(("identity: too large for the exact check: degree %d"):format(measure.degree), 0)
  end
  local trials = math.ceil(math.log(M.BOUND) / math.log(chance))
  local result = { holds = true, degree = measure.degree, prime = ring.PRIME, trials = trials,
    bound = chance ^ trials }
  for trial = 1, trials do
    local values = M.values(variables, TERMS, PAIRS, draw, draw_points)
    local algebra = grid.new(ring.field, PAIRS, values)
    if not agree(statement.evaluate(sides, variables, algebra)) then
      result.holds, result.trials = false, trial
      break
    end
  end
  return result
end

return M
