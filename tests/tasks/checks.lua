local assert = require("luassert")
local busted = require("busted")
local roper = require("roper")
local tables = require("roper.base.tables")

local M = {}

--- The smallest and largest value of an option, or all of its few.
---@param kind any of the row of the option
---@return any[]
function M.ends(kind)
  return type(kind) == "table" and (kind.smallest and { kind.smallest, kind.largest } or kind)
    or { false, true }
end

--- Options of a task for small problems, without defaults if there is a choice.
---@param name string
---@return table options
function M.small(name)
  local options = { seed = 7 }
  for _, row in ipairs(roper.tasks.options(name)) do
    local least, most = table.unpack(M.ends(row[2]))
    options[row[1]] = math.type(least) and math.min(least + 3, most) or least == false or least
  end
  options.length = 50
  return options
end

--- Check that every row of a new batch follows a task's definition, and that the answers are
--- marked.
---@param task userdata
---@param rows integer
---@param problem fun(text: string, at: integer): string, string the expected question and
--- answer at `at`; for a question truncated by the end of the row, its start and ""
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

-- Pearson's statistic of counts against a uniform law on `kinds` kinds.
local function chi_square(counts, kinds)
  local total, sum = 0, 0
  for _, count in pairs(counts) do
    total = total + count
  end
  for _, count in pairs(counts) do
    sum = sum + (count - total / kinds) ^ 2 / (total / kinds)
  end
  return sum
end

--- Check that counts follow a uniform law on `kinds` kinds, each seen at least once.
---@param counts table<any, integer>
---@param kinds integer
function M.uniform(counts, kinds)
  assert.equal(kinds, tables.count(counts))
  -- Exceeded with probability 5e-4: the quantile of chi-square by Wilson and Hilferty.
  local freedom = kinds - 1
  local spread = 2 / (9 * freedom)
  local most = freedom * (1 - spread + 3.29 * spread ^ 0.5) ^ 3
  local found = chi_square(counts, kinds)
  assert.is_true(found < most, ("%g of %d kinds, at most %g"):format(found, kinds, most))
end

--- Add 1 to the count of `key`.
---@param counts table<any, integer>
---@param key any
function M.count(counts, key)
  counts[key] = (counts[key] or 0) + 1
end

--- Check that a task rejects each of these questions, in answer and in grade.
---@param task userdata
---@param message string pattern of the error
---@param questions string[]
function M.refuses(task, message, questions)
  for _, question in ipairs(questions) do
    assert.error_matches(function() task:answer(question) end, message)
    assert.error_matches(function() task:grade(question, "") end, message)
  end
end

--- Check that a task explains a row and rejects others.
---@param task userdata
---@param row string
---@param wrong string[] rows with mistakes
function M.explains(task, row, wrong)
  local function explain(text)
    return pcall(task.explain, task, task:encode(text):view({ 1, -1 }))
  end
  assert.is_true(explain(row))
  for _, text in ipairs(wrong) do
    local ok, message = explain(text)
    assert.is_false(ok, text)
    assert.truthy(message:find("task:explain: expected a row of " .. task:name(), 1, true))
  end
end

--- Check the grade of each corruption of the answers to some questions.
---@param task userdata
---@param times integer number of questions
---@param is_right? fun(question: string, corrupted: string, answer: string): boolean the
--- expected grade; false by default
function M.grades(task, times, is_right)
  for _ = 1, times do
    local question, answer = task:question()
    for _, corrupted in ipairs(M.corruptions(answer, task:vocabulary())) do
      local expected = is_right ~= nil and is_right(question, corrupted, answer)
      assert.equal(expected, task:grade(question, corrupted), question .. corrupted)
    end
  end
end

--- Check floors against an independent computation.
---@param make fun(options: table): userdata
---@param cases table[] options of a task, and `nats`, its floor
---@param most? number standard error of an estimated floor; 0 by default, for an exact one
function M.floors(make, cases, most)
  for _, case in ipairs(cases) do
    local options = tables.merged(case)
    options.nats = nil
    local task = make(options)
    local nats, error = task:floor()
    assert.is_true(error <= (most or 0))
    assert.is_true(math.abs(nats - case.nats) <= 4 * error + 1e-12,
                   ("%s: %.16g +- %g, expected %.16g"):format(task, nats, error, case.nats))
  end
end

--- The tests of a task whose answers have one right text.
---@param name string
---@param problem function as for `rows`
---@param floors table[] as for `floors`
---@param options? {batch: table, graded: table} options of the tasks of batches and grades
function M.specify(name, problem, floors, options)
  options = options or {}
  local make = roper.tasks[name]
  busted.describe(name, function()
    busted.it("packs whole problems into rows, and marks their answers", function()
      for seed = 1, 5 do
        M.rows(make(tables.merged(options.batch, { seed = seed })), 40, problem)
      end
    end)

    busted.it("rejects every corruption of an answer", function()
      M.grades(make(tables.merged(options.graded, { seed = 5 })), 10)
    end)

    busted.it("has floors that agree with listing every row, and with other code", function()
      M.floors(make, floors)
    end)
  end)
end

return M
