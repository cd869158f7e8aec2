--- Equations with declared variables: parsed once, checked, and evaluated over any algebra.
local angles = require "roper.identity.angle"
local options_of = require "roper.options.rows"
local parser = require "roper.identity.parser"
local quantity = require "roper.identity.quantity"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

-- Kinds of variables. A plural has a separate value for each term of a sum.
local KINDS <const> = { "number", "numbers", "vector", "vectors", "matrix", "matrices", "position",
  "positions", "angle", "angles" }

local SINGULAR <const> = { numbers = "number", vectors = "vector", matrices = "matrix",
  positions = "position", angles = "angle" }

--- Returns the variables of an identity, checked and sorted by name.
---@param given table<string, string>? maps a name to a kind
---@return {name: string, kind: string, is_many: boolean, declared: string}[] kind: the singular
function M.variables(given)
  local list = {}
  for name, kind in pairs(given or {}) do
    local refusal = options_of.refusal(KINDS, kind)
    if refusal then
      error(("identity: given.%s: %s"):format(tostring(name), refusal), 0)
    elseif not (tostring(name):find "^[%a_][%w_]*$" and load("local " .. tostring(name))) then
      error(("identity: given: expected Lua names, got %s"):format(tostring(name)), 0)
    elseif quantity.functions[name] then
      error(("identity: given: %s is a function; choose another name"):format(name), 0)
    end
    list[#list + 1] = { name = name, kind = SINGULAR[kind] or kind,
      is_many = SINGULAR[kind] ~= nil, declared = kind }
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

-- The message about a name that is neither a variable nor a function.
local function unknown(name, known)
  local declares = load(("local %s"):format(name)) and name:find "^[%a_][%w_]*$"
    and ('; to declare a variable, set given = {%s = "vector"}, or another kind'):format(name)
  return ('unknown name "%s"%s%s'):format(name, suggest.hint(name, known, "known are"),
    declares or "")
end

-- Returns a table of the names that a side can use. A name that is used becomes a key of `used`.
local function environment(variables, used)
  local scope = tables.merged({ theta = angles.THETA }, quantity.functions)
  local known = tables.keys(scope)
  for _, v in ipairs(variables) do
    known[#known + 1] = v.name
    scope[v.name] = (v.kind == "position" or v.kind == "angle")
      and angles.new(v.name, v.is_many, v.kind == "angle")
      or quantity.variable(v.name, v.kind, v.is_many)
  end
  return setmetatable({}, { __index = function(_, name)
    used[name] = true
    return scope[name] or error(unknown(tostring(name), known), 0)
  end })
end

-- The result of a function that computes a side.
local function called(f, ...)
  local results = table.pack(f(...))
  if results.n ~= 1 then
    error(("expected one value, got %d"):format(results.n), 0)
  end
  return results[1]
end

-- Reads a side, which is text or a function. Returns {text, value}; the value is a quantity.
local function read(side, text, scope)
  local ok, value
  if type(side) == "function" then
    ok, value = pcall(called, side, scope)
  elseif not side:find "%S" then
    error(("identity: expected an expression on each side, got '%s'"):format(text), 0)
  else
    ok, value = pcall(called, parser.read, side, function(name) return scope[name] end)
  end
  if ok and angles.is(value) then
    ok, value = false, "expected a value, got a position; use its cos or sin, or rotate by it"
  elseif ok then
    ok, value = pcall(quantity.lift, value)
  end
  if not ok then
    local message = tostring(value)
    error(message:find "interrupted$" and message or ("identity: %s: %s"):format(text, message), 0)
  end
  return { text = text, value = value }
end

-- Gives all sides the same shape. If another side has a value for each pair or term, a plain number
-- is repeated for each.
local function make_alike(sides)
  local nothing = sides[1].value * 0
  for i = 2, #sides do
    local value = sides[i].value
    local ok, sum = pcall(function() return nothing + value * 0 end)
    if not ok then
      error(("identity: expected sides of the same kind, got %s and %s"):format(
        quantity.describe(sides[1].value), quantity.describe(value)), 0)
    end
    nothing = sum
  end
  for _, side in ipairs(sides) do
    side.value = side.value + nothing
  end
end

--- Parses the sides of an equation.
---@param equation string|function[] "left == right", with two or more sides; or a list of functions
---   of a table of all names
---@param variables table[] from `variables`
---@return {text: string, value: table}[] sides quantities of the same kind
---@return table[] used the variables used in them
function M.sides(equation, variables)
  local used, sides = {}, {}
  local scope = environment(variables, used)
  if type(equation) == "string" then
    for side in (equation .. "=="):gmatch "(.-)==" do
      sides[#sides + 1] = { side, side:match "^%s*(.-)%s*$" }
    end
  elseif type(equation) == "table" then
    for i, side in ipairs(equation) do
      if type(side) ~= "function" then
        error(("identity: side %d: expected a function, got %s"):format(i, type(side)), 0)
      end
      sides[i] = { side, ("side %d, a function"):format(i) }
    end
  else
    error("identity: expected an equation such as \"left == right\", got " .. type(equation), 0)
  end
  if #sides < 2 then
    error(("identity: expected two or more sides, as in \"left == right\", got %d"):format(#sides),
      0)
  end
  for i, side in ipairs(sides) do
    sides[i] = read(side[1], side[2], scope)
  end
  make_alike(sides)
  local list = tables.map(variables, function(v) return used[v.name] and v or nil end)
  return sides, list
end

--- Evaluates all sides over an algebra.
function M.evaluate(sides, algebra)
  local results, values = {}, {}
  for i, side in ipairs(sides) do
    results[i] = quantity.evaluate(side.value, algebra, values)
  end
  return results
end

return M
