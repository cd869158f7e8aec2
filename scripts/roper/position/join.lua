--- Combinations of position schemes: "rope+alibi" rotates queries and keys and adds a bias.
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"

local M = {}

-- The rotation of "q", "k", "v" or "o" by a part; nil if it has none.
local function turns_of(part, letter, positions, x)
  if schemes.is_rotary(part) then
    return part:options().rotate:find(letter, 1, true) and part or nil
  end
  return part.turns and part:turns(letter, positions, x)
end

local function name_of(part)
  return schemes.is_rotary(part) and "rotary" or part.name
end

local function each(parts, method)
  return tables.map(parts, function(part)
    return not schemes.is_rotary(part) and part[method] and part or nil
  end)
end

-- Raises an error: two parts do the same.
local function refuse(one, other, what)
  error(("position: %s and %s both %s; at most one scheme of a combination can"):format(
    name_of(one), name_of(other), what), 0)
end

local Join = {}

function Join:turns(letter, positions, x)
  local found, by
  for _, part in ipairs(self.parts) do
    local turn = turns_of(part, letter, positions, x)
    if turn and found then
      refuse(by, part, ("rotate %q"):format(letter))
    elseif turn and self.scores and (letter == "q" or letter == "k") then
      error(("position: %s rotates %q, but %s replaces the products of queries and keys; combine "
        .. "at most one of the two"):format(name_of(part), letter,
        each(self.parts, "scores")[1].name), 0)
    elseif turn then
      found, by = turn, part
    end
  end
  return found
end

function Join:embed(x, positions)
  for _, part in ipairs(each(self.parts, "embed")) do
    x = part:embed(x, positions)
  end
  return x
end

function Join:bias(q, k, positions, x)
  local list = {}
  for _, part in ipairs(each(self.parts, "bias")) do
    local c = part:bias(q, k, positions, x)
    for _, one in ipairs(type(c) == "table" and not c.bias and c or { c }) do
      list[#list + 1] = one
    end
  end
  return list
end

-- The product of the results of all parts that have a method; nil if all results are.
local function product(parts, method, ...)
  local result
  for _, part in ipairs(each(parts, method)) do
    local own = part[method](part, ...)
    result = result and own and result * own or own or result
  end
  return result
end

function Join:query_scale(...)
  return product(self.parts, "query_scale", ...)
end

function Join:mask(...)
  return product(self.parts, "mask", ...)
end

-- Methods that at most one part of a combination can have, and what they do.
local ALONE <const> = { values = "add to values", carry = "add to the output",
  transport = "replace the sum of values", scores = "replace the scores",
  scale = "set the scale of the scores" }

--- Combines schemes.
---
--- Errors: more than one scheme has `values`, `carry`, `transport`, `scores` or `scale`; more than
--- one rotates the same one of q, k, v and o, or one rotates q or k and another has `scores`. Those
--- for rotations are raised when the combination is used.
---@param parts Scheme[] each a scheme or a rotary
---@return Scheme
function M.join(parts)
  local definition = { name = table.concat(tables.map(parts, name_of), "+"), turns = Join.turns,
    per_layer = #each(parts, "per_layer") > 0 }
  for _, method in ipairs { "embed", "bias", "query_scale", "mask" } do
    definition[method] = #each(parts, method) > 0 and Join[method] or nil
  end
  for method, effect in pairs(ALONE) do
    local first, second = table.unpack(each(parts, method))
    if second then
      refuse(first, second, effect)
    end
    definition[method] = first and function(_, ...) return first[method](first, ...) end
  end
  local joined = schemes.class(definition)()
  joined.parts = parts
  function joined.options()
    local list = {}
    for i, part in ipairs(parts) do
      list[i] = part:options()
      list[i].type = list[i].type or "rope"
    end
    return { type = "join", parts = list }
  end
  return joined
end

return M
