--- Tokenizer of a list of words: the vocabulary of a task with problems. Ids count from 0.
local core = require "roper.core"
local escape = require "roper.base.escape"
local tables = require "roper.base.tables"

local M = {}

-- Bytes of words that a message lists; of more, it names two.
local LISTED <const> = 100

---@class Words: Tokenizer
---@field ids table<string, integer> by word
local Words = {}
Words.__index = Words

--- Creates a tokenizer.
---@param name string of the task, for messages
---@param words string[] distinct, not empty
---@return Words words
function M.new(name, words)
  local ids, by_byte, shortest, longest = {}, {}, math.huge, 0
  for i, word in ipairs(words) do
    local byte = word:byte()
    ids[word], longest = i - 1, math.max(longest, #word)
    shortest = math.min(shortest, utf8.len(word) or #word)
    by_byte[byte] = by_byte[byte] or {}
    table.insert(by_byte[byte], word)
  end
  local alone = {} -- the ids of words that no other word begins like, if they have one byte
  for byte, list in pairs(by_byte) do
    table.sort(list, function(a, b) return #a > #b end)
    alone[byte] = #list[1] == 1 and ids[list[1]] or nil
  end
  return setmetatable({ name = name, words = tables.joined(words), ids = ids, by_byte = by_byte,
    alone = alone, shortest = shortest, joint = longest > 1 and " " or "" }, Words)
end

--- Converts a text to token ids, always with the longest word that fits.
---@param text string
---@return integer[]? ids nil if no word fits
---@return integer? index of the byte at which none fits
function Words:find(text)
  local ids, at, alone = {}, 1, self.alone
  while at <= #text do
    local byte = text:byte(at)
    local id, bytes = alone[byte], 1
    for _, word in ipairs(not id and self.by_byte[byte] or {}) do
      if text:sub(at, at + #word - 1) == word then
        id, bytes = self.ids[word], #word
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

--- Returns what a message shows of a text that has no word at a byte: as many characters as the
--- shortest word has, or the byte alone if the text is not UTF-8 from there.
---@param text string
---@param at integer index of the byte
---@return string
function Words:shown(text, at)
  local rest = utf8.len(text, at)
  return text:sub(at, rest and utf8.offset(text, math.min(rest, self.shortest) + 1, at) - 1 or at)
end

--- Converts a text to token ids.
---
--- Errors: a character at which no word begins.
---@param text string
---@return tensor ids [count], int32
function Words:encode(text)
  local ids, at = self:find(text)
  if not ids then
    local words, all = self.words, table.concat(self.words, self.joint)
    error(("task:encode: expected %s, got \"%s\" at index %d"):format(#all > LISTED
      and ("tokens of %s, such as %q and %q"):format(self.name, words[1], words[2])
      or ("the tokens of %s, %q"):format(self.name, all), escape.line(self:shown(text, at)), at), 0)
  end
  return core.tensor(ids, "int32")
end

--- Returns the text of ids.
---@param ids integer[] in the vocabulary
---@return string text
function Words:text(ids)
  return table.concat(tables.map(ids, function(id) return self.words[id + 1] end))
end

return M
