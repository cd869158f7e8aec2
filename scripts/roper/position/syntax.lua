--- Syntax of position schemes in text: "rope+alibi" combines schemes in one attention, "rope:none"
--- gives each layer its own, in turn, and "rope,roper" lists several choices.
---
---     set    = layers {"," layers}
---     layers = joined {":" joined}
---     joined = scheme {"+" scheme}
---     scheme = name
local tables = require "roper.base.tables"

local M = {}

---@class PositionParser
---@field text string
---@field at integer index of the next character
---@field where string the start of messages
local Parser = {}
Parser.__index = Parser

function Parser:fail(expected)
  local got = self.text:match("^[%w_]+", self.at) or self.text:match("^[^\128-\191][\128-\191]*",
    self.at)
  error(('%s: expected %s at character %d of "%s", got %s'):format(self.where, expected, self.at,
    self.text, got and ('"%s"'):format(got) or "the end"), 0)
end

-- Parses items with a separator between them.
function Parser:list(item, separator)
  local found = { item(self) }
  while self.text:sub(self.at, self.at) == separator do
    self.at = self.at + 1
    found[#found + 1] = item(self)
  end
  return found
end

function Parser:scheme()
  local name = self.text:match("^[%w_]+", self.at) or self:fail "the name of a scheme"
  self.at = self.at + #name
  return { type = name }
end

function Parser:joined()
  return self:list(Parser.scheme, "+")
end

--- Parses the schemes of the layers.
---
--- Errors: the text has another form; the message gives the character.
---@param text string such as "rope+alibi:none"
---@param where string the start of messages
---@return table[][] layers for each layer in turn its schemes, {type = name}
function M.parse(text, where)
  local parser = setmetatable({ text = text, at = 1, where = where }, Parser)
  local layers = parser:list(Parser.joined, ":")
  if parser.at <= #text then
    parser:fail '"+", ":" or the end'
  end
  return layers
end

--- Returns the text of parsed schemes.
---@param layers table[][] from `parse`
---@return string text
function M.text(layers)
  return table.concat(tables.map(layers, function(joined)
    return table.concat(tables.map(joined, function(scheme) return scheme.type end), "+")
  end), ":")
end

--- Splits a set into its choices.
---@param text string such as "rope,rope:none"
---@return string[] choices each still a text; "" if one is missing
function M.choices(text)
  local list = {}
  for choice in (text .. ","):gmatch "([^,]*)," do
    list[#list + 1] = choice
  end
  return list
end

--- Returns the end of an unfinished text that names of schemes can complete.
---@param text string such as "rope,rope+al"
---@return string start such as "al"
function M.unfinished(text)
  return text:match "[^,:+]*$"
end

return M
