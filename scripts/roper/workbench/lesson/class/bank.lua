--- The questions of lessons with what is expected: the table of questions, the page for answers and
--- the grading go through them in the same order.
local hash = require "roper.base.hash"
local questions = require "roper.workbench.lesson.question"
local steps = require "roper.workbench.lesson.step"
local tables = require "roper.base.tables"

local M = {}

local TINY <const> = 1e-9 -- what rounding leaves of 0

---@class BankItem
---@field id string such as "rotation 1.2": the lesson, its step, and the number of the question
---@field label string "1.2"
---@field lesson table
---@field step table
---@field question table
---@field expected any result of `question.expected`
---@field numbers table<string, number> the variables that an answer can use

--- Calls a function for each question of lessons, while the variables of its step are set.
---@param lessons table[]
---@param visit fun(item: BankItem, scope: table)
---@param wanted? fun(id: string): boolean which questions; the steps after the last are not run
function M.each(lessons, visit, wanted)
  for _, lesson in ipairs(lessons) do
    local last = 0
    for number, step in ipairs(lesson.steps) do
      for i in ipairs(questions.of(step)) do
        local id = ("%s %d.%d"):format(lesson.name, number, i)
        last = (not wanted or wanted(id)) and number or last
      end
    end
    local scope = steps.scope()
    for number = 1, last do
      local step = lesson.steps[number]
      local before = questions.numbers(scope)
      steps.prepare(step, scope)
      local after = questions.numbers(scope)
      for i, question in ipairs(questions.of(step)) do
        local label = ("%d.%d"):format(number, i)
        local id = lesson.name .. " " .. label
        if not wanted or wanted(id) then
          visit({ id = id, label = label, lesson = lesson, step = step, question = question,
            expected = questions.expected(question, scope),
            numbers = i <= #(step.predict or {}) and before or after }, scope)
        end
      end
    end
  end
end

--- A hash of the questions of a lesson, which changes if one of them does.
---@return string digits
function M.fingerprint(lesson)
  local texts = {}
  for number, step in ipairs(lesson.steps) do
    for _, question in ipairs(questions.of(step)) do
      local form = question.form or {}
      texts[#texts + 1] = table.concat(tables.joined({ tostring(number), question.question },
        question.choices or {}, { form[1] }), "\1")
      for i = 2, #form do
        texts[#texts + 1] = table.concat(form[i], "\1")
      end
    end
  end
  return hash.of(table.concat(texts, "\2"))
end

--- The expected answer in a few words.
---@return string prose
function M.brief(item)
  local question, expected = item.question, item.expected
  if question.kind == "number" then
    return math.abs(expected) < TINY and "0" or ("%.4g"):format(expected)
  elseif question.kind == "choice" then
    return ("%s) %s"):format(questions.letter(expected), question.choices[expected])
  end
  return expected and "`" .. steps.unindented(expected) .. "`" or "open"
end

return M
