--- The vocabulary of a published model as a task, which encodes prompts, decodes tokens, and
--- provides rows of a text for evaluation.
local arguments = require "roper.base.arguments"
local arity = require "roper.base.arity"
local core = require "roper.core"
local diagnostics = require "roper.base.diagnostics"
local files = require "roper.base.file"
local foreign = require "roper.tasks.text.foreign"
local options_of = require "roper.base.options"

local M = {}

-- Without a tokenizer, a text is a list of token ids: "464 3290".
local Ids = {}
Ids.__index = Ids

function Ids:encode(text)
  local ids = {}
  for word in text:gmatch "[^%s,]+" do
    local id = math.tointeger(tonumber(word:match "^%d+$"))
    if not id or id >= #self.words then
      error(("text: this model has no tokenizer.model; expected token ids from 0 to %d, got %s")
        :format(#self.words - 1, require("roper.base.escape").line(word)), 0)
    end
    ids[#ids + 1] = id
  end
  return core.tensor(ids, "int32")
end

-- The words of ids; a zero byte follows those that end a text.
local function new_ids(count, ends)
  local words = {}
  for id = 0, count - 1 do
    words[id + 1] = " " .. id .. (ends[id] and "\0" or "")
  end
  return setmetatable({ words = words }, Ids)
end

--- The vocabulary of a published model, from `roper.import`. It has no rows for training.
---@class PublishedTask: task
local PublishedTask = { __name = "roper.task" }
PublishedTask.__index = PublishedTask

-- Should a text begin with the piece for that?
local function begins(folder)
  local settings = files.decode(folder .. "/tokenizer_config.json") or {}
  return settings.add_bos_token ~= false
end

-- The tokenizer in a folder.
local function tokenizer_of(folder, count)
  local path = folder .. "/tokenizer.model"
  local tokenizer = foreign.new(path, begins(folder))
  if #tokenizer.words > count then
    error(("text: %s: expected at most %d pieces, one for each token of the model, got %d"):format(
      path, count, #tokenizer.words), 0)
  end
  for id = #tokenizer.words, count - 1 do -- some models round up their vocabulary
    tokenizer.words[id + 1] = ""
  end
  return tokenizer
end

--- The task of the model in a folder. If SentencePiece cannot read its tokenizer.model, prints a
--- note; texts are then token ids.
---@param folder string
---@param count integer tokens of the model
---@param ends table<integer, true> ids of the tokens that end a text
---@return PublishedTask task
function M.new(folder, count, ends)
  local tokenizer
  if files.stat(folder .. "/tokenizer.model") then
    local ok, found = pcall(tokenizer_of, folder, count)
    if not ok and diagnostics.is_transient(found) then
      error(found, 0)
    elseif not ok then
      io.stderr:write("import: ", diagnostics.without_place(found), "; texts are token ids\n")
    end
    tokenizer = ok and found
  end
  return setmetatable({ tokenizer = tokenizer or new_ids(count, ends), folder = folder },
    PublishedTask)
end

function PublishedTask:encode(text)
  arguments.self("PublishedTask:encode", self, PublishedTask)
  arguments.check("task:encode", "text", "string", text)
  return self.tokenizer:encode(text)
end

function PublishedTask:decode(ids)
  arguments.self("PublishedTask:decode", self, PublishedTask)
  local words = {}
  for i, id in ipairs(type(ids) == "table" and ids or ids:totable()) do
    words[i] = self.tokenizer.words[id + 1]
      or error(("task:decode: expected token ids from 0 to %d, got %s at index %d"):format(
        #self.tokenizer.words - 1, options_of.shown(id), i), 2)
  end
  local text = table.concat(words)
  return self.tokenizer.has_prefix and text:gsub("^(%z*) ", "%1", 1) or text
end

function PublishedTask:vocabulary()
  arguments.self("PublishedTask:vocabulary", self, PublishedTask)
  return table.move(self.tokenizer.words, 1, #self.tokenizer.words, 1, {})
end

-- A task with the rows of a text, for `validation`.
function PublishedTask:read(text)
  arguments.self("PublishedTask:read", self, PublishedTask)
  local tokenizer = self.tokenizer
  local words = setmetatable({ words = tokenizer.words }, getmetatable(tokenizer)) -- no prefix
  return setmetatable({ tokenizer = words, folder = self.folder,
    tokens = tokenizer:encode(text) }, PublishedTask)
end

local VALIDATION <const> = { batch = { "size", 32 }, length = "size", limit = { "size?" } }

-- Iterates over the rows of the text, like the method of a TextTask.
function PublishedTask:validation(options)
  arguments.self("PublishedTask:validation", self, PublishedTask)
  local o = options_of.check("validation", options, VALIDATION)
  local count = math.max(0, (self.tokens:count() - 1) // (o.length - 1))
  if count == 0 then
    error(("text: a row of %d tokens is longer than the text of %d tokens"):format(o.length,
      self.tokens:count()), 0)
  end
  local first, last = 1, math.min(count, o.limit or count)
  return function()
    local rows = {}
    for row = first, math.min(last, first + o.batch - 1) do
      rows[#rows + 1] = self.tokens:narrow(1, (row - 1) * (o.length - 1) + 1, o.length)
        :unsqueeze(1)
    end
    first = first + #rows
    return rows[1] and core.cat(rows, 1)
  end
end

--- Does the model have a tokenizer? Otherwise texts are lists of token ids.
---
---     > options = {vocabulary = 8, position = "rope", logits_bias = "none"}
---     > model = roper.nn.Transformer(options)
---     > folder = os.tmpname() .. ".d"
---     > roper.export(model, folder)
---     > select(2, roper.import(folder)):has_tokenizer()
---     false
---@return boolean yes
function PublishedTask:has_tokenizer()
  arguments.self("PublishedTask:has_tokenizer", self, PublishedTask)
  return getmetatable(self.tokenizer) ~= Ids
end

function PublishedTask.stop()
  return "\0"
end

-- The prompt from which a model begins a text of its own; nil if it cannot.
function PublishedTask:beginning()
  return self.tokenizer.begin and ""
end

function PublishedTask:targets(_) -- luacheck: no unused args
  return nil
end

function PublishedTask:positions(_) -- luacheck: no unused args
  return nil
end

function PublishedTask.name()
  return "published"
end

function PublishedTask.has_problems()
  return false
end

function PublishedTask:__tostring()
  return ("published{folder = %q}"):format(self.folder)
end

arity.limit(PublishedTask)

return M
