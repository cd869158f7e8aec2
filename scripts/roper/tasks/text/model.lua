--- Parser of SentencePiece models: their pieces and normalization. A model is a Protocol Buffers
--- message (sentencepiece_model.proto).
local diagnostics = require "roper.text.diagnostics"

local M = {}

-- Types of pieces.
local UNKNOWN <const>, CONTROL <const>, BYTE <const> = 2, 3, 6

--- The character that represents a space in pieces. A text may contain it too.
M.SPACE = "\u{2581}"

-- The varint at an offset, seven bits in each byte, lowest first, and the offset after it.
local function varint(data, at)
  local value, shift = 0, 0
  repeat
    local byte = data:byte(at) or error "cut"
    value = value | (byte & 127) << shift
    at, shift = at + 1, shift + 7
  until byte < 128
  return value, at
end

-- Iterates over the fields of a message: number and value.
local function fields(data)
  local at = 1
  return function()
    if at > #data then
      return nil
    end
    local tag, value
    tag, at = varint(data, at)
    local kind = tag & 7
    if kind == 0 then
      value, at = varint(data, at)
      return tag >> 3, value
    end
    local size = kind == 1 and 8 or kind == 5 and 4 or nil
    if kind == 2 then
      size, at = varint(data, at)
    end
    if not size or size < 0 or size > #data - at + 1 then
      error "cut"
    end
    value, at = data:sub(at, at + size - 1), at + size
    return tag >> 3, value
  end
end

-- The values of the fields of a message by number; the last of a repeated field.
local function values_of(message)
  local values = {}
  for number, value in fields(message) do
    values[number] = value
  end
  return values
end

-- The text of a piece and its type.
local function word_of(message)
  local piece = values_of(message)
  local text, kind = piece[1] or "", piece[3]
  if kind == BYTE then
    return string.char(tonumber(text:match "^<0x(%x%x)>$", 16)), kind
  end
  return kind == CONTROL and "\0" or kind == UNKNOWN and "\u{2047}" or text:gsub(M.SPACE, " "), kind
end

local function parse(data)
  local model = { words = {}, bytes = {}, controls = 0 }
  local trainer, normalizer = "", ""
  for number, value in fields(data) do
    if number == 1 then
      local word, kind = word_of(value)
      model.words[#model.words + 1] = word
      model.controls = model.controls + (kind == CONTROL and 1 or 0)
      if kind == BYTE then
        model.bytes[word] = #model.words - 1
      end
    elseif number == 2 then
      trainer = value
    elseif number == 3 then
      normalizer = value
    end
  end
  model.begin = values_of(trainer)[41] or 1
  model.begin = model.begin >= 0 and model.words[model.begin + 1] == "\0" and model.begin or nil
  local spec = values_of(normalizer)
  model.has_prefix, model.normalizer = spec[3] ~= 0, spec[1] or ""
  model.is_faithful = spec[1] == "identity" and spec[3] == 0 and spec[4] == 0
  return model
end

---@class PieceModel
---@field words string[] the text of each piece, in the order of ids; "\0" for control pieces
---@field bytes table<string, integer> the ids of the pieces for one byte
---@field begin? integer the id of the piece that begins a text
---@field has_prefix boolean a space is added before a text
---@field normalizer string the name of its rules, such as "identity" or "nmt_nfkc"
---@field is_faithful boolean tokenization leaves a text as it is
---@field controls integer number of control pieces

--- The pieces of any SentencePiece model.
---
--- Errors: a damaged model.
---@param data string
---@param path string for messages
---@return PieceModel model
function M.read_any(data, path)
  local ok, model = pcall(parse, data)
  if not ok and diagnostics.is_transient(model) then
    error(model, 0)
  elseif not ok or #model.words == 0 then
    error(("text: %s: expected a SentencePiece model, got a damaged file or one of another kind")
      :format(path), 0)
  end
  return model
end

--- The text of each piece of a model, in the order of ids. The first piece, with id 0, ends
--- documents; its text is a zero byte.
---
--- Errors: a damaged model; a model whose first piece is not the only control piece, that lacks a
--- piece for some byte, or that normalizes text.
---@param data string
---@param path string for messages
---@return string[] words
---@return table<string, integer> bytes the ids of the pieces for one byte
function M.read(data, path)
  local model = M.read_any(data, path)
  local is_ours = model.is_faithful and model.controls == 1 and model.words[1] == "\0"
  for value = 0, 255 do
    is_ours = is_ours and model.bytes[string.char(value)] ~= nil
  end
  if not is_ours then
    error(("text: %s: expected a SentencePiece model trained by the text task, got another model")
      :format(path), 0)
  end
  return model.words, model.bytes
end

return M
