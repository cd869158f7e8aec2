--- Division of a text into words, the `pre_tokenizer` of a published tokenizer.
local core = require "roper.core"
local fields = require "roper.tasks.text.published.fields"
local patterns = require "roper.tasks.text.published.pattern"
local tables = require "roper.base.tables"

local M = {}

--- The character in place of a space in tokenizers like SentencePiece.
M.SPACE = "\u{2581}"

-- The pattern of GPT-2, which ByteLevel applies.
local GPT2 <const> = [['s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+]]

-- Divides at a plain text, as `split` of a pattern does.
local Plain = {}
Plain.__index = Plain

function Plain:split(text)
  local parts, at = {}, 1
  for first in text:gmatch("()" .. self.text:gsub("%p", "%%%0")) do
    parts[#parts + 1] = text:sub(at, first - 1)
    parts[#parts + 1] = self.text
    at = first + #self.text
  end
  parts[#parts + 1] = text:sub(at)
  return parts
end

-- The parts that are not empty, and which of them match.
local function entries(parts, inverted)
  local list, matches = {}, {}
  for i, part in ipairs(parts) do
    if part ~= "" then
      list[#list + 1] = part
      matches[#list] = (i % 2 == 0) ~= inverted
    end
  end
  return list, matches
end

-- What becomes of the parts: functions of the list of parts and of which of them match.
local BEHAVIORS = {}

function BEHAVIORS.Isolated(list)
  return list
end

function BEHAVIORS.Removed(list, matches)
  return tables.map(list, function(part, i) return not matches[i] and part or nil end)
end

function BEHAVIORS.MergedWithPrevious(list, matches)
  local result = {}
  for i, part in ipairs(list) do
    local joins = matches[i] and not matches[i - 1] and result[1]
    result[joins and #result or #result + 1] = joins and result[#result] .. part or part
  end
  return result
end

function BEHAVIORS.MergedWithNext(list, matches)
  local result = {}
  for i, part in ipairs(list) do
    local joins = matches[i - 1] and not matches[i]
    result[joins and #result or #result + 1] = joins and result[#result] .. part or part
  end
  return result
end

function BEHAVIORS.Contiguous(list, matches)
  local result = {}
  for i, part in ipairs(list) do
    local joins = result[1] and matches[i] == matches[i - 1]
    result[joins and #result or #result + 1] = joins and result[#result] .. part or part
  end
  return result
end

-- A division by a pattern.
local function by(pattern, behavior, inverted)
  local act = BEHAVIORS[behavior]
  return function(text)
    local list, matches = entries(pattern:split(text), inverted)
    return act(list, matches)
  end
end

--- The pattern in a field.
---
--- Errors: a pattern that is not supported.
---@param given any {"String": text} or {"Regex": text}
---@param where string the start of messages
---@return table pattern with the method `split`
function M.pattern(given, where)
  local object = type(given) == "table" and given or {}
  if type(object.Regex) == "string" then
    return patterns.compile(object.Regex, where)
  elseif type(object.String) == "string" and object.String ~= "" then
    return setmetatable({ text = object.String }, Plain)
  end
  fields.refuse(where, "pattern", given, "a String or a Regex")
end

local MAKE = {} -- functions of the object, the start of messages and `new`

function MAKE.ByteLevel(given, where)
  local words = fields.boolean(given, "use_regex", where, true)
    and by(patterns.compile(GPT2, where), "Isolated", false)
  local adds_space = fields.boolean(given, "add_prefix_space", where)
  return function(text)
    if adds_space and text:sub(1, 1) ~= " " then
      text = " " .. text
    end
    return words and words(text) or { text }
  end
end

function MAKE.Split(given, where)
  return by(M.pattern(given.pattern, where),
    fields.choice(given, "behavior", tables.keys(BEHAVIORS), where),
    fields.boolean(given, "invert", where))
end

function MAKE.Digits(given, where)
  return by(patterns.compile("\\p{N}", where),
    fields.boolean(given, "individual_digits", where) and "Isolated" or "Contiguous", false)
end

-- Before which parts of a text Metaspace adds a space: always, first or never.
local function scheme_of(given, where)
  return fields.choice(given, "prepend_scheme", { "always", "first", "never" }, where,
    fields.boolean(given, "add_prefix_space", where, true) and "always" or "never")
end

function MAKE.Metaspace(given, where)
  local space = fields.text(given, "replacement", where)
  if utf8.len(space) ~= 1 then
    fields.refuse(where, "replacement", space, "one character")
  end
  local scheme = scheme_of(given, where)
  local words = fields.boolean(given, "split", where, true)
    and by(setmetatable({ text = space }, Plain), "MergedWithNext", false)
  return function(text, is_first)
    text = text:gsub(" ", (space:gsub("%%", "%%%%")))
    local begins = scheme == "always" or scheme == "first" and is_first
    if begins and text:sub(1, #space) ~= space then
      text = space .. text
    end
    return words and words(text) or { text }
  end
end

function MAKE.Sequence(given, where, new)
  local steps = tables.map(fields.objects(given, "pretokenizers", where), function(step)
    return new(step, where)
  end)
  return function(text, is_first)
    local list = { text }
    for _, step in ipairs(steps) do
      local longer = {}
      for i, part in ipairs(list) do
        local more = step(part, is_first and i == 1)
        table.move(more, 1, #more, #longer + 1, longer)
      end
      list = longer
    end
    return list
  end
end

--- Reads a pre-tokenizer.
---
--- Errors: a type, or a value of a field, that is not supported.
---@param given any the field `pre_tokenizer` of tokenizer.json
---@param where string the start of messages
---@return fun(text: string, is_first: boolean): string[] words of a text; is_first: it begins the
---   whole text
function M.new(given, where)
  if given == nil or given == core.json_null then
    return function(text) return { text } end
  end
  local kind = type(given) == "table" and given.type
  local make = MAKE[kind]
  if not make then
    fields.refuse(where, "pre_tokenizer", kind or given, "one of "
      .. table.concat(tables.keys(MAKE), ", "))
  end
  return make(given, ("%s: %s"):format(where, kind), M.new)
end

-- The objects of a pre-tokenizer, one after the other.
local function steps_of(given)
  if type(given) ~= "table" then
    return {}
  end
  return given.type == "Sequence" and type(given.pretokenizers) == "table"
    and tables.joined(table.unpack(tables.map(given.pretokenizers, steps_of))) or { given }
end

--- Does a pre-tokenizer replace bytes by characters, as ByteLevel does?
---
--- Errors: ByteLevel is not the last one of a sequence.
---@param given any as for `new`
---@param where string
---@return boolean yes
function M.is_of_bytes(given, where)
  local steps = steps_of(given)
  for i, step in ipairs(steps) do
    if step.type == "ByteLevel" and i < #steps then
      error(where .. ": pre_tokenizer: expected ByteLevel as the last one of a Sequence", 0)
    end
  end
  return #steps > 0 and steps[#steps].type == "ByteLevel"
end

--- Does a pre-tokenizer add a space before a text?
---@param given any as for `new`
---@return boolean yes
function M.adds_space(given)
  for _, step in ipairs(steps_of(given)) do
    if step.type == "Metaspace" and scheme_of(step, "") ~= "never"
      or step.type == "ByteLevel" and fields.boolean(step, "add_prefix_space", "") then
      return true
    end
  end
  return false
end

return M
