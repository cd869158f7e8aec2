--- Sources of tasks: the interface, and the text of `task:read`. The others are generators in C
--- (`generated.lua`), definitions in Lua (`own`), text files (`text`), and the tokenizer of a
--- published model (`roper.model.published.task`).
local core = require "roper.core"

local M = {}

---@class TaskKind
---@field name string
---@field rows OptionRow[] of the options, `length` and `seed` among them; `is_hidden` marks options
---   that do not change the task, such as a folder of a cache
---@field source fun(settings: table, kind: TaskKind): TaskSource for checked options, which it may
---   complete
---@field has_problems boolean
---@field summary? string one line, for lists
---@field longer? string[]|fun(config: table, times: number): table as in ExperimentDefinition

--- The interface of a source. Only `tokenizer` is required; without a method, a task behaves as the
--- documentation of its own method says. A source has no random state: it gets the seed and the
--- counter, and returns the counter after.
---@class TaskSource
---@field tokenizer Tokenizer
---@field stop? string
---@field has_answers? boolean `batch` returns which tokens belong to answers, without problems
---@field hash? string
---@field beginning? string the prompt from which a model begins a text of its own
---@field without_rows? string what to do about a source without `batch` or `held_out`
---@field batch? fun(self, rows: integer, seed: integer, counter: integer): tensor, tensor?, integer
---@field question? fun(self, seed: integer, counter: integer): string, string, integer
---@field answer? fun(self, question: string): string
---@field poses? fun(self, question: string, answer: string?): boolean
---@field grade? fun(self, question: string, text: string): boolean
---@field longest? fun(self): integer
---@field floor? fun(self): number?, number?
---@field chance? fun(self): number?, number?
---@field explain? fun(self, tokens: tensor): tensor, tensor
---@field positions? fun(self, tokens: tensor): tensor?
---@field targets? fun(self, tokens: tensor): tensor?
---@field held_out? fun(self, length: integer): integer, integer number of rows and of tokens
---@field read_held_out? fun(self, length: integer, first: integer, count: integer): tensor
---@field size? fun(self, length: integer): table

---@class Tokenizer
---@field words string[] the texts of tokens by id + 1
---@field encode fun(self, text: string): tensor
---@field decode? fun(self, text: string): string changes the words of a whole text, joined
---@field path? string of its SentencePiece model
---@field is_of_ids? boolean a text is a list of token ids

--- Returns the source of a task with problems.
---
--- Errors: the task has none.
---@param task task
---@param method string for the message
---@return TaskSource source
function M.with_problems(task, method)
  if not task.kind.has_problems then
    error(("task:%s: a %s task has rows but no problems; check task:has_problems() first"):format(
      method, task.kind.name), 3)
  end
  return task.source
end

--- Returns the source of a task, if it has a method for rows.
---
--- Errors: it does not have the method.
---@param task task
---@param method string for the message
---@param needed? string the method of the source, if it has another name
---@return TaskSource source
function M.with(task, method, needed)
  if not task.source[needed or method] then
    error(("task:%s: %s"):format(method, task.source.without_rows
      or "expected a task of the kind text, got " .. task.kind.name), 3)
  end
  return task.source
end

local Rows = {}
Rows.__index = Rows

function Rows:held_out(length)
  return (self.tokens:count() - 1) // (length - 1), self.tokens:count()
end

function Rows:read_held_out(length, first, count)
  local rows = {}
  for row = first, first + count - 1 do
    rows[#rows + 1] = self.tokens:narrow(1, (row - 1) * (length - 1) + 1, length):unsqueeze(1)
  end
  return core.cat(rows, 1)
end

--- Creates the source of a text that was read by `task:read`.
---@param source TaskSource of the task that read it
---@param tokens tensor [count], int32
---@return TaskSource source
function M.of_text(source, tokens)
  local plain = setmetatable({ decode = false }, { __index = source.tokenizer }) -- rows are parts
  return setmetatable({ tokens = tokens, tokenizer = plain, stop = source.stop,
    without_rows = "a text that was read has rows for validation only" }, Rows)
end

return M
