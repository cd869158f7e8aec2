local assert = require("luassert")

local M = {}

--- Check that every row of a fresh batch is what a task's definition allows, and that the
--- answers are marked.
---@param task userdata
---@param rows integer
---@param problem fun(text: string, at: integer): string, string question and answer that must
--- stand at `at`; for a question that the end of the row cuts, what is left of it and ""
function M.rows(task, rows, problem)
  local tokens, answers = task:batch(rows, { answers = true })
  local marks = answers:totable()
  for row = 1, rows do
    local text = task:decode(tokens[row])
    local expected, expected_marks = {}, {}
    local at = 1
    while at <= #text do
      local question, answer = problem(text, at)
      expected[#expected + 1] = question .. answer
      expected_marks[#expected_marks + 1] = ("0"):rep(#question) .. ("1"):rep(#answer)
      at = at + #question + #answer
    end
    assert.equal(task:length(), #text)
    local name = ("%s, row %d"):format(task, row)
    assert.equal(table.concat(expected):sub(1, #text), text, name)
    assert.equal(table.concat(expected_marks):sub(1, #text), table.concat(marks[row]), name)
  end
end

--- Every text that differs from `text` by one character replaced, removed or added.
---@param text string
---@param vocabulary string[]
---@return string[]
function M.corruptions(text, vocabulary)
  local list = {}
  for at = 0, #text do
    for _, character in ipairs(vocabulary) do
      list[#list + 1] = text:sub(1, at) .. character .. text:sub(at + 1)
      if at > 0 and character ~= text:sub(at, at) then
        list[#list + 1] = text:sub(1, at - 1) .. character .. text:sub(at + 1)
      end
    end
    if at > 0 then
      list[#list + 1] = text:sub(1, at - 1) .. text:sub(at + 1)
    end
  end
  return list
end

--- Pearson's statistic of counts against a uniform law on `kinds` kinds, each seen at least once.
---@param counts table<any, integer>
---@param kinds integer
---@return number
function M.chi_square(counts, kinds)
  local total, seen, sum = 0, 0, 0
  for _, count in pairs(counts) do
    total = total + count
    seen = seen + 1
  end
  assert.equal(kinds, seen)
  for _, count in pairs(counts) do
    sum = sum + (count - total / kinds) ^ 2 / (total / kinds)
  end
  return sum
end

--- Count one more of `key`.
---@param counts table<any, integer>
---@param key any
function M.count(counts, key)
  counts[key] = (counts[key] or 0) + 1
end

return M
