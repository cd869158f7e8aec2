--- What is in the file of a SentencePiece model: its pieces, and how it treats white space. It is a
--- message of Protocol Buffers (sentencepiece_model.proto).
local M = {}

-- Kinds of pieces.
local UNKNOWN <const>, CONTROL <const>, BYTE <const> = 2, 3, 6

--- The character that pieces have for a space. A text may contain it too.
M.SPACE = "\u{2581}"

-- The number at a place, seven bits a byte, lowest first; and the place after it.
local function varint(data, at)
  local value, shift = 0, 0
  repeat
    local byte = data:byte(at) or error "cut"
    value = value | (byte & 127) << shift
    at, shift = at + 1, shift + 7
  until byte < 128
  return value, at
end

-- The fields of a message: its number and value of each, in their order.
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

-- The text of a piece, and its kind.
local function word_of(message)
  local text, kind = "", 1
  for number, value in fields(message) do
    if number == 1 then
      text = value
    elseif number == 3 then
      kind = value
    end
  end
  if kind == BYTE then
    return string.char(tonumber(text:match "^<0x(%x%x)>$", 16)), kind
  end
  return kind == CONTROL and "\0" or kind == UNKNOWN and "\u{2047}" or text:gsub(M.SPACE, " "), kind
end

-- Does a model keep every character, and add none?
local function is_faithful(message)
  local spec = {}
  for number, value in fields(message) do
    spec[number] = value
  end
  return spec[1] == "identity" and spec[3] == 0 and spec[4] == 0
end

local function read(data)
  local words, bytes, faithful = {}, {}, false
  for number, value in fields(data) do
    if number == 1 then
      local word, kind = word_of(value)
      words[#words + 1] = word
      if kind == BYTE then
        bytes[word] = #words - 1
      elseif (kind == CONTROL) ~= (#words == 1) then
        return nil
      end
    elseif number == 3 then
      faithful = is_faithful(value)
    end
  end
  for value = 0, 255 do
    faithful = faithful and bytes[string.char(value)] ~= nil
  end
  return faithful and words or nil, bytes
end

--- The pieces of a model, by their ids from 0 on: the text that each stands for. The first ends
--- documents, and stands for a zero byte.
---
--- Errors: what is no whole model; one that does not end documents by its first piece, has no piece
--- for each byte, or changes text.
---@param data string
---@param path string for messages
---@return string[] words
---@return table<string, integer> bytes the ids of the pieces for one byte
function M.read(data, path)
  local ok, words, bytes = pcall(read, data)
  if not ok then
    error(("text: %s: expected a model of SentencePiece, got a damaged one or another file")
      :format(path), 0)
  elseif not words then
    error(("text: %s: expected a model that the text task trained, got another one"):format(path),
      0)
  end
  return words, bytes
end

return M
