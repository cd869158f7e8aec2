--- Options of functions, declared in rows. Checks, help, completion, checkpoints and the fields of
--- experiments read them.
---
---     local OPTIONS <const> = options_of.define("DropoutOptions", {
---       { "p", "probability", 0.5, "of an element becoming 0" },
---     })
---     ...
---     local o = options_of.check("Dropout", options, OPTIONS)
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

---@class OptionRow
---@field [1] string name
---@field [2] string|table kind, as for `mismatch`, followed by "?" if the option is optional
---@field [3] any default; an option with a default is optional
---@field [4]? string documentation
---@field type? string in the notation of LuaLS, if it does not follow from the kind
---@field required? boolean it must be given where others decide about it, although its kind is
---   optional
---@field is_hidden? boolean it does not change the result, such as a folder for a cache
---@field shown? string the default in the documentation, if it is computed

-- Kinds of numbers: a description, LuaLS's type, and a predicate.
local NUMBERS <const> = {
  integer = { "an integer", "integer", function(x) return math.type(x) == "integer" end },
  size = { "a positive integer", "integer", function(x)
    return math.type(x) == "integer" and x >= 1
  end },
  count = { "a non-negative integer", "integer", function(x)
    return math.type(x) == "integer" and x >= 0
  end },
  real = { "a number", "number", function() return true end },
  number = { "a finite number", "number", function(x) return x - x == 0 end },
  amount = { "a finite non-negative number", "number", function(x)
    return x >= 0 and x < math.huge
  end },
  positive = { "a finite positive number", "number", function(x)
    return x > 0 and x < math.huge
  end },
  factor = { "a finite number of at least 1", "number", function(x)
    return x >= 1 and x < math.huge
  end },
  share = { "a number from 0 to 1", "number", function(x) return x >= 0 and x <= 1 end },
  probability = { "a number of at least 0 and below 1", "number", function(x)
    return x >= 0 and x < 1
  end },
}

local function is_native(kind)
  return function(metatable) return rawget(metatable, "__name") == "roper." .. kind end
end

-- Kinds of objects of the library: predicates on the metatable and the value.
local OBJECTS <const> = {
  task = is_native "task",
  tensor = is_native "tensor",
  rotary = is_native "rotary",
  module = function(metatable, value)
    return type(value) == "table" and metatable.is_module == true
  end,
  scheme = function(metatable, value)
    return type(value) == "table" and metatable.is_scheme == true
  end,
  optimizer = function(metatable, value)
    return type(value) == "table" and metatable.is_optimizer == true
  end,
}

-- Kinds with values of several other kinds: a description, and these kinds.
local UNIONS <const> = {
  position = { "a scheme, its name or {type = name, ...}", "string|table|rotary" },
  positions = { "a number, a list or a tensor", "real|table|tensor" },
}

local DEEPEST <const> = 10 -- more than layers, joined schemes and options are nested

-- Are plain tables nested deeper than that, or without end? `seen` has the depth of each.
local function is_too_deep(value, depth, seen)
  if type(value) ~= "table" or getmetatable(value) ~= nil or (seen[value] or 0) >= depth then
    return false
  elseif depth > DEEPEST then
    return true
  end
  seen[value] = depth
  for _, part in pairs(value) do
    if is_too_deep(part, depth + 1, seen) then
      return true
    end
  end
  return false
end

-- Kinds that are types of Lua, and those that `mismatch` knows by name.
local OTHERS <const> = { "any", "boolean", "callable", "function", "string", "table", "userdata" }

-- LuaLS's types of kinds that are not Lua's.
local TYPES <const> = { module = "Module", scheme = "Scheme", optimizer = "Optimizer",
  callable = "function" }

local function with_article(name)
  return (name:find "^[AEIOUaeiou]" and "an " or "a ") .. name
end

-- Describes the expected values if a value has none of the kinds in a text such as "string|table".
local function mismatch_of_all(kinds, value)
  local list = {}
  for kind in kinds:gmatch "[^|]+" do
    local expected = M.mismatch(kind, value)
    if not expected then
      return nil
    end
    list[#list + 1] = expected
  end
  return table.concat(list, " or ")
end

--- Describes the expected value if a value does not have a kind.
---@param kind string|table "size" (positive integer), "count" (non-negative integer), "integer",
---   {smallest =, largest =} (integer in this range), "real" (any number), "number" (finite),
---   "amount" (finite, at least 0), "positive" (finite, above 0), "factor" (finite, at least 1),
---   "share" (0 to 1), "probability" (at least 0, below 1), "tensor", "rotary", "task", "module",
---   "scheme", "optimizer", "position", "positions" (of attention), "callable", "any", a Lua type,
---   several of these separated by "|", or a list of choices
---@param value any
---@return string? expected nil if the value fits
function M.mismatch(kind, value)
  local numbers, is_object = NUMBERS[kind], OBJECTS[kind]
  if is_object then
    local metatable = debug.getmetatable(value)
    return not (metatable and is_object(metatable, value)) and with_article(kind) or nil
  elseif numbers then
    return not (math.type(value) and numbers[3](value)) and numbers[1] or nil
  elseif type(kind) == "table" and kind.smallest then
    local fits = math.type(value) == "integer" and value >= kind.smallest and value <= kind.largest
    return not fits and ("an integer from %d to %d"):format(kind.smallest, kind.largest) or nil
  elseif type(kind) == "table" then
    return not tables.set(kind)[value] and "one of " .. table.concat(kind, ", ") or nil
  elseif type(value) == kind then
    return nil
  elseif kind == "callable" then
    local metatable = debug.getmetatable(value)
    local is_called = type(value) == "function" or metatable and metatable.__call
    return not is_called and "a function" or nil
  elseif kind == "any" then
    return value == nil and "a value" or nil
  elseif UNIONS[kind] then
    if kind == "position" and is_too_deep(value, 1, {}) then
      return "tables of schemes that are nested at most 10 deep"
    end
    return mismatch_of_all(UNIONS[kind][2], value) and UNIONS[kind][1]
  elseif kind:find("|", 1, true) then
    return mismatch_of_all(kind, value)
  end
  return kind == "boolean" and "true or false" or "a " .. kind
end

-- Is a value a list of at least one choice, or a range of integers?
local function is_choice(kind)
  if math.type(kind.smallest) == "integer" and math.type(kind.largest) == "integer" then
    return kind.smallest <= kind.largest
  end
  for _, choice in ipairs(kind) do
    if type(choice) == "table" then
      return false
    end
  end
  return #kind > 0 and #kind == tables.count(kind)
end

--- The error message for a value that is not a kind.
---@param kind any
---@return string? message such as `expected a kind or a list of choices, got "numbr"; did you mean
---   "number"?`; nil for a kind
function M.kind_refusal(kind)
  local message = "expected a kind or a list of choices, got %s%s"
  if type(kind) == "table" and is_choice(kind) then
    return nil
  elseif type(kind) ~= "string" then
    return message:format(M.shown(kind), "")
  end
  local known = tables.keys(NUMBERS, OBJECTS, UNIONS, tables.set(OTHERS))
  local is_known = tables.set(known)
  for one in (kind:gsub("%?$", "") .. "|"):gmatch "(.-)|" do
    if not is_known[one] then
      return message:format(M.shown(kind), suggest.hint(one, known, "there are"))
    end
  end
  return nil
end

--- A value as text for messages: strings in quotes, tables and objects by their kind.
---@param value any
---@return string
function M.shown(value)
  local metatable = debug.getmetatable(value)
  if type(value) == "string" then
    return ('"%s"'):format(value)
  elseif value ~= value then
    return "nan"
  elseif value == nil or type(value) == "boolean" or math.type(value) then
    return tostring(value)
  end
  local name = metatable and (rawget(metatable, "__name") or rawget(metatable, "name"))
  name = type(name) == "string" and name:gsub("^roper%.", "") or type(value)
  return with_article(name)
end

-- The kinds of optional values without the "?" at their end; false for other kinds.
local required_of = setmetatable({}, {
  __index = function(known, kind)
    if type(kind) ~= "string" then
      return false
    end
    known[kind] = kind:match "^(.*)%?$" or false
    return known[kind]
  end,
})

--- The error message for a value that does not have a kind, with the most similar choice if the
--- kind is a list of choices.
---@param kind string|table as for `mismatch`, followed by "?" if the value may be missing
---@param value any
---@return string? message such as `expected one of pre, post, got "pro"; did you mean "pre"?`; nil
---   if the value fits
function M.refusal(kind, value)
  local required = required_of[kind]
  local expected = not (required and value == nil) and M.mismatch(required or kind, value)
  local is_misspelt = expected and type(value) == "string" and type(kind) == "table" and kind[1]
  return expected and ("expected %s, got %s%s"):format(expected, M.shown(value),
    is_misspelt and suggest.hint(value, kind) or "") or nil
end

local defined, order = {}, {} -- the rows by class; the own rows of each class, in order

--- Declares the options of a function.
---@param class string name of the type of the option table
---@param own table OptionRow[]; parent: the class whose rows it inherits; text: its documentation
---@return table rows for `check`, in order and by name: the own rows, then those of the parent
---   with other names
function M.define(class, own)
  local rows = {}
  for _, list in ipairs { own, own.parent and M.rows(own.parent) } do
    for _, row in ipairs(list) do
      if not rows[row[1]] then
        rows[#rows + 1], rows[row[1]] = row, row
      end
    end
  end
  defined[class] = rows
  order[#order + 1] = { class = class, parent = own.parent, rows = own }
  return rows
end

--- The declared options of a class, in order and by name.
---@param class string
---@return table rows
function M.rows(class)
  return defined[class] or error(("options: %s is not defined (yet)"):format(class), 2)
end

--- Selects the options of a class from a table.
---@param class string
---@param given table
---@param changes table? values that replace those of `given`
---@return table options
function M.pick(class, given, changes)
  local result = {}
  for _, row in ipairs(M.rows(class)) do
    result[row[1]] = given[row[1]]
  end
  return tables.merged(result, changes)
end

--- A table with the defaults of a class in place of missing options.
---@param class string
---@param given table
---@return table options
function M.completed(class, given)
  local result = tables.merged(given)
  for _, row in ipairs(M.rows(class)) do
    if result[row[1]] == nil then
      result[row[1]] = row[3]
    end
  end
  return result
end

-- The type of a row as LuaLS writes it.
local function type_of(row)
  local kind = row[2]
  if row.type or type(kind) == "table" then
    return row.type or kind.smallest and "integer"
      or '"' .. table.concat(kind, '"|"') .. '"'
  end
  return (kind:gsub("%?$", ""):gsub("[^|]+", function(one)
    return NUMBERS[one] and NUMBERS[one][2] or TYPES[one]
  end))
end

local function is_optional(row)
  return row[3] ~= nil or type(row[2]) == "table" or required_of[row[2]] ~= false
end

--- Must an option be given?
---@param row OptionRow
---@return boolean yes
function M.is_required(row)
  return row.required or not is_optional(row)
end

--- Options as a documentation comment: a class with a field for each row.
---@param class string
---@param rows OptionRow[] parent, text: as for `define`
---@return string lua
function M.comment(class, rows)
  local lines = { "---@class " .. class .. (rows.parent and ": " .. rows.parent or "")
    .. (rows.text and " " .. rows.text or "") }
  for _, row in ipairs(rows) do
    local default = row.shown or type(row[3]) == "string" and ('"%s"'):format(row[3])
      or type(row[3]) == "table" and "{}" or tostring(row[3]):gsub("e([-+])0", "e%1")
    local text = { default ~= "nil" and "= " .. default or nil }
    text[#text + 1] = row[4] and row[2].smallest
      and ("%s, from %d to %d"):format(row[4], row[2].smallest, row[2].largest) or row[4]
    lines[#lines + 1] = ("---@field %s%s %s %s"):format(row[1], is_optional(row) and "?" or "",
      type_of(row), table.concat(text, "; "))
  end
  return table.concat(lines, "\n") .. "\n"
end

--- The declared options as documentation comments.
---@return string lua
function M.comments()
  return table.concat(tables.map(order, function(one)
    return M.comment(one.class, one.rows)
  end), "\n") .. "\n"
end

--- The rows of declared options; converts the short form that `check` accepts.
---@param known table
---@return OptionRow[] rows
function M.rows_of(known)
  local rows = {}
  if known[1] then
    return known
  end
  for _, name in ipairs(tables.keys(known)) do
    local rule = known[name]
    local is_list = type(rule) == "table"
    rows[#rows + 1] = { name, is_list and rule[1] or rule, is_list and rule[2] or nil,
      optional = is_list }
  end
  return rows
end

-- The names in a list of rows, as a set.
local names_of = setmetatable({}, {
  __mode = "k",
  __index = function(known, rows)
    known[rows] = tables.set(tables.map(rows, function(row) return row[1] end))
    return known[rows]
  end,
})

--- Checks an option table and fills in defaults.
---
--- Errors: an unknown option; a value of another kind; a required option is missing.
---@param name string of the function, for messages
---@param given table?
---@param known table rows from `define`; or, in short form, a table from the name of an option to
---   its kind, its kind followed by "?" if it is optional, or {kind, default}; kinds as for
---   `mismatch`
---@param level integer? stack level of the error; 3 (the caller's caller) by default
---@return table a new table with every option
function M.check(name, given, known, level)
  level = level or 3
  if given ~= nil and type(given) ~= "table" then
    error(("%s: expected a table of options, got %s"):format(name, type(given)), level)
  end
  given = given or {}
  local rows = M.rows_of(known)
  local result, is_known = {}, names_of[rows]
  for option in pairs(given) do
    if not is_known[option] then
      error(("%s: unknown option %s%s"):format(name, tostring(option), #rows == 0
        and "; it takes none" or suggest.hint(tostring(option), tables.keys(is_known), "it takes")),
        level)
    end
  end
  for _, row in ipairs(rows) do
    local option, value = row[1], given[row[1]]
    if value == nil and (row.optional or is_optional(row)) then
      value = row[3]
    else
      local refusal = M.refusal(row[2], value)
      if refusal then
        error(("%s: option %s: %s"):format(name, option, refusal), level)
      end
    end
    result[option] = value
  end
  return result
end

return M
