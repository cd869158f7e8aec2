--- Tokenizer in the folder of a published model: its tokenizer.json or, without one, its
--- tokenizer.model, for the text task and for prompts. The token that ends a text is a zero byte.
local core = require "roper.core"
local digits = require("roper.base.hash").digits
local files = require "roper.system.file"
local foreign = require "roper.tasks.text.foreign"
local json = require "roper.tasks.text.published.json"
local tables = require "roper.base.tables"

local M = {}

---@class FolderTokenizer: Tokenizer
---@field stop? integer the id that ends a text
---@field begin boolean a text begins with ids of its own
---@field path string the folder
local Folder = {}
Folder.__index = Folder

-- The files that decide about ids, in the order of their use.
local FILES <const> = { "tokenizer.json", "tokenizer.model", "tokenizer_config.json" }

-- The ids in a field of a JSON object that end a text.
local function ends_of(object)
  local ends = object and object.eos_token_id
  return tables.map(type(ends) == "table" and ends or { ends }, function(id)
    return math.type(id) == "integer" and id or nil
  end)
end

-- A tokenizer of SentencePiece with the interface of `json`.
local function sentencepiece(folder)
  local settings = files.decode(folder .. "/tokenizer_config.json") or {}
  local tokenizer = foreign.new(folder .. "/tokenizer.model", settings.add_bos_token ~= false)
  return { words = tokenizer.words, adds_space = tokenizer.has_prefix,
    begin = { tokenizer.begin }, finish = {},
    all_ids = function(_, texts) return tokenizer:all_ids(texts) end }
end

--- Does a folder have the files of a tokenizer?
---@param folder string
---@return boolean yes
function M.is_in(folder)
  return files.stat(folder .. "/tokenizer.json") ~= nil
    or files.stat(folder .. "/tokenizer.model") ~= nil
end

--- The hash of the files that decide about ids.
---@param folder string
---@return string digits
function M.hash(folder)
  local hash = core.hash ""
  for _, name in ipairs(tables.joined(FILES, { "config.json" })) do
    hash = core.hash(("%s\0%s\0"):format(name, files.read(("%s/%s"):format(folder, name)) or ""),
      hash)
  end
  return digits(hash)
end

--- Opens the tokenizer of a folder.
---
--- Errors: the folder has none, or one that is not supported; it has more tokens than the model of
--- the folder.
---@param folder string
---@param count? integer tokens of the model; by default those of config.json, if there is one
---@return FolderTokenizer tokenizer
function M.new(folder, count)
  local config = files.decode(folder .. "/config.json") or {}
  count = count or math.type(config.vocab_size) == "integer" and config.vocab_size or nil
  local source = files.stat(folder .. "/tokenizer.json") and json.new(folder .. "/tokenizer.json")
    or M.is_in(folder) and sentencepiece(folder)
    or error(("text: expected tokenizer.json or tokenizer.model in %s, found neither"):format(
      folder), 0)
  local words = tables.joined(source.words)
  if count and #words > count then
    error(("text: %s: expected at most %d tokens, those of the model, got %d"):format(folder, count,
      #words), 0)
  end
  for id = #words, (count or 0) - 1 do -- some models round up their vocabulary
    words[id + 1] = ""
  end
  for _, id in ipairs(tables.joined(source.begin, source.finish)) do -- every text gets them again
    words[id + 1] = ""
  end
  local ends = ends_of(config)
  if not ends[1] then
    ends = ends_of(files.decode(folder .. "/generation_config.json"))
  end
  for _, id in ipairs(ends) do
    words[id + 1] = words[id + 1] and "\0"
  end
  return setmetatable({ source = source, words = words, stop = ends[1], path = folder,
    begin = source.begin[1] ~= nil }, Folder)
end

--- The ids of texts, each with those that the tokenizer adds.
---@param texts string[]
---@return integer[][] ids
function Folder:all_ids(texts)
  if self.source.all_ids then
    return self.source:all_ids(texts)
  end
  return tables.map(texts, function(text) return self.source:ids(text) end)
end

--- Appends documents to a corpus.
---
--- Errors: no id ends a text.
---@param writer corpus_writer
---@param part "training"|"validation"
---@param texts string[]
function Folder:write(writer, part, texts)
  if not self.stop then
    error(("text: expected an eos_token_id in %s/config.json, the token that ends documents")
      :format(self.path), 0)
  end
  for i, ids in ipairs(self:all_ids(texts)) do
    writer:ids(table.concat(ids, " "))
    writer:end_document(part, #texts[i])
  end
end

--- The ids of a text. A zero byte is the id that ends a text.
---
--- Errors: text that is not UTF-8; a zero byte, if no id ends a text.
---@param text string
---@return tensor ids [count], int32
function Folder:encode(text)
  local texts, ids = {}, {}
  for part in (text .. "\0"):gmatch "(.-)\0" do
    texts[#texts + 1] = part
  end
  if texts[2] and not self.stop then
    error(("text: expected text without zero bytes: %s has no eos_token_id"):format(self.path), 0)
  end
  local last = texts[#texts] == "" and texts[2] and table.remove(texts)
  for i, list in ipairs(self:all_ids(texts)) do
    table.move(list, 1, #list, #ids + 1, ids)
    ids[#ids + 1] = (i < #texts or last) and self.stop or nil
  end
  return core.tensor(ids, "int32")
end

--- Removes the space that the tokenizer adds before a text.
function Folder:decode(text)
  return self.source.adds_space and text:gsub("^(%z*) ", "%1", 1) or text
end

return M
