--- Tokenizer of a file tokenizer.json, as the library `tokenizers` of Hugging Face writes it: byte
--- pair encoding of bytes (GPT-2, GPT-NeoX, Llama 3, Qwen2) or of characters (Llama 2, Mistral).
--- Whatever it does not know, it refuses by name.
local added = require "roper.tasks.text.published.added"
local core = require "roper.core"
local fields = require "roper.tasks.text.published.fields"
local files = require "roper.system.file"
local merges = require "roper.tasks.text.published.merges"
local normalize = require "roper.tasks.text.published.normalize"
local split = require "roper.tasks.text.published.split"
local tables = require "roper.base.tables"

local M = {}

---@class PublishedTokenizer
---@field words string[] the texts of tokens by id + 1
---@field merges Merges
---@field begin integer[] ids before each text
---@field finish integer[] ids after each text
---@field adds_space boolean a space is added before a text
local Tokenizer = {}
Tokenizer.__index = Tokenizer

-- The bytes that characters stand for in the vocabulary of GPT-2: printable characters stand for
-- themselves, those from U+0100 on for the other bytes in their order.
local function byte_characters()
  local bytes, other = {}, 0
  for byte = 0, 255 do
    local is_shown = byte >= 33 and byte <= 126 or byte >= 161 and byte ~= 173
    bytes[utf8.char(is_shown and byte or 256 + other)] = string.char(byte)
    other = is_shown and other or other + 1
  end
  return bytes
end

-- Returns a function from a token of the vocabulary to the bytes that it stands for; for one that
-- no text can contain, to the token with a byte in front that no text has.
local function speller(of_bytes)
  if not of_bytes then
    return function(token) return token end
  end
  local bytes = byte_characters()
  return function(token)
    local list = {}
    for char in token:gmatch(utf8.charpattern) do
      list[#list + 1] = bytes[char]
    end
    return #list == utf8.len(token) and table.concat(list) or "\xff\xff" .. token
  end
end

-- Adds the ids of a template to `begin` and `finish`.
local function read_template(self, given, where)
  local list, is_after = self.begin, false
  local known = fields.object(given.special_tokens)
  for _, item in ipairs(fields.objects(given, "single", where)) do
    local token = fields.object(known[fields.object(item.SpecialToken).id or ""])
    if item.Sequence and not is_after then
      list, is_after = self.finish, true
    elseif type(token.ids) == "table" then
      table.move(token.ids, 1, #token.ids, #list + 1, list)
    else
      fields.refuse(where, "TemplateProcessing", item, "a special token, or the sequence once")
    end
  end
end

-- Reads the field post_processor.
local function read_processor(self, given, where)
  local kind = fields.object(given).type
  if given == nil or given == core.json_null or kind == "ByteLevel" then
    return
  elseif kind == "Sequence" then
    for _, step in ipairs(fields.objects(given, "processors", where)) do
      read_processor(self, step, where)
    end
  elseif kind == "TemplateProcessing" then
    read_template(self, given, where)
  else
    fields.refuse(where, "post_processor", kind or given,
      "one of ByteLevel, Sequence, TemplateProcessing")
  end
end

-- The text of a token for decoding.
local function word_of(token, of_bytes, spelled, model)
  if of_bytes then
    return (spelled:gsub("^\xff\xff", ""))
  end
  local byte = model.byte_fallback == true and token:match "^<0x(%x%x)>$"
  return byte and string.char(tonumber(byte, 16)) or (token:gsub(split.SPACE, " "))
end

-- The words by id.
local function words_of(model, texts, of_bytes, spell)
  local words, count = {}, 0
  for token, id in pairs(model.vocab) do
    words[id + 1] = word_of(token, of_bytes, spell(token), model)
    count = math.max(count, id + 1)
  end
  for id, text in pairs(texts) do
    words[id + 1], count = text, math.max(count, id + 1)
  end
  if count > 1 << 24 then
    return nil
  end
  for i = 1, count do
    words[i] = words[i] or ""
  end
  return words
end

-- Can a text be divided before each space that follows another character? It can if no token
-- contains such a space, since then no merge reaches over it.
local function divides_at_spaces(self)
  for token in pairs(self.merges.ids) do
    local rest = token:gsub("^" .. split.SPACE, "")
    while rest:sub(1, #split.SPACE) == split.SPACE do
      rest = rest:sub(#split.SPACE + 1)
    end
    if rest:find(split.SPACE, 1, true) then
      return false
    end
  end
  return self.merges.ids[split.SPACE] ~= nil and not self.merges.takes_whole
end

-- The parts of a word that begin with a run of spaces.
local function at_spaces(word, visit)
  local from, at = 1, word:find(split.SPACE, 2, true)
  while at do
    if word:sub(at - #split.SPACE, at - 1) ~= split.SPACE then
      visit(word:sub(from, at - 1))
      from = at
    end
    at = word:find(split.SPACE, at + #split.SPACE, true)
  end
  visit(word:sub(from))
end

--- Reads a tokenizer.
---
--- Errors: the file is missing or is no such tokenizer; a normalizer, pre-tokenizer, model or post
--- processor that is not supported, with its name; roper was built without PCRE2, and the tokenizer
--- divides texts by patterns.
---@param path string
---@return PublishedTokenizer tokenizer
function M.new(path)
  local where = "text: " .. path
  local given = files.decode(path)
  local model = type(given) == "table" and given.model
  if type(model) ~= "table" then
    error(where .. ": expected a tokenizer.json with a model", 0)
  elseif model.type ~= "BPE" and not (model.type == nil and model.merges) then
    fields.refuse(where, "model", model.type, "BPE")
  end
  for _, field in ipairs { "truncation", "padding" } do
    if given[field] ~= nil and given[field] ~= core.json_null then
      fields.refuse(where, field, given[field], "null")
    end
  end
  local of_bytes = split.is_of_bytes(given.pre_tokenizer, where)
  local spell = speller(of_bytes)
  local self = setmetatable({ begin = {}, finish = {}, path = path }, Tokenizer)
  self.merges = merges.new(model, spell, of_bytes and "." or utf8.charpattern, where)
  self.normalize = normalize.new(given.normalizer, where)
  self.split = split.new(given.pre_tokenizer, where)
  self.raw, self.normalized, self.texts = added.read(given, self.normalize, where)
  read_processor(self, given.post_processor, where)
  self.words = words_of(model, self.texts, of_bytes, spell)
    or error(where .. ": expected at most 16,777,216 tokens", 0)
  for _, id in ipairs(tables.joined(self.begin, self.finish)) do
    if not self.words[math.type(id) == "integer" and id + 1] then
      fields.refuse(where, "TemplateProcessing", id, "ids of tokens")
    end
  end
  self.adds_space = split.adds_space(given.pre_tokenizer)
    or not of_bytes and self.normalize "a" ~= "a"
  self.is_cut = not of_bytes and divides_at_spaces(self)
  return self
end

--- The ids of a text.
---
--- Errors: text that is not UTF-8.
---@param text string
---@param bare? boolean without the ids before and after each text
---@return integer[] ids
function Tokenizer:ids(text, bare)
  local _, bad = utf8.len(text)
  if bad then
    error(("text: expected text in UTF-8, got the byte 0x%02X at byte %d"):format(text:byte(bad),
      bad), 0)
  end
  local list = bare and {} or tables.joined(self.begin)
  local function add(id)
    list[#list + 1] = id
  end
  local function encode(word)
    self.merges:encode(word, list)
  end
  self.raw:each(text, function(part, first)
    self.normalized:each(self.normalize(part), function(plain, start)
      for _, word in ipairs(self.split(plain, first == 1 and start == 1)) do
        if self.is_cut then
          at_spaces(word, encode)
        elseif word ~= "" then
          encode(word)
        end
      end
    end, add)
  end, add)
  return bare and list or table.move(self.finish, 1, #self.finish, #list + 1, list)
end

return M
