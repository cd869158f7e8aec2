--- The exact check of an identity. Both sides of an identity of rotations are polynomials in the
--- variables and in the cosine and sine of each position's angle. The only polynomial relation
--- between a cosine and its sine is c^2 + s^2 = 1. The check therefore replaces cosines and sines
--- by random points of this circle over a prime field, and variables by random elements of the
--- field, and compares both sides without rounding.
---
--- A polynomial of degree D that is not zero on the circles is zero at no more than 2D of P points
--- (Schwartz-Zippel; the factor 2 arises because, with z = c + is, the circle becomes a line and a
--- polynomial has powers of both z and 1/z). So a false identity passes N independent trials with
--- probability at most (2D/P)^N.
---
--- Positions are real numbers and theta is any frequency, so the angles n theta and n theta^2 are
--- as independent as those of two positions (if theta is irrational, they come arbitrarily close to
--- every pair of angles as n varies). Each angle has its own random point. So has each
--- pair: what holds for positions also holds for angles that differ between pairs in any way.
---
--- An equation makes a claim for any number of terms and of pairs. If at most S sums over the terms
--- are multiplied with each other, each resulting product involves at most S terms. By inclusion
--- and exclusion, the value for many terms follows from the values for S terms and fewer. So an
--- equation that is true for 1, 2, ... S + 1 terms is true for any number. The same applies to
--- pairs, over which matrix products sum; an element of a matrix belongs to two pairs, so one more
--- is needed.
local angles = require "roper.identity.angle"
local core = require "roper.core"
local grid = require "roper.identity.grid"
local ring = require "roper.identity.ring"
local statement = require "roper.identity.statement"

local M = {}

--- Upper bound of the probability that a false identity passes.
M.BOUND = 1e-50

-- Maximum number of sums, or matrix products, multiplied with each other; more would take too long.
local MOST_SUMS <const> = 9

local MOST_DEGREE <const> = ring.PRIME // 200 -- a false identity then passes 1 trial in 100 at most

--- Creates values of all variables for a grid.
---@param variables table[]
---@param terms integer
---@param pairs integer
---@param element fun(name: string): any returns an element of a number, vector or matrix
---@param angle fun(name: string, pair: integer): any, any returns the angles of a position and of
---   this position times theta
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
    if v.kind == "position" or v.kind == "angle" then
      position(v.name, count)
    else
      values[v.name] = grid.fill(count, v.kind == "number" and 1 or 2 * pairs,
        v.kind == "matrix" and 2 * pairs or 1, function() return element(v.name) end)
    end
  end
  return values
end

-- Returns upper bounds for the sides as polynomials: their degree, the number of cosines and sines
-- in a product, and the size of the coefficients.
local function measure(sides, variables, terms, pairs)
  local function variable()
    return ring.measure.variable, ring.measure.variable
  end
  local values = M.values(variables, terms, pairs, variable, variable)
  local whole = { degree = 1.0, turns = 0.0, size = 0.0 }
  for _, result in ipairs(statement.evaluate(sides, grid.new(ring.measure, pairs, values))) do
    for _, found in ipairs(result) do
      whole.degree = math.max(found.degree, whole.degree)
      whole.turns = math.max(found.turns, whole.turns)
      whole.size = found.size < whole.size and whole.size or found.size -- keeps NaN
    end
  end
  return whole
end

-- Returns the numbers of terms and of pairs up to which an equation must be tried.
local function counts(sides)
  local sums, contractions = 0, 0
  for _, side in ipairs(sides) do
    sums = math.max(sums, side.value.sums)
    contractions = math.max(contractions, side.value.contractions)
  end
  if math.max(sums, contractions) > MOST_SUMS then
    error(("identity: too large for the exact check: expected at most %d sums in a product, "
      .. "got %.0f"):format(MOST_SUMS, math.max(sums, contractions)), 0)
  end
  return sums + 1, contractions + (sides[1].value.kind == "matrix" and 2 or 1)
end

-- Returns true if all results are equal in every element.
local function agree(results)
  for i = 2, #results do
    for j = 1, math.max(#results[1], #results[i]) do
      if results[1][j] ~= results[i][j] then
        return false
      end
    end
  end
  return true
end

local function draw()
  return core.randint(0, ring.PRIME - 1, { 1 }):item()
end

--- Returns true if the sides agree in a random trial.
---@param is_unit? boolean is theta 1? Then a position has the same angle times theta.
---@return boolean
function M.try(sides, variables, terms, pairs, is_unit)
  local values = M.values(variables, terms, pairs, draw, function()
    local plain = ring.point(draw())
    return plain, is_unit and plain or ring.point(draw())
  end)
  return agree(statement.evaluate(sides, grid.new(ring.field, pairs, values)))
end

---@class ExactResult
---@field holds boolean
---@field degree integer of the polynomials
---@field prime integer
---@field terms integer of sums: the check passed for all numbers up to this, or failed first for
---   this
---@field pairs integer of vectors: likewise
---@field trials integer for each of these; if the identity failed, the number of the trial in which
---   the sides differed
---@field bound number upper bound of the probability that a false identity passes

--- Decides whether an identity holds.
---@return ExactResult result
function M.check(sides, variables)
  local most_terms, most_pairs = counts(sides)
  local found = measure(sides, variables, most_terms, most_pairs)
  -- If the coefficients are below P, a nonzero polynomial is also nonzero in the field.
  local is_faithful = 2 * found.size * 2.0 ^ found.turns < ring.PRIME
  if not is_faithful then
    error(("identity: too large for the exact check: expected c * 2^n below 2^30 for coefficients "
      .. "up to c and n cosines and sines in a product, got c = %.0f, n = %.0f"):format(found.size,
      found.turns), 0)
  end
  if found.degree > MOST_DEGREE then
    error(("identity: too large for the exact check: expected a degree of at most %d, got "
      .. "%.0f"):format(MOST_DEGREE, found.degree), 0)
  end
  local chance = 2 * found.degree / ring.PRIME
  local trials = math.ceil(math.log(M.BOUND) / math.log(chance))
  local result = { holds = true, degree = math.tointeger(found.degree), prime = ring.PRIME,
    terms = most_terms, pairs = most_pairs, trials = trials, bound = chance ^ trials }
  for pairs = 1, most_pairs do
    for terms = 1, most_terms do
      for trial = 1, trials do
        if not M.try(sides, variables, terms, pairs) then
          result.holds, result.terms, result.pairs, result.trials = false, terms, pairs, trial
          return result
        end
      end
    end
  end
  return result
end

return M
