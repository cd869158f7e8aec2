--- Byte tokenizer: each byte is a token, and its value is the id. The id 0 ends documents.
local core = require "roper.core"
local tables = require "roper.base.tables"

local M = {}

local Bytes = {}
Bytes.__index = Bytes

function M.new()
  local words = {}
  for id = 0, 255 do
    words[id + 1] = string.char(id)
  end
  return setmetatable({ words = words }, Bytes)
end

--- Appends documents to a corpus.
---@param writer corpus_writer
---@param part "training"|"validation"
---@param texts string[]
function Bytes.write(_, writer, part, texts)
  for _, text in ipairs(texts) do
    writer:bytes(text)
    writer:end_document(part, #text)
  end
end

-- The ids of a text as a list.
local function ids_of(text)
  local ids = {}
  for i = 1, #text do
    ids[i] = text:byte(i)
  end
  return ids
end

--- The ids of texts.
---@param texts string[]
---@return integer[][] ids
function Bytes.all_ids(_, texts)
  return tables.map(texts, ids_of)
end

--- The ids of a text.
---@param text string
---@return tensor ids [count], int32
function Bytes.encode(_, text)
  return core.tensor(ids_of(text), "int32")
end

return M
