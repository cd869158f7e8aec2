--- Syntax of position schemes in text: "yarn{factor=4}" sets options of a scheme, "rope+alibi"
--- combines schemes in one attention, "rope:none" gives each layer its own, in turn, and
--- "rope,roper" lists several choices.
---
---     set    = layers {"," layers}
---     layers = joined {":" joined}
---     joined = scheme {"+" scheme}
---     scheme = name ["{" [option {"," option}] "}"]
---     option = name "=" (value | "{" [value {"," value}] "}")
---     value  = word | "'" text "'" | '"' text '"'
---
--- A word consists of letters, digits and any of _ . + -; it is a number, true, false or a string.
--- Within braces, blanks between the parts are ignored.
local number = require "roper.text.format.number"
local tables = require "roper.base.tables"

local M = {}

local LONGEST <const> = 80 -- bytes of a text in messages

---@class PositionParser
---@field text string
---@field at integer index of the next character
---@field where string the start of messages
local Parser = {}
Parser.__index = Parser

--- Shortens a text for messages, to its beginning or to the part around a byte.
---@param text string
---@param at? integer index of the byte
---@return string shown
function M.brief(text, at)
  if #text <= LONGEST then
    return text
  end
  local first = math.max(1, math.min(at or 1, #text + 1) - LONGEST // 2)
  local part = text:sub(first, first + LONGEST - 1):gsub("^[\128-\191]+", "")
    :gsub("[\194-\244][\128-\191]*$", "")
  return (first > 1 and "…" or "") .. part .. (first + LONGEST <= #text and "…" or "")
end

function Parser:fail(expected, hint)
  local got = self.text:match("^[%w_]+", self.at) or self.text:match("^[^\128-\191][\128-\191]*",
    self.at)
  error(('%s: expected %s at character %d of "%s", got %s%s'):format(self.where, expected, self.at,
    M.brief(self.text, self.at), got and ('"%s"'):format(M.brief(got)) or "the end", hint or ""), 0)
end

function Parser:next_is(character)
  return self.text:sub(self.at, self.at) == character
end

function Parser:skip_blanks()
  self.at = self.text:match("^[ \t]*()", self.at)
end

-- Parses items with a separator between them.
function Parser:list(item, separator)
  local found = { item(self) }
  while self:next_is(separator) do
    self.at = self.at + 1
    found[#found + 1] = item(self)
  end
  return found
end

-- Parses a list in braces.
function Parser:braced(item, separated)
  self.at = self.at + 1
  self:skip_blanks()
  local found = self:next_is "}" and {} or self:list(item, ",")
  if not self:next_is "}" then
    self:fail(separated)
  end
  self.at = self.at + 1
  return found
end

-- Parses a word or a quoted text: {word = ...} or {quoted = ...}.
function Parser:value()
  self:skip_blanks()
  local quote = self.text:match("^['\"]", self.at)
  local value
  if quote then
    local last = self.text:find(quote, self.at + 1, true)
    if not last then
      self.at = #self.text + 1
      self:fail("a closing " .. quote)
    end
    value = { quoted = self.text:sub(self.at + 1, last - 1) }
    self.at = last + 1
  else
    local word = self.text:match("^[%w_.+-]+", self.at)
      or self:fail "a number, true, false or a string"
    value = { word = word }
    self.at = self.at + #word
  end
  self:skip_blanks()
  return value
end

function Parser:option()
  self:skip_blanks()
  local name = self.text:match("^[%a_][%w_]*", self.at) or self:fail "the name of an option"
  self.at = self.at + #name
  self:skip_blanks()
  if not self:next_is "=" then
    self:fail '"="'
  end
  self.at = self.at + 1
  self:skip_blanks()
  local value
  if self:next_is "{" then
    value = { list = self:braced(Parser.value, '"," or "}"') }
    self:skip_blanks()
  else
    value = self:value()
  end
  return { name, value }
end

function Parser:scheme()
  local name = self.text:match("^[%w_]+", self.at) or self:fail "the name of a scheme"
  self.at = self.at + #name
  if not self:next_is "{" then
    return { type = name }
  end
  local options, known = self:braced(Parser.option, '"," or "}"'), {}
  for _, option in ipairs(options) do
    if known[option[1]] then
      error(("%s: %s: option %s is given twice"):format(self.where, M.brief(name),
        M.brief(option[1])), 0)
    end
    known[option[1]] = true
  end
  return { type = name, options = options[1] and options or nil }
end

function Parser:joined()
  return self:list(Parser.scheme, "+")
end

--- Parses the schemes of the layers.
---
--- Errors: the text has another form; the message gives the character.
---@param text string such as "rope+alibi:yarn{factor=4}"
---@param where string the start of messages
---@return table[][] layers for each layer in turn its schemes, {type = name} each, with `options`
---   if it has any: a list of {name, value}; a value is {word = text}, {quoted = text} or {list =
---   values}
function M.parse(text, where)
  local parser = setmetatable({ text = text, at = 1, where = where }, Parser)
  local layers = parser:list(Parser.joined, ":")
  if parser.at <= #text then
    -- A shell turned name{a=1,b=2} into the words namea=1 and nameb=2.
    parser:fail('"+", ":" or the end', parser:next_is "="
      and "; put options in braces, and the whole in single quotes, because shells expand braces: "
        .. "'position=yarn{factor=4,fast=16}'" or nil)
  end
  return layers
end

-- The value of an option as text.
local function text_of(value)
  if type(value) == "table" then
    return "{" .. table.concat(tables.map(value, text_of), ",") .. "}"
  elseif type(value) ~= "string" then
    return math.type(value) and number.exact(math.tointeger(value) or value) or tostring(value)
  elseif value:find "^[%a_][%w_.+-]*$" and value ~= "true" and value ~= "false" then
    return value
  end
  local quote = value:find('"', 1, true) and "'" or '"'
  return quote .. value .. quote
end

--- Returns the text of schemes.
---@param layers table[][] for each layer in turn its schemes, {type = name} each, with `options` if
---   it has any: a table from names to values
---@return string text the options are sorted by name
function M.text(layers)
  return table.concat(tables.map(layers, function(joined)
    return table.concat(tables.map(joined, function(scheme)
      local options = tables.map(tables.keys(scheme.options or {}), function(name)
        return name .. "=" .. text_of(scheme.options[name])
      end)
      return scheme.type .. (options[1] and "{" .. table.concat(options, ",") .. "}" or "")
    end), "+")
  end), ":")
end

-- Returns the start of the last part of a text; parts are separated by the characters of a set.
-- Calls `found` with the first and the last byte of each part before it. Separators within braces
-- do not count.
local function split(text, separators, found)
  local first, depth, at = 1, 0, 1
  while at <= #text do
    local char = text:sub(at, at)
    if depth > 0 and (char == "'" or char == '"') then
      at = text:find(char, at + 1, true) or #text
    elseif char == "{" then
      depth = depth + 1
    elseif char == "}" then
      depth = math.max(0, depth - 1)
    elseif depth == 0 and separators:find(char, 1, true) then
      found(first, at - 1)
      first = at + 1
    end
    at = at + 1
  end
  return first
end

--- Splits a set into its choices. Commas within braces do not separate choices.
---@param text string such as "rope,yarn{factor=2,fast=16}"
---@return string[] choices each still a text; "" if one is missing
function M.choices(text)
  local list = {}
  local last = split(text, ",", function(first, stop)
    list[#list + 1] = text:sub(first, stop)
  end)
  list[#list + 1] = text:sub(last)
  return list
end

---@class UnfinishedScheme
---@field start string the text that can be completed
---@field scheme? string whose options, or values of an option, complete it
---@field option? string whose values complete it
---@field given? table<string, boolean> names of the options that are already set

--- Analyses the end of an unfinished text.
---@param text string such as "rope,rope+al" or "rope,yarn{fa"
---@return UnfinishedScheme? unfinished nil if no name can follow
function M.unfinished(text)
  local last = text:sub(split(text, ",:+", function() end))
  local scheme, inside = last:match "^([%w_]+){(.*)$"
  if not scheme then
    return not last:find "[{}]" and { start = last } or nil
  end
  local given = {}
  local option = inside:sub(split(inside, ",", function(first, stop)
    given[inside:sub(first, stop):match "^%s*([%w_]*)"] = true
  end))
  local name, start = option:match "^%s*([%a_][%w_]*)%s*=%s*([%w_.+-]*)$"
  if name then
    return { start = start, scheme = scheme, option = name, given = given }
  end
  start = option:match "^%s*([%w_]*)$"
  return start and { start = start, scheme = scheme, given = given } or nil
end

return M
