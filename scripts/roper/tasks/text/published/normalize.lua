--- Changes of a text before it is divided, the `normalizer` of a published tokenizer.
local core = require "roper.core"
local fields = require "roper.tasks.text.published.fields"
local nfc = require "roper.tasks.text.published.nfc"
local split = require "roper.tasks.text.published.split"
local tables = require "roper.base.tables"

local M = {}

local MAKE = {} -- functions of the object, the start of messages and `new`

function MAKE.NFC()
  return nfc.composed
end

function MAKE.Prepend(given, where)
  local start = fields.text(given, "prepend", where)
  return function(text) return text ~= "" and start .. text or text end
end

function MAKE.Replace(given, where)
  local pattern, content = split.pattern(given.pattern, where), fields.text(given, "content", where)
  return function(text)
    local parts = pattern:split(text)
    for i = 2, #parts, 2 do
      parts[i] = content
    end
    return table.concat(parts)
  end
end

function MAKE.Sequence(given, where, new)
  local steps = tables.map(fields.objects(given, "normalizers", where), function(step)
    return new(step, where)
  end)
  return function(text)
    for _, step in ipairs(steps) do
      text = step(text)
    end
    return text
  end
end

--- Reads a normalizer.
---
--- Errors: a type, or a value of a field, that is not supported.
---@param given any the field `normalizer` of tokenizer.json
---@param where string the start of messages
---@return fun(text: string): string normalize
function M.new(given, where)
  if given == nil or given == core.json_null then
    return function(text) return text end
  end
  local kind = type(given) == "table" and given.type
  local make = MAKE[kind]
  if not make then
    fields.refuse(where, "normalizer", kind or given, "one of "
      .. table.concat(tables.keys(MAKE), ", "))
  end
  return make(given, ("%s: %s"):format(where, kind), M.new)
end

return M
