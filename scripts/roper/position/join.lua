--- Combinations of position schemes: "rope+alibi" rotates queries and keys and adds a bias.
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"

local M = {}

-- The rotation of "q", "k", "v" or "o" by a part; nil if it has none.
local function turns_of(part, letter, positions)
  if schemes.is_rotary(part) then
    return part:options().rotate:find(letter, 1, true) and part or nil
  end
  return part.turns and part:turns(letter, positions)
end

local function name_of(part)
  return schemes.is_rotary(part) and "rotary" or part.name
end

local function each(self, method)
  local list = {}
  for _, part in ipairs(self.parts) do
    if not schemes.is_rotary(part) and part[method] then
      list[#list + 1] = part
    end
  end
  return list
end

local Join = {}

function Join:turns(letter, positions)
  local found, by
  for _, part in ipairs(self.parts) do
    local turn = turns_of(part, letter, positions)
    if turn and found then
      error(("position: %s and %s both rotate %q; at most one scheme of a combination can"):format(
        by, name_of(part), letter), 0)
    elseif turn then
      found, by = turn, name_of(part)
    end
  end
  return found
end

function Join:embed(x, positions)
  for _, part in ipairs(each(self, "embed")) do
    x = part:embed(x, positions)
  end
  return x
end

function Join:bias(q, k, positions, x)
  local list = {}
  for _, part in ipairs(each(self, "bias")) do
    local c = part:bias(q, k, positions, x)
    for _, one in ipairs(type(c) == "table" and not c.bias and c or { c }) do
      list[#list + 1] = one
    end
  end
  return list
end

function Join:scale(dim)
  local parts = each(self, "scale")
  if #parts > 1 then
    error(("position: %s and %s both set the scale of the scores; at most one scheme of a "
      .. "combination can"):format(parts[1].name, parts[2].name), 0)
  end
  return parts[1] and parts[1]:scale(dim) or dim ^ -0.5
end

--- Combines schemes.
---
--- Errors: more than one scheme has `values`, `carry` or `scale`, or rotates the same one of q, k,
--- v and o. Those for `scale` and rotations are raised when the combination is used.
---@param parts Scheme[] each a scheme or a rotary
---@return Scheme
function M.join(parts)
  local names, definition = {}, tables.merged(Join)
  local by, per_layer = {}, false -- `by`: for each method, the part that has it
  for i, part in ipairs(parts) do
    names[i] = name_of(part)
    if not schemes.is_rotary(part) then
      for _, method in ipairs { "values", "carry" } do
        if part[method] and by[method] then
          error(("position: %s and %s both have %s; at most one scheme of a combination can")
            :format(by[method].name, part.name, method), 0)
        end
        by[method] = part[method] and part or by[method]
      end
      per_layer = per_layer or part.per_layer or false
    end
  end
  definition.name, definition.per_layer = table.concat(names, "+"), per_layer
  for method, part in pairs(by) do
    definition[method] = function(_, ...) return part[method](part, ...) end
  end
  if #each({ parts = parts }, "embed") == 0 then
    definition.embed = nil
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
