--- Searches for the smallest values at which the sides of a false identity differ.
local exact = require "roper.identity.exact"
local grid = require "roper.identity.grid"
local ring = require "roper.identity.ring"
local statement = require "roper.identity.statement"
local tables = require "roper.base.tables"
local with_seed = require("roper.base.scoped").with_seed

local M = {}

local MOST_TRIED <const> = 4000 -- maximum number of lists of numbers to try for each shape
local LARGEST_SUM <const> = 12
local BASE <const> = 10000

-- Iterates over lists of `count` non-negative integers in order of their sum, MOST_TRIED at most.
-- The last numbers grow first.
local function lists(count)
  local list, tried = {}, 0
  local function fill(i, rest)
    if i >= count then
      list[i], tried = rest, tried + 1
      coroutine.yield(tried <= MOST_TRIED and list or nil) -- nil ends the loop of the caller
      return
    end
    for first = 0, rest do
      list[i] = first
      fill(i + 1, rest - first)
    end
  end
  return coroutine.wrap(function()
    for sum = 0, count > 0 and LARGEST_SUM or 0 do
      fill(1, sum)
    end
  end)
end

-- Assigns numbers to the variables. Returns the values for a grid, in which pair t, from 0, has the
-- frequency base^(-t/pairs), and the numbers by name.
local function assign(variables, terms, pairs, next_number)
  local named, here = {}, nil
  local function take(name)
    local list = named[name] or {}
    named[name], list[#list + 1] = list, next_number()
    return list[#list]
  end
  local function element(name)
    return ring.real.number(take(name))
  end
  local is_angle = {}
  for _, v in ipairs(variables) do
    is_angle[v.name] = v.kind == "angle"
  end
  local values = exact.values(variables, terms, pairs, element, function(name, pair)
    if is_angle[name] then
      return take(name)
    elseif pair == 1 then
      here = name == "1" and 1 or take(name)
    end
    local theta = BASE ^ (-(pair - 1) / pairs)
    return here * theta, here * theta ^ 2
  end)
  return values, named
end

-- Returns the number of numbers that `assign` takes.
local function count_numbers(variables, terms, pairs)
  local count = 0
  assign(variables, terms, pairs, function()
    count = count + 1
    return 0
  end)
  return count
end

-- Returns the first element in which a side differs from the first by more than rounding.
local function difference(results)
  local left = results[1]
  for i = 2, #results do
    for j, right in ipairs(results[i]) do
      local size = left[j].size + right.size
      if math.abs(left[j].value - right.value) > 1e-12 * size then
        return left[j].value, right.value
      end
    end
  end
end

-- Formats values: "x = (1, 0)".
local function render(variables, named)
  local parts = {}
  for i, v in ipairs(variables) do
    local list = tables.map(named[v.name], function(number) return ("%g"):format(number) end)
    local text = table.concat(list, ", ")
    parts[i] = ("%s = %s"):format(v.name, #list > 1 and "(" .. text .. ")" or text)
  end
  return table.concat(parts, ", ")
end

-- Returns true if values of a shape may be a counterexample. Theta is 1 for the only pair of a
-- vector; sides that agree then have none.
local function may_differ(sides, variables, terms, pairs)
  return pairs > 1 or not with_seed(1, function()
    return exact.try(sides, variables, terms, pairs, true)
  end)
end

--- Searches for a counterexample among small integers: one term before two, one pair before
--- two, small sums before large ones.
---@param refuted ExactResult that refuted the equation; with fewer terms or pairs it is true
---@return {values: string, left: number, right: number}? found nil if there is none among the
---   values tried
function M.find(sides, variables, refuted)
  local has_terms, has_pairs = false, false
  for _, v in ipairs(variables) do
    has_terms = has_terms or v.is_many
    has_pairs = has_pairs or v.kind ~= "number"
  end
  for pairs = refuted.pairs, math.max(refuted.pairs, has_pairs and 2 or 1) do
    for terms = refuted.terms, math.max(refuted.terms, has_terms and 2 or 1) do
      local count = may_differ(sides, variables, terms, pairs)
        and count_numbers(variables, terms, pairs)
      for numbers in count and lists(count) or function() end do
        local i = 0
        local values, named = assign(variables, terms, pairs, function()
          i = i + 1
          return numbers[i]
        end)
        local left, right = difference(statement.evaluate(sides,
          grid.new(ring.real, pairs, values)))
        if left then
          return { values = render(variables, named), left = left, right = right }
        end
      end
    end
  end
end

return M
