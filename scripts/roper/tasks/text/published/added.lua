--- Added tokens of a published tokenizer, such as <|endoftext|>: they are found in a text before it
--- is divided into words.
local core = require "roper.core"
local fields = require "roper.tasks.text.published.fields"

local M = {}

-- The white space that lstrip and rstrip take, by character.
local BLANK <const> = {}
for first, last in ("9-d 20-20 85-85 a0-a0 1680-1680 2000-200a 2028-2029 202f-202f 205f-205f "
  .. "3000-3000"):gmatch "(%x+)%-(%x+)" do
  for char = tonumber(first, 16), tonumber(last, 16) do
    BLANK[utf8.char(char)] = true
  end
end

---@class AddedToken
---@field text string
---@field id integer
---@field lstrip boolean it takes the white space before it
---@field rstrip boolean it takes the white space after it

---@class AddedTokens
---@field by_byte table<string, AddedToken[]> by their first byte, the longest first
---@field first string? pattern of the first bytes; nil without tokens
local Added = {}
Added.__index = Added

--- Creates a set of tokens to find.
---@param list AddedToken[]
---@return AddedTokens added
function M.new(list)
  local self, bytes = setmetatable({ by_byte = {} }, Added), {}
  for _, token in ipairs(list) do
    local byte = token.text:sub(1, 1)
    if not self.by_byte[byte] then
      self.by_byte[byte] = {}
      bytes[#bytes + 1] = byte:gsub("%p", "%%%0")
    end
    table.insert(self.by_byte[byte], token)
  end
  for _, tokens in pairs(self.by_byte) do
    table.sort(tokens, function(a, b) return #a.text > #b.text end)
  end
  self.first = bytes[1] and "[" .. table.concat(bytes) .. "]"
  return self
end

-- The first token from an offset on, the longest of several, with its start and end.
local function next_token(self, text, at)
  at = text:find(self.first, at)
  while at do
    for _, token in ipairs(self.by_byte[text:sub(at, at)]) do
      if text:sub(at, at + #token.text - 1) == token.text then
        return token, at, at + #token.text - 1
      end
    end
    at = text:find(self.first, at + 1)
  end
end

-- The start of the white space that ends before `at`, but not before `from`.
local function before(text, from, at)
  while at > from do
    local char = utf8.offset(text, -1, at)
    if char < from or not BLANK[text:sub(char, at - 1)] then
      break
    end
    at = char
  end
  return at
end

-- The end of the white space that begins after `at`.
local function after(text, at)
  while at < #text do
    local char = text:match("^" .. utf8.charpattern, at + 1)
    if not BLANK[char] then
      break
    end
    at = at + #char
  end
  return at
end

--- Divides a text at the tokens: calls a function for each part that is none, and another one for
--- each token.
---@param text string
---@param part fun(text: string, first: integer) not empty; first: the index of its first byte
---@param token fun(id: integer)
function Added:each(text, part, token)
  local done = 1
  local function give(last)
    if last >= done then
      part(text:sub(done, last), done)
    end
  end
  local found, first, last
  if self.first then
    found, first, last = next_token(self, text, 1)
  end
  while found do
    give((found.lstrip and before(text, done, first) or first) - 1)
    token(found.id)
    last = found.rstrip and after(text, last) or last
    done = last + 1
    found, first, last = next_token(self, text, done)
  end
  give(#text)
end

--- Reads the added tokens of a tokenizer.
---
--- Errors: an entry without a text or an id; one that is only a whole word.
---@param given table the content of tokenizer.json
---@param normalize fun(text: string): string
---@param where string the start of messages
---@return AddedTokens raw those that are found before the text is normalized
---@return AddedTokens normalized those that are found after
---@return table<integer, string> texts by id
function M.read(given, normalize, where)
  local raw, normalized, texts = {}, {}, {}
  for _, entry in ipairs(fields.objects(given, "added_tokens", where)) do
    local function has(field)
      return fields.boolean(entry, field, where .. ": added_tokens")
    end
    local text, id = entry.content, entry.id
    if type(text) ~= "string" or text == "" or math.type(id) ~= "integer" or id < 0 then
      error(("%s: added_tokens: expected a content and an id, got %s"):format(where,
        core.json_encode(entry)), 0)
    elseif has "single_word" then
      error(("%s: added_tokens: single_word = true, of %s, is not supported"):format(where,
        core.json_encode(text)), 0)
    end
    texts[id] = text
    local is_normalized = has "normalized"
    table.insert(is_normalized and normalized or raw, { id = id, lstrip = has "lstrip",
      text = is_normalized and normalize(text) or text, rstrip = has "rstrip" })
  end
  return M.new(raw), M.new(normalized), texts
end

return M
