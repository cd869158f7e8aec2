--- An equation and what its names stand for: read, checked, evaluated over any algebra.
local angles = require "roper.identity.angle"
local quantity = require "roper.identity.quantity"
local suggest = require "roper.suggest"

local M = {}

--- What a name can stand for; the plural has another one for each term of a sum.
M.KINDS = { "number", "numbers", "vector", "vectors", "matrix", "matrices", "position",
  "positions" }

local SINGULAR <const> = { numbers = "number", vectors = "vector", matrices = "matrix",
  positions = "position" }

local FUNCTIONS <const> = { "cos", "dot", "pair", "rotate", "rotation", "sin", "sum",
  "transpose", "unrotate" }

--- The names of an identity and their kinds, checked and sorted.
---@param given table<string, string>? name to a kind
---@return {name: string, kind: string, is_many: boolean, declared: string}[] kind: the singular
function M.variables(given)
  local list = {}
  for name, kind in pairs(given or {}) do
    local is_kind = false
    for _, known in ipairs(M.KINDS) do
      is_kind = is_kind or kind == known
    end
    if not is_kind then
      error(("identity: given.%s: expected one of %s, got %s%s"):format(tostring(name),
        table.concat(M.KINDS, ", "), tostring(kind), suggest.hint(tostring(kind), M.KINDS)), 0)
    elseif not (tostring(name):find "^[%a_][%w_]*$" and load("local " .. tostring(name))) then
      error(("identity: given: expected names, got %s"):format(tostring(name)), 0)
    end
    for _, taken in ipairs(FUNCTIONS) do
      if name == taken then
        error(("identity: given: %s is a function; choose another name"):format(name), 0)
      end
    end
    list[#list + 1] = { name = name, kind = SINGULAR[kind] or kind,
      is_many = SINGULAR[kind] ~= nil, declared = kind }
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

-- One side as a function of the names in it.
local function compile(text)
  local chunk, message = load("local _ENV = ... return " .. text .. "\n", "=side", "t", {})
  if not chunk or text:find "^%s*$" then
    error(("identity: cannot read '%s': %s"):format(text:match "^%s*(.-)%s*$",
      message and message:gsub("^side:%d+: ", "") or "nothing there"), 0)
  end
  return chunk
end

--- The sides of an equation.
---@param equation string|function[] "left == right", of two sides or more; or a list of
---   functions of a table that holds the names
---@return {text: string?, run: function}[]
function M.sides(equation)
  local sides = {}
  if type(equation) == "string" then
    for text in (equation .. "=="):gmatch "(.-)==" do
      sides[#sides + 1] = { text = text:match "^%s*(.-)%s*$", run = compile(text) }
    end
  elseif type(equation) == "table" then
    for i, side in ipairs(equation) do
      if type(side) ~= "function" then
        error(("identity: side %d: expected a function, got %s"):format(i, type(side)), 0)
      end
      sides[i] = { run = side }
    end
  else
    error("identity: expected an equation such as \"left == right\", got " .. type(equation), 0)
  end
  if #sides < 2 then
    error(("identity: expected two sides or more, as in \"left == right\", got %d"):format(#sides),
      0)
  end
  return sides
end

--- The variables that the sides name; all, where a side is a function.
---@param variables table[] of `variables`
---@param sides table[] of `sides`
---@return table[]
function M.used(variables, sides)
  local names = {}
  for _, side in ipairs(sides) do
    if not side.text then
      return variables
    end
    for name in side.text:gmatch "[%a_][%w_]*" do
      names[name] = true
    end
  end
  local list = {}
  for _, v in ipairs(variables) do
    list[#list + 1] = names[v.name] and v or nil
  end
  return list
end

-- What both sides see: the functions, the given names, and an error for every other.
local function environment(algebra, variables)
  local scope = quantity.functions(algebra)
  scope.theta = angles.THETA
  local known = { "theta", table.unpack(FUNCTIONS) }
  for _, v in ipairs(variables) do
    known[#known + 1] = v.name
    scope[v.name] = v.kind == "position" and angles.new(v.name, v.is_many)
      or quantity.variable(algebra, v.name, v.kind, v.is_many)
  end
  return setmetatable(scope, { __index = function(_, name)
    error(("%s is not given%s; there are %s"):format(tostring(name),
      suggest.hint(tostring(name), known), table.concat(known, ", ")), 0)
  end })
end

-- Sides of one shape: a number beside what each pair or each term has is the same in all of them.
local function alike(results)
  local nothing = results[1] * 0
  for i = 2, #results do
    local ok, sum = pcall(function() return nothing + results[i] * 0 end)
    if not ok then
      error(("identity: the sides differ in kind: %s and %s"):format(
        quantity.describe(results[1]), quantity.describe(results[i])), 0)
    end
    nothing = sum
  end
  for i, result in ipairs(results) do
    results[i] = result + nothing
  end
  return results
end

--- All sides over an algebra.
---@param sides table[] of `sides`
---@param variables table[] of `variables`
---@param algebra table
---@return table[] quantities of one kind
function M.evaluate(sides, variables, algebra)
  local results = {}
  for i, side in ipairs(sides) do
    local ok, result = pcall(side.run, environment(algebra, variables))
    if ok and angles.is(result) then
      ok, result = false, "a position is no value; take its cos or sin, or rotate by it"
    elseif ok then
      ok, result = pcall(quantity.lift, algebra, result)
    end
    if not ok then
      local message = tostring(result):gsub("^side:%d+: ", "")
      error(message:find "interrupted$" and message or ("identity: %s: %s"):format(
        side.text or "side " .. i, message), 0)
    end
    results[i] = result
  end
  return alike(results)
end

return M
