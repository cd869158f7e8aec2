--- Position schemes in text: their options, checked, and one canonical form.
local escape = require "roper.base.escape"
local options_of = require "roper.options.rows"
local registry = require "roper.position.registry"
local syntax = require "roper.position.syntax"
local tables = require "roper.base.tables"

local M = {}

--- The options that are filled in from the model or the input, if a scheme takes them, and what
--- they are set to.
M.CONTEXT = {
  dim = "the features of a head, d_model / heads",
  heads = "the number of heads",
  d_model = "the features of a token",
  length = "the tokens of the longest sequence",
}

-- The rows of the options that a text can set.
local function rows_of(takes)
  return tables.map(options_of.rows_of(takes), function(row)
    return not M.CONTEXT[row[1]] and row or nil
  end)
end

-- Converts a value in text to the kind of its option.
local function converted(kind, value)
  if value.list then
    return tables.map(value.list, function(one) return converted("any", one) end)
  elseif value.quoted or kind == "string" then
    return value.quoted or value.word
  end
  local word = value.word
  if type(kind) == "table" and tables.set(kind)[word] then
    return word
  elseif word == "true" or word == "false" then
    return word == "true"
  end
  local number = word:find "^[%d.+-]" and tonumber(word)
  if number and number - number == 0 then
    return math.tointeger(number) or number
  end
  return word
end

local function is_same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then
    return a == b
  end
  local same = #a == #b
  for i = 1, #a do
    same = same and is_same(a[i], b[i])
  end
  return same
end

-- Raises an error for a value that cannot be written as text.
local function check_writable(where, name, value)
  local values = type(value) == "table" and not getmetatable(value) and value or { value }
  if #values ~= tables.count(values) then
    values = { value }
  end
  for _, one in ipairs(values) do
    local is_quotable = type(one) == "string" and escape.line(one) == one
      and not (one:find('"', 1, true) and one:find("'", 1, true))
    local fits = is_quotable or type(one) == "boolean" or math.type(one) and one - one == 0
    if not fits then
      error(("%s: option %s: expected a number, true, false, a line of text without both kinds "
        .. "of quotes, or a list of these, got %s"):format(where, name,
        escape.line(options_of.shown(one))), 0)
    end
  end
end

-- Checks options against those that a scheme takes.
local function check(scheme, takes, given, where)
  where = where .. ": " .. scheme
  local rows, known = rows_of(takes), tables.set(tables.map(
    options_of.rows_of(takes), function(row) return row[1] end))
  for _, option in ipairs(tables.keys(given)) do
    local meaning = known[option] and M.CONTEXT[option]
    if meaning then
      error(("%s: option %s cannot be set here: the model sets it to %s"):format(where, option,
        meaning), 0)
    end
  end
  local options = options_of.check(where, given, rows, 0)
  for _, row in ipairs(rows) do
    local name, default = row[1], row[3]
    if is_same(options[name], default) then
      options[name] = nil
    elseif options[name] ~= nil then
      check_writable(where, name, options[name])
    end
  end
  return options
end

---@class CheckedScheme
---@field type string
---@field given table<string, any> the options in the text
---@field options? table<string, any> those that differ from their defaults; nil if none do

--- Converts and checks the options of a scheme, or of something else with options in braces.
---
--- Errors: an unknown option, one of another kind, or one that the model sets itself.
---@param scheme table {type, options} from `syntax.parse`
---@param takes table rows of its options
---@param where string the start of messages
---@return CheckedScheme
function M.checked(scheme, takes, where)
  local given, kinds = {}, {}
  for _, row in ipairs(scheme.options and options_of.rows_of(takes) or {}) do
    kinds[row[1]] = type(row[2]) == "string" and row[2]:gsub("%?$", "") or row[2]
  end
  for _, option in ipairs(scheme.options or {}) do
    given[option[1]] = converted(kinds[option[1]], option[2])
  end
  local options = scheme.options and check(scheme.type, takes, given, where) or {}
  return { type = scheme.type, given = given, options = next(options) and options or nil }
end

--- Parses the schemes of the layers and checks their options.
---
--- Errors: the text has another form; an unknown scheme; an unknown option, one of another kind, or
--- one that the model sets itself.
---@param text string such as "rope+alibi:yarn{factor=4}"
---@param where string the start of messages
---@return CheckedScheme[][] layers for each layer in turn its schemes
function M.parse(text, where)
  return tables.map(syntax.parse(text, where), function(joined)
    return tables.map(joined, function(scheme)
      return M.checked(scheme, registry.find(scheme.type).takes, where)
    end)
  end)
end

-- The schemes of one layer, given as a name, a text, or a table with the field `type`.
local function joined_of(position, where)
  if type(position) == "string" then
    local layers = M.parse(position, where)
    if layers[2] then
      error(("%s: expected schemes of one layer, got %s"):format(where, syntax.brief(position)), 0)
    end
    return layers[1]
  elseif type(position) ~= "table" or type(position.parts) ~= "table"
    and type(position.type) ~= "string" then
    error(("%s: expected a scheme, its name or {type = name, ...}, got %s"):format(where,
      options_of.shown(position)), 0)
  elseif position.parts then
    return tables.joined(table.unpack(tables.map(position.parts, function(part)
      return joined_of(part, where)
    end)))
  end
  local parts, given = joined_of(position.type, where), tables.merged(position)
  given.type = nil
  if next(given) then
    parts = { M.with(parts, given, where) }
  end
  return parts
end

--- Adds options from a table to the scheme of a text.
---
--- Errors: the text names several schemes; an option is in both with different values.
---@param parts CheckedScheme[]
---@param given table
---@param where string the start of messages
---@return CheckedScheme scheme
function M.with(parts, given, where)
  local scheme = parts[1]
  if parts[2] then
    error(("%s: expected options of one scheme, got %s for %s; write them in braces, %s{...}")
      :format(where, tables.keys(given)[1], syntax.text { parts }, scheme.type), 0)
  end
  for name, value in pairs(scheme.given) do
    if given[name] ~= nil and not is_same(given[name], value) then
      error(("%s: option %s is given twice, in %s and as another value beside it"):format(where,
        name, syntax.text { { scheme } }), 0)
    end
  end
  given = tables.merged(scheme.given, given)
  return { type = scheme.type, given = given,
    options = check(scheme.type, registry.find(scheme.type).takes, given, where) }
end

--- Returns the schemes of the layers.
---
--- Errors: as for `parse`.
---@param position any in a form that `resolve` or Transformer takes, except schemes
---@param where string the start of messages
---@return CheckedScheme[][] layers
function M.layers(position, where)
  if type(position) == "string" then
    return M.parse(position, where)
  elseif type(position) == "table" and #position > 0 and not getmetatable(position) then
    return tables.map(position, function(layer) return joined_of(layer, where) end)
  end
  return { joined_of(position, where) }
end

--- Returns the canonical text of schemes: options sorted by name, without those that have their
--- default value.
---
--- Errors: as for `parse`.
---@param position any in a form that `resolve` or Transformer takes, except schemes
---@param where string the start of messages
---@return string text
function M.canonical(position, where)
  return syntax.text(M.layers(position, where))
end

--- Completes the end of an unfinished text: names of schemes, names of options after "{", and
--- values of an option after "=".
---@param text string such as "rope,rope+al", "yarn{fa" or "yarn{ramp="
---@param names string[] of schemes
---@return string[] words that may follow; names of options end with "="
---@return string start the end of the text that each word replaces
---@return boolean is_name true if the words are names of schemes
function M.completions(text, names)
  local unfinished = syntax.unfinished(text)
  if not unfinished then
    return {}, "", false
  elseif not unfinished.scheme then
    return names, unfinished.start, true
  end
  local definition = registry.definitions[unfinished.scheme]
  local list = {}
  for _, row in ipairs(definition and rows_of(definition.takes) or {}) do
    if not unfinished.option then
      list[#list + 1] = not unfinished.given[row[1]] and row[1] .. "=" or nil
    elseif unfinished.option == row[1] then
      local kind = row[2]
      list = type(kind) == "table" and kind[1] and tables.map(kind, tostring)
        or type(kind) == "string" and kind:find "^boolean" and { "false", "true" } or {}
    end
  end
  table.sort(list)
  return list, unfinished.start, false
end

--- Returns the form of a text in names of files: letters, digits and any of _ + : . -
---@param text string
---@return string name
function M.file_name(text)
  local name = text
  if text:find "[^%w_+:]" then
    name = text:gsub("[^%w_+:.]+", "-"):gsub("%-$", ""):gsub("%-([+:])", "%1")
  end
  return name:sub(1, 200)
end

return M
