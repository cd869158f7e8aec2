--- Vocabularies of tasks in Lua: lists of strings, whose ids count from 0.
local options_of = require "roper.base.options"

local M = {}

--- Converts token ids to a text.
---
--- Errors: an id outside the vocabulary.
---@param words string[]
---@param ids tensor|integer[] [count], int32
---@return string text
function M.decode(words, ids)
  local list = {}
  for i, id in ipairs(type(ids) == "table" and ids or ids:totable()) do
    list[i] = words[id + 1]
    if not list[i] then
      error(("task:decode: expected token ids from 0 to %d, got %s at index %d"):format(#words - 1,
        options_of.shown(id), i), 3)
    end
  end
  return table.concat(list)
end

--- Prepares a vocabulary for `encode`.
---@param words string[] distinct, not empty
---@return table vocabulary words; ids: by word; others for `encode`
function M.new(words)
  local ids, by_byte = {}, {}
  for i, word in ipairs(words) do
    local byte = word:byte()
    ids[word] = i - 1
    by_byte[byte] = by_byte[byte] or {}
    table.insert(by_byte[byte], word)
  end
  local alone = {} -- the ids of words that no other word begins like, if they have one byte
  for byte, list in pairs(by_byte) do
    table.sort(list, function(a, b) return #a > #b end)
    alone[byte] = #list[1] == 1 and ids[list[1]] or nil
  end
  return { words = words, ids = ids, by_byte = by_byte, alone = alone }
end

--- Converts a text to token ids, always with the longest word that fits.
---@param vocabulary table from `new`
---@param text string
---@return integer[]? ids nil if no word fits
---@return integer? index of the byte at which none fits
function M.encode(vocabulary, text)
  local ids, at, alone = {}, 1, vocabulary.alone
  while at <= #text do
    local byte = text:byte(at)
    local id, bytes = alone[byte], 1
    for _, word in ipairs(not id and vocabulary.by_byte[byte] or {}) do
      if text:sub(at, at + #word - 1) == word then
        id, bytes = vocabulary.ids[word], #word
        break
      end
    end
    if not id then
      return nil, at
    end
    ids[#ids + 1], at = id, at + bytes
  end
  return ids
end

--- Returns the character at a byte of a text; the byte alone if the text is not UTF-8 from there.
---@param text string
---@param at integer index of its first byte
---@return string character
function M.character(text, at)
  return text:sub(at, utf8.len(text, at) and utf8.offset(text, 2, at) - 1 or at)
end

return M
