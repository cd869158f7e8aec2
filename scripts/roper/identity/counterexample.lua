--- Searches for the smallest values at which the sides of a false identity differ.
local exact = require "roper.identity.exact"
local grid = require "roper.identity.grid"
local ring = require "roper.identity.ring"
local statement = require "roper.identity.statement"
local tables = require "roper.base.tables"

local M = {}

local MOST_TRIED <const> = 4000 -- maximum number of lists of numbers to try for each shape
local LARGEST_SUM <const> = 12
local BASE <const> = 10000

-- Calls `visit` with each list of `count` non-negative integers, in order of their sum, until it
-- returns true or was called MOST_TRIED times. The last numbers grow first.
local function enumerate(count, visit)
  local tried, found = 0, false
  local list = {}
  local function fill(i, rest)
    if i == count then
      list[i] = rest
      tried = tried + 1
      found = visit(list)
      return
    end
    for first = 0, rest do
      list[i] = first
      fill(i + 1, rest - first)
      if found or tried >= MOST_TRIED then
        return
      end
    end
  end
  if count == 0 then
    visit {}
    return
  end
  for sum = 0, LARGEST_SUM do
    if found or tried >= MOST_TRIED then
      return
    end
    fill(1, sum)
  end
end

-- Returns the number of elements of all variables.
local function count_numbers(variables, terms, pairs)
  local count = 0
  exact.values(variables, terms, pairs, function() count = count + 1 end,
    function(_, pair) count = count + (pair == 1 and 1 or 0) end)
  return count - 1 -- position 1 is not free
end

-- Assigns a list of numbers to the variables. Returns the values for a grid, in which pair t, from
-- 0, has the frequency base^(-t/pairs), and the numbers by name.
local function assign(variables, terms, pairs, numbers)
  local next_number, named = 0, {}
  local function take(name)
    next_number = next_number + 1
    local list = named[name] or {}
    named[name] = list
    list[#list + 1] = numbers[next_number]
    return numbers[next_number]
  end
  local here
  local function element(name)
    return ring.real.number(take(name))
  end
  local values = exact.values(variables, terms, pairs, element, function(name, pair)
    if name == "1" then
      here = 1
    elseif pair == 1 then
      here = take(name)
    end
    local theta = BASE ^ (-(pair - 1) / pairs)
    return here * theta, here * theta ^ 2
  end)
  return values, named
end

-- Returns the first element in which a side differs from the first by more than rounding, and the
-- index of that side.
local function difference(results)
  local left = results[1]
  for i = 2, #results do
    for j, right in ipairs(results[i]) do
      local size = left[j].size + right.size
      if math.abs(left[j].value - right.value) > 1e-12 * size then
        return left[j].value, right.value, i
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

--- Searches for a counterexample among small integers: one term before two, one pair before
--- two, small sums before large ones.
---@param sides table[]
---@param variables table[]
---@param refuted ExactResult that refuted the equation; with fewer terms or pairs it is true
---@return {values: string, left: number, right: number, side: integer}? found nil if there is none
---   among the values tried; side: index of the side that differs from the first
function M.find(sides, variables, refuted)
  local has_terms, has_pairs = false, false
  for _, v in ipairs(variables) do
    has_terms = has_terms or v.is_many
    has_pairs = has_pairs or v.kind ~= "number"
  end
  for pairs = refuted.pairs, math.max(refuted.pairs, has_pairs and 2 or 1) do
    for terms = refuted.terms, math.max(refuted.terms, has_terms and 2 or 1) do
      local found
      enumerate(count_numbers(variables, terms, pairs), function(numbers)
        local values, named = assign(variables, terms, pairs, numbers)
        local left, right, side = difference(statement.evaluate(sides,
          grid.new(ring.real, pairs, values)))
        found = left and { values = render(variables, named), left = left, right = right,
          side = side }
        return found ~= nil
      end)
      if found then
        return found
      end
    end
  end
end

return M
