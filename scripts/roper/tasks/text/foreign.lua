--- Tokenizer of any SentencePiece model, such as that of a published language model. It encodes
--- single texts through the program spm_encode, which reads lines.
local core = require "roper.core"
local files = require "roper.system.file"
local model = require "roper.tasks.text.model"
local process = require "roper.system.process"
local tables = require "roper.base.tables"
local temporary = require "roper.system.temporary"

local M = {}

-- A character of the private use area in place of a newline, and its bytes.
local NEWLINE <const> = "\u{E000}"

local Foreign = {}
Foreign.__index = Foreign

--- The tokenizer of a model.
---
--- Errors: a model that is missing or damaged.
---@param path string
---@param begins boolean begin each text with the model's piece for that, if it has one
---@return table tokenizer
function M.new(path, begins)
  local data = files.read(path)
  if not data then
    error(("text: no model %s"):format(path), 0)
  end
  local self = setmetatable(model.read_any(data, path), Foreign)
  self.path, self.begin = path, begins and self.begin or nil
  return self
end

-- Raises an error for a text that cannot be encoded, and returns it as one line.
local function one_line(self, text)
  if not utf8.len(text) then
    error("text: expected text in UTF-8", 0)
  elseif text:find "%z" then
    error("text: expected text without zero bytes", 0)
  elseif not text:find "\n" then
    return text
  elseif self.normalizer:find "^nmt_" then -- these rules turn a newline into a space
    return (text:gsub("\n", " "))
  end
  local can = not text:find(NEWLINE, 1, true) and self.bytes["\n"]
  for byte in NEWLINE:gmatch "." do
    can = can and self.bytes[byte]
  end
  for _, word in ipairs(self.words) do
    can = can and not word:find(NEWLINE, 1, true) and (word == "\n" or not word:find "\n")
  end
  return can and (text:gsub("\n", NEWLINE))
    or error(("text: expected text without newlines, which %s cannot encode as bytes"):format(
      self.path), 0)
end

-- The ids of each line.
local function ids_of(self, lines)
  return temporary.with_file("lines.txt", table.concat(lines, "\n") .. "\n", function(path)
    local out = path:gsub("lines%.txt$", "ids.txt")
    process.run("spm_encode", { "--model=" .. self.path, "--output_format=id",
      "--input=" .. path, "--output=" .. out }, { package = "sentencepiece" })
    local all = {}
    for line in (files.read(out) or ""):gmatch "([^\n]*)\n" do
      local ids = {}
      for id in line:gmatch "%d+" do
        ids[#ids + 1] = math.tointeger(id)
      end
      all[#all + 1] = ids
    end
    if #all ~= #lines then
      error(("text: expected %d lines from spm_encode, got %d; is the disk full?"):format(#lines,
        #all), 0)
    end
    return all
  end)
end

-- The ids of a text from those of its line: adds the one that begins a text, and restores newlines.
local function restored(self, text, ids)
  local result = { self.begin }
  local a, b, c = NEWLINE:byte(1, -1)
  local marker = { self.bytes[string.char(a)], self.bytes[string.char(b)],
    self.bytes[string.char(c)] }
  local at = 1
  while at <= #ids do
    if #marker == 3 and ids[at] == marker[1] and ids[at + 1] == marker[2]
      and ids[at + 2] == marker[3] and text:find "\n" then
      result[#result + 1], at = self.bytes["\n"], at + 3
    else
      result[#result + 1], at = ids[at], at + 1
    end
  end
  return result
end

--- The ids of texts.
---
--- Errors: text that is not UTF-8 or has zero bytes; text with newlines, if the model has no pieces
--- for bytes; SentencePiece is not installed.
---@param texts string[]
---@return integer[][] ids
function Foreign:all_ids(texts)
  local lines = tables.map(texts, function(text) return one_line(self, text) end)
  local is_empty = table.concat(lines) == ""
  local all = not is_empty and ids_of(self, lines) or {}
  return tables.map(texts, function(text, i) return restored(self, text, all[i] or {}) end)
end

--- The ids of a text.
---
--- Errors: as for `all_ids`.
---@param text string
---@return tensor ids [count], int32
function Foreign:encode(text)
  return core.tensor(self:all_ids { text }[1], "int32")
end

-- Removes the space that the model adds before a text.
function Foreign:decode(text)
  return self.has_prefix and text:gsub("^(%z*) ", "%1", 1) or text
end

return M
