--- SentencePiece tokenizer (Kudo and Richardson 2018), run through the programs spm_train and
--- spm_encode. Tokenization is lossless: characters without a piece are encoded as bytes. A newline
--- is encoded as a byte, since the programs read lines, and U+2581 as its bytes, since pieces use
--- it for a space.
local core = require "roper.core"
local files = require "roper.system.file"
local model = require "roper.tasks.text.model"
local process = require "roper.system.process"
local tables = require "roper.base.tables"
local temporary = require "roper.system.temporary"

local M = {}

-- The smallest limit for the length of a line, in bytes; spm_train skips longer lines.
local LINE <const> = 4192

local PACKAGE <const> = "sentencepiece"

local Pieces = {}
Pieces.__index = Pieces

local function write_lines(path, lines)
  files.write(path, table.concat(lines, "\n") .. (#lines > 0 and "\n" or ""))
end

-- Appends to a list the parts of a text between newlines and U+2581, at least one, and to `joints`
-- the separator after each: true for a newline, false for U+2581.
local function split(text, list, joints)
  for line in (text .. "\n"):gmatch "(.-)\n" do
    for part in (line .. model.SPACE):gmatch("(.-)" .. model.SPACE) do
      list[#list + 1] = part
      joints[#list] = false
    end
    joints[#list] = true
  end
end

--- Trains a model.
---
--- Errors: a missing program; a vocabulary too large or too small for the text; a full disk.
---@param path string of the model, which is written atomically
---@param folder string for work files
---@param vocabulary integer number of pieces
---@param texts string[] to train on
function M.train(path, folder, vocabulary, texts)
  local lines, longest = {}, LINE
  for _, text in ipairs(texts) do
    split(text, lines, {})
  end
  for _, line in ipairs(lines) do
    longest = math.max(longest, #line + 1)
  end
  write_lines(folder .. "/lines.txt", lines)
  local ok, message = pcall(process.run, "spm_train", { "--input=lines.txt",
    "--model_prefix=pieces", "--vocab_size=" .. vocabulary, "--max_sentence_length=" .. longest,
    "--eos_id=0", "--unk_id=1", "--bos_id=-1", "--pad_id=-1", "--byte_fallback=true",
    "--normalization_rule_name=identity", "--add_dummy_prefix=false",
    "--remove_extra_whitespaces=false", "--minloglevel=2" }, { package = PACKAGE, folder = folder })
  if not ok then
    local limit = message:match "Vocabulary size too high.-<= (%d+)"
    local fewest = message:match "smaller than required_chars%. %d+ vs (%d+)"
    error(limit and ("text: a vocabulary of %d is too large for the text; use at most %s"):format(
      vocabulary, limit)
      or fewest and ("text: a vocabulary of %d is too small for the text; use more than %s"):format(
        vocabulary, fewest)
      or message .. (message:find "Write" and "; is the disk full?" or ""), 0)
  end
  local data = files.read(folder .. "/pieces.model") or ""
  local words = model.read(data, folder .. "/pieces.model")
  if #words ~= vocabulary then
    error(("text: expected %d pieces from spm_train, got %d"):format(vocabulary, #words), 0)
  end
  files.write(path, data)
end

--- The tokenizer of a model.
---
--- Errors: a model that is missing, damaged, or not trained by the text task.
---@param path string
---@return table tokenizer
function M.new(path)
  local data = files.read(path)
  if not data then
    error(("text: no model %s"):format(path), 0)
  end
  local words, bytes = model.read(data, path)
  local space = model.SPACE:gsub(".", function(byte)
    return ("%d "):format(bytes[byte])
  end)
  return setmetatable({ path = path, words = words,
    joints = { [true] = (" %d "):format(bytes["\n"]), [false] = " " .. space } }, Pieces)
end

-- The ids of each line, as text.
local function encoded(self, lines, folder)
  write_lines(folder .. "/lines.txt", lines)
  process.run("spm_encode", { "--model=" .. self.path, "--output_format=id",
    "--input=" .. folder .. "/lines.txt", "--output=" .. folder .. "/ids.txt" },
    { package = PACKAGE })
  local text, list = files.read(folder .. "/ids.txt") or "", {}
  for line in text:gmatch "([^\n]*)\n" do
    list[#list + 1] = line
  end
  if #list ~= #lines or not text:find "\n$" then
    error(("text: expected %d lines from spm_encode, got %d; is the disk full?"):format(#lines,
      #list), 0)
  end
  return list
end

-- The ids of each text, as text.
local function ids_of(self, texts, folder)
  local parts, joints, ends = {}, {}, {}
  for i, text in ipairs(texts) do
    split(text, parts, joints)
    ends[i] = #parts
  end
  local ids, first = encoded(self, parts, folder), 1
  return tables.map(ends, function(last)
    local list = {}
    for i = first, last do
      list[#list + 1] = ids[i]
      list[#list + 1] = i < last and self.joints[joints[i]] or nil
    end
    first = last + 1
    return table.concat(list)
  end)
end

--- The ids of texts.
---@param texts string[]
---@param folder string for work files
---@return integer[][] ids
function Pieces:all_ids(texts, folder)
  return tables.map(ids_of(self, texts, folder), function(text)
    local ids = {}
    for id in text:gmatch "%d+" do
      ids[#ids + 1] = math.tointeger(id)
    end
    return ids
  end)
end

--- Appends documents to a corpus.
---@param writer corpus_writer
---@param part "training"|"validation"
---@param texts string[]
---@param folder string for work files
function Pieces:write(writer, part, texts, folder)
  for i, ids in ipairs(ids_of(self, texts, folder)) do
    writer:ids(ids)
    writer:end_document(part, #texts[i])
  end
end

--- The ids of a text.
---@param text string
---@return tensor ids [count], int32
function Pieces:encode(text)
  local documents, ids = {}, {}
  for document in (text .. "\0"):gmatch "(.-)\0" do
    documents[#documents + 1] = document
  end
  local list = temporary.with_folder(function(folder) return ids_of(self, documents, folder) end)
  for id in table.concat(list, " 0 "):gmatch "%d+" do
    ids[#ids + 1] = math.tointeger(id)
  end
  return core.tensor(ids, "int32")
end

return M
