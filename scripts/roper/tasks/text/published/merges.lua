--- Byte-pair encoding (Sennrich et al. 2016) with the merges of a published tokenizer: the pair of
--- neighbours with the lowest rank is joined, the leftmost first, until no pair can be.
local core = require "roper.core"
local fields = require "roper.tasks.text.published.fields"

local M = {}

-- Words whose ids are kept, and the longest of them in bytes.
local MOST_KEPT <const>, LONGEST_KEPT <const> = 1 << 17, 128

-- Bits of a position in a key of the heap; the rank is in front of them.
local POSITION <const> = 32

---@class Merges
---@field ids table<string, integer> of tokens by their text
---@field ranks table<integer, integer> of pairs
---@field results table<integer, integer> the ids of joined pairs
---@field kept table<string, integer[]> the ids of words
---@field count integer words that are kept
---@field symbol string pattern of the texts with which a word begins
---@field takes_whole boolean a word that is a token is not divided
---@field unknown? integer the id of a symbol that is no token
---@field fuses boolean several such symbols get one id
---@field bytes? table<integer, integer> the ids of the bytes of such symbols
local Merges = {}
Merges.__index = Merges

local function key_of(a, b)
  return a << 32 | b
end

-- The two texts of a merge, which is a list of them or a text with a blank between them.
local function sides(merge, fail)
  local left, right
  if type(merge) == "table" then
    left, right = merge[1], merge[2]
  elseif type(merge) == "string" then
    left, right = merge:match "^([^ ]+) ([^ ]+)$"
  end
  if type(left) ~= "string" or type(right) ~= "string" then
    fail(("merges: expected two tokens, got %s"):format(core.json_encode(merge)))
  end
  return left, right
end

-- Fields that must not be set.
local UNSET <const> = { "dropout", "continuing_subword_prefix", "end_of_word_suffix" }

local function is_off(value)
  return value == nil or value == core.json_null or value == "" or value == 0
end

-- Reads the vocabulary and the merges.
local function read(self, given, spell, fail)
  for token, id in pairs(given.vocab) do
    if type(token) ~= "string" or math.type(id) ~= "integer" or id < 0 or id >= 1 << 31 then
      fail(("vocab: expected an id for each token, got %s"):format(core.json_encode(id)))
    end
    self.ids[spell(token)] = id
  end
  for rank, merge in ipairs(given.merges) do
    local left, right = sides(merge, fail)
    local a, b = given.vocab[left], given.vocab[right]
    local joined = given.vocab[left .. right]
    if not (a and b and joined) then
      fail(("merges: expected tokens of vocab, got %s and %s"):format(core.json_encode(left),
        core.json_encode(right)))
    end
    self.ranks[key_of(a, b)], self.results[key_of(a, b)] = rank, joined
  end
end

-- The ids of the bytes, which have the tokens <0x00> ... <0xFF>.
local function bytes_of(vocab, fail)
  local ids = {}
  for byte = 0, 255 do
    local token = ("<0x%02X>"):format(byte)
    ids[byte] = vocab[token]
      or fail(("byte_fallback: expected the token %s in vocab"):format(token))
  end
  return ids
end

--- Reads a model of the type BPE.
---
--- Errors: a field with a value that is not supported, or of another type.
---@param given table the field `model` of tokenizer.json
---@param spell fun(token: string): string the text that a token of the vocabulary stands for
---@param symbol string pattern of Lua for the texts with which a word begins: "." for bytes, or
---   `utf8.charpattern`
---@param where string the start of messages
---@return Merges merges
function M.new(given, spell, symbol, where)
  local function fail(text)
    error(("%s: model: %s"):format(where, text), 0)
  end
  if type(given.vocab) ~= "table" or type(given.merges) ~= "table" then
    fail "expected the fields vocab and merges"
  end
  for _, field in ipairs(UNSET) do
    if not is_off(given[field]) then
      fail(("%s = %s is not supported; expected null"):format(field,
        core.json_encode(given[field])))
    end
  end
  local model = where .. ": model"
  local self = setmetatable({ ids = {}, ranks = {}, results = {}, kept = {}, count = 0,
    symbol = symbol, takes_whole = fields.boolean(given, "ignore_merges", model),
    fuses = fields.boolean(given, "fuse_unk", model) }, Merges)
  self.bytes = fields.boolean(given, "byte_fallback", model) and bytes_of(given.vocab, fail) or nil
  if type(given.unk_token) == "string" then
    self.unknown = given.vocab[given.unk_token]
      or fail(("unk_token: expected a token of vocab, got %s"):format(
        core.json_encode(given.unk_token)))
  end
  read(self, given, spell, fail)
  return self
end

-- The ids of the symbols of a word.
local function symbols_of(self, word)
  local list, was_unknown = {}, false
  for symbol in word:gmatch(self.symbol) do
    local id = self.ids[symbol]
    if not id and self.bytes then
      for i = 1, #symbol do
        list[#list + 1] = self.bytes[symbol:byte(i)]
      end
    elseif id or self.unknown and not (was_unknown and self.fuses) then
      list[#list + 1] = id or self.unknown
    end
    was_unknown = not id
  end
  return list
end

-- Adds a number to a heap, whose first element is the smallest.
local function push(heap, value)
  local at = #heap + 1
  while at > 1 and heap[at // 2] > value do
    heap[at], at = heap[at // 2], at // 2
  end
  heap[at] = value
end

-- Removes the smallest number of a heap.
local function pop(heap)
  local least, last, count = heap[1], table.remove(heap), #heap
  if count == 0 then
    return least
  end
  local at = 1
  while 2 * at <= count do
    local child = 2 * at
    if child < count and heap[child + 1] < heap[child] then
      child = child + 1
    end
    if heap[child] >= last then
      break
    end
    heap[at], at = heap[child], child
  end
  heap[at] = last
  return least
end

-- Joins the symbols of a word; `list` becomes the ids.
local function join(self, list)
  local ranks, count = self.ranks, #list
  local heap, following, before = {}, {}, {}
  local function offer(at)
    local next_one = following[at]
    local rank = list[next_one] and ranks[key_of(list[at], list[next_one])]
    if rank then
      push(heap, rank << POSITION | at)
    end
  end
  for at = 1, count do
    following[at], before[at] = at + 1, at - 1
  end
  for at = 1, count - 1 do
    offer(at)
  end
  while heap[1] do
    local top = pop(heap)
    local at = top & (1 << POSITION) - 1
    local next_one = following[at]
    local key = list[at] and list[next_one] and key_of(list[at], list[next_one])
    if key and ranks[key] == top >> POSITION then
      list[at], list[next_one] = self.results[key], false
      following[at] = following[next_one]
      if following[at] <= count then
        before[following[at]] = at
      end
      offer(at)
      if before[at] > 0 then
        offer(before[at])
      end
    end
  end
  local ids, at = {}, 1
  while at <= count do
    ids[#ids + 1], at = list[at], following[at]
  end
  return ids
end

--- Appends the ids of a word to a list.
---@param word string
---@param list integer[]
function Merges:encode(word, list)
  local ids = self.kept[word]
  if not ids then
    local whole = self.takes_whole and self.ids[word]
    ids = whole and { whole } or join(self, symbols_of(self, word))
    if #word <= LONGEST_KEPT then
      if self.count == MOST_KEPT then
        self.kept, self.count = {}, 0
      end
      self.kept[word], self.count = ids, self.count + 1
    end
  end
  local count = #list
  for i = 1, #ids do
    list[count + i] = ids[i]
  end
end

return M
