--- Marks the answer tokens of longer rows or problems than those of a training task.
local core = require "roper.core"

local M = {}

-- Returns true if the problems of two tasks differ in an option other than the length of a row.
local function has_other_problems(task, trained)
  local ours, theirs = task:options(), trained:options()
  for name, value in pairs(ours) do
    if name ~= "length" and name ~= "seed" and value ~= theirs[name] then
      return true
    end
  end
  return false
end

-- Marks the answers of the problems in a row that the training task could not pose.
local function mark_problems(trained, task, ids, answers)
  local marks, at = {}, 1
  while at <= #ids do
    local first = at -- of the answer
    while answers[first] == 0 do
      first = first + 1
    end
    local last = first -- after the answer
    while answers[last] == 1 do
      last = last + 1
    end
    local question = task:decode(table.move(ids, at, first - 1, 1, {}))
    local answer = task:decode(table.move(ids, first, last - 1, 1, {}))
    local is_beyond = first < last and not trained:poses(question, answer)
    for i = at, last - 1 do
      marks[i] = is_beyond and i >= first and 1 or 0
    end
    at = last
  end
  return marks
end

-- Marks the answer tokens of a row at positions that rows of the training task do not have.
local function mark_positions(trained, _, ids, answers)
  local marks, length = {}, trained:length()
  for i = 1, #ids do
    marks[i] = i > length and answers[i] or 0
  end
  return marks
end

--- Returns the answer tokens that are beyond a training task: those of problems that it could not
--- pose or, if the tasks differ only in the length of a row, those at positions beyond its rows. A
--- problem that the row's end truncates counts as what is there.
---@param trained task
---@param task task of the same kind
---@param tokens tensor a batch of `task`
---@param is_answer tensor of this batch
---@return tensor is_beyond like `is_answer`
function M.mark(trained, task, tokens, is_answer)
  local mark = has_other_problems(task, trained) and mark_problems or mark_positions
  local rows, answers, marks = tokens:totable(), is_answer:totable(), {}
  for row, ids in ipairs(rows) do
    marks[row] = mark(trained, task, ids, answers[row])
  end
  return core.tensor(marks, "int32")
end

return M
