--- The vocabulary of a published model as a task, which encodes prompts, decodes tokens, and
--- provides rows of a text for evaluation.
local core = require "roper.core"
local diagnostics = require "roper.text.diagnostics"
local published = require "roper.tasks.text.published"
local task = require "roper.tasks.task"

local M = {}

-- Without a tokenizer, a text is a list of token ids: "464 3290".
local Ids = { is_of_ids = true }
Ids.__index = Ids

function Ids:encode(text)
  local ids = {}
  for word in text:gmatch "[^%s,]+" do
    local id = math.tointeger(tonumber(word:match "^%d+$"))
    if not id or id >= #self.words then
      error(("text: this model has no tokenizer; expected token ids from 0 to %d, got %s")
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

local KIND <const> = { name = "published", rows = { { "folder", "string" } }, has_problems = false }

--- The task of the model in a folder. If its tokenizer cannot be read, prints a note, and texts are
--- token ids.
---@param folder string
---@param count integer tokens of the model
---@param ends table<integer, true> ids of the tokens that end a text
---@return task task
function M.new(folder, count, ends)
  local tokenizer
  if published.is_in(folder) then
    local ok, found = pcall(published.new, folder, count)
    if not ok and diagnostics.is_transient(found) then
      error(found, 0)
    elseif not ok then
      io.stderr:write("import: ", diagnostics.without_place(found), "; texts are token ids\n")
    end
    tokenizer = ok and found
  end
  tokenizer = tokenizer or new_ids(count, ends)
  return task.new(KIND, { folder = folder }, { tokenizer = tokenizer, stop = "\0",
    beginning = tokenizer.begin and "",
    without_rows = "a published model has no rows; read a text with task:read(text)" })
end

return M
