--- Questions of a lesson: checks their fields and judges answers.
---
--- There are four kinds. A choice is answered by its number or letter, a number by an expression in
--- Lua or as written at school (`reading`), and a line of Lua by running it. An open question is
--- answered on paper.
local eval = require "roper.text.eval"
local format = require "roper.text.format"
local forms = require "roper.workbench.lesson.form"
local options_of = require "roper.options.rows"
local proses = require "roper.workbench.lesson.prose"
local readings = require "roper.workbench.lesson.reading"
local steps = require "roper.workbench.lesson.step"
local tables = require "roper.base.tables"

local M = {}

local NAME <const> = "answer" -- the chunk name of answers in messages
local TINY <const> = 1e-9 -- absolute error that is always allowed
local MOST_CHOICES <const> = 26

local WITHIN <const> = 0.01

local QUESTION <const> = options_of.define("LessonQuestion", {
  text = "a choice, a number, a line of Lua, or open: with neither expect nor check",
  { "question", "string", nil, "prose, like the answer, the choices and the hints" },
  { "answer", "string", nil, "explanation that is shown afterwards" },
  { "choices", "any?", nil, "answered by number or letter; only by letter if a choice is a number",
    type = "string[]" },
  { "expect", "any?", nil, "the number of the right choice; or a Lua expression of the expected "
    .. "number, evaluated after the step's code", type = "integer|string" },
  { "within", "any?", nil, "largest relative error of a right number; errors up to 1e-9 are always "
    .. "allowed", type = "number", shown = tostring(WITHIN) },
  { "check", "any?", nil, "Lua expression that is true if the answer, a line of Lua, is right. It "
    .. "can use `it`, the value of the line, and the variables that the line sets",
    type = "string" },
  { "sample", "any?", nil, "a right line of Lua", type = "string" },
  { "form", "any?", nil, "the line with a blank, ___, where pages and paper offer choices, and the "
    .. 'choices of each blank: {"undo = rope:matrix(___)", {"5", "-5"}}; without it, the question '
    .. "is asked only in a session", type = "table" },
  { "hints", "table", {}, 'each {"Lua condition", "hint"}, shown if the condition is true of `it`, '
    .. "the wrong answer (of a choice, its number), or a hint for any other wrong answer. At least "
    .. "one hint without a condition is required, unless the question is open",
    type = "table[]|string[]" },
})

-- The kinds of the other fields by the kind of the question.
local FIELDS <const> = { choice = { choices = "table", expect = "integer" },
  number = { expect = "string", within = { "amount", WITHIN } },
  line = { check = "string", sample = "string", form = "table?" }, open = {} }

-- The expected form of an answer of each kind.
local EXPECTED <const> = { number = "one number, such as 0.5, 1/2 or cos(60°)",
  line = "a line of Lua" }

local function kind_of(question)
  return question.choices and "choice" or question.check and "line"
    or question.expect ~= nil and "number" or "open"
end

local function check_choices(where, question)
  local count = #question.choices
  if count < 2 or count > MOST_CHOICES then
    error(("%s: expected 2 to %d choices, got %d"):format(where, MOST_CHOICES, count), 0)
  end
  for i, choice in ipairs(question.choices) do
    proses.check(("%s: choice %d"):format(where, i), choice)
    question.has_numbers = question.has_numbers or tonumber(choice) ~= nil
  end
  local expected = options_of.mismatch({ smallest = 1, largest = count }, question.expect)
  if expected then
    error(("%s: expect: expected the number of a choice, %s, got %s"):format(where, expected,
      options_of.shown(question.expect)), 0)
  end
end

--- Checks Lua in a field.
---
--- Errors: it does not compile, or is not an expression; the message begins with `where`.
---@param where string names the field in messages
---@param is_statement boolean? whether statements without a value are allowed
function M.check_source(where, source, is_statement)
  local action, kind, message, has_value = eval.compile(source, "", {})
  if not action then
    local _, count = source:gsub("\n", "") -- Lua reports the end in the line after the last
    error(where .. message:gsub("^:(%d+)", function(line)
      return (":%d"):format(math.min(tonumber(line), count + 1))
    end), 0)
  elseif not is_statement and kind == "statement" and not has_value
    and not source:find "%f[%w]return%f[%W]" then
    error(("%s: expected an expression, such as x == 1, got a statement: %s"):format(where,
      source), 0)
  end
end

-- Splits hints into `conditions`, {source, hint}, and `further`, hints without a condition.
local function check_hints(where, question)
  local conditions, further = {}, {}
  for i, hint in ipairs(question.hints) do
    local name = ("hint %d"):format(i)
    local text = type(hint) == "table" and hint[2] or hint
    if type(text) ~= "string" or text ~= hint and type(hint[1]) ~= "string" then
      error(("%s: %s: expected {\"Lua condition\", \"hint\"} or a hint"):format(where, name), 0)
    end
    proses.check(("%s: %s"):format(where, name), text)
    if text == hint then
      further[#further + 1] = hint
    else
      M.check_source(("%s: %s"):format(where, name), hint[1])
      conditions[#conditions + 1] = { hint[1], hint[2], name = name }
    end
  end
  if question.kind ~= "open" and #further == 0 then
    error(where .. ": expected at least one hint without a condition", 0)
  elseif question.kind == "open" and #conditions > 0 then
    error(where .. ": an open question takes only hints without a condition; for another kind of "
      .. "question, add choices, expect or check", 0)
  end
  question.conditions, question.further = conditions, further
end

local function checked(where, given)
  local question = options_of.check(where, given, QUESTION, 0)
  for _, name in ipairs { "question", "answer" } do
    proses.check(("%s, %s"):format(where, name), question[name])
  end
  local kind, own = kind_of(question), tables.merged(given)
  own.question, own.answer, own.hints = nil, nil, nil
  own = options_of.check(("%s, %s question"):format(where, kind), own, FIELDS[kind], 0)
  question = tables.merged(question, own, { kind = kind, where = where:gsub("^lesson: ", "") })
  if kind == "choice" then
    check_choices(where, question)
  end
  for _, name in ipairs { "expect", "check", "sample" } do
    if type(question[name]) == "string" then
      M.check_source(("%s: %s"):format(where, name), question[name], name == "sample")
    end
  end
  if question.form then
    forms.check(where .. ": form", question.form)
  end
  check_hints(where, question)
  return question
end

--- Checks the questions of a step.
---
--- Errors: a field that is missing, misspelled, of the wrong type, or of another kind of question;
--- Lua that does not compile; a question without a hint that fits any wrong answer.
---@param where string names the questions in messages
---@param given table? a LessonQuestion or a list of them
---@return table[] questions each with its `kind`, "choice", "number", "line" or "open"
function M.all(where, given)
  if given and given[1] == nil then
    return { checked(where, given) }
  end
  return tables.map(given or {}, function(one, i)
    return checked(("%s %d"):format(where, i), one)
  end)
end

--- The questions of a step, in the order in which they are asked.
---@return table[] questions
function M.of(step)
  return tables.joined(step.predict or {}, step.exercise or {})
end

--- The letter of a choice.
function M.letter(number)
  return string.char(("a"):byte() + number - 1)
end

--- The answer to show afterwards; that of a choice begins with its letter.
---@return string prose
function M.answer(question)
  local letter = question.kind == "choice" and M.letter(question.expect) .. ") " or ""
  return letter .. steps.unindented(question.answer)
end

--- The right answer to a question, computed from the variables in a scope.
---
--- Errors: the Lua in `expect` fails or does not return a number.
---@return number|string|nil expected the number, the number of the choice, or a right line of Lua
function M.expected(question, scope)
  if question.kind == "line" then
    return question.sample
  elseif question.kind ~= "number" then
    return question.expect
  end
  local name = steps.name_of(question, "expect")
  local value = steps.evaluate(question.expect, steps.layer(scope), name)
  if math.type(value) == nil or value ~= value then
    error(("%s: expected a number, got %s"):format(name, options_of.shown(value)), 0)
  end
  return value
end

--- Judges each way to fill the form of a question.
---@param scope table variables that the lines can use
---@param ahead table? as for `judge`
---@return Verdict[] verdicts in the order of `form.lines`
function M.of_form(question, scope, ahead)
  return tables.map(forms.lines(question.form), function(line)
    local layer = steps.layer(scope)
    return steps.hidden(layer, M.judge, question, line, layer, nil, ahead)
  end)
end

--- The numbers among the variables of a scope, which answers can use.
---@return table<string, number>
function M.numbers(scope)
  local found = {}
  for name, value in pairs(scope) do
    if math.type(value) and value == value and math.abs(value) < math.huge then
      found[name] = value
    end
  end
  return found
end

--- Describes what an answer to a question should be.
function M.wanted(question)
  if question.kind == "choice" then
    local last = #question.choices
    return ("%sa letter from a to %s"):format(
      question.has_numbers and "" or ("a number from 1 to %d, or "):format(last), M.letter(last))
  end
  return EXPECTED[question.kind]
end

--- Asks for an answer: "Type a line of Lua".
function M.invitation(question)
  return question.kind == "open" and "Answer it on paper" or "Type " .. M.wanted(question)
end

-- Is the relative error of a number at most `within`, or its absolute error at most TINY?
local function is_near(it, expected, within)
  return it == expected or math.abs(expected) < math.huge
    and math.abs(it + 0.0 - expected) <= math.max(within * math.abs(expected), TINY)
end

--- Evaluates the condition of a hint.
---@param hint table one of the question's `conditions`
---@param it any the answer
---@param scope table variables that the condition can use
---@return boolean fits
function M.fits(question, hint, it, scope)
  local name = steps.name_of(question, hint.name)
  return steps.evaluate(hint[1], steps.layer(scope, { it = it }), name) == true
end

-- The verdict on an answer that was evaluated, with the first hint that fits a wrong one.
local function verdict(question, it, is_right, scope)
  local found = { kind = is_right and "right" or "wrong", it = it }
  for _, hint in ipairs(is_right and {} or question.conditions) do
    local ok, fits = eval.call(M.fits, question, hint, it, scope)
    if ok and fits then
      found.hint = hint[2]
      break
    end
  end
  return found
end

local function malformed(question, shown)
  return { kind = "malformed", shown = shown, wanted = M.wanted(question) }
end

-- Runs a line that may be an answer in a temporary scope. Returns its results, or nil and a
-- verdict.
local function run(question, line, scope)
  local action, kind, message = eval.compile(line, NAME, scope)
  if kind == "incomplete" and not line:find "%%%s*$" then
    return nil, { kind = "incomplete" }
  elseif not action then
    return nil, malformed(question, question.kind == "line"
      and message:gsub("^" .. NAME .. ":%d+: ", "") or nil)
  elseif kind == "statement" and question.kind == "number" then
    return nil, { kind = "other" }
  end
  local ok, results = eval.call(function() return table.pack(action()) end)
  if not ok then
    return nil, { kind = "failed", failure = results }
  end
  return results
end

local judge = {}

function judge.choice(question, line, _, expected, ahead)
  local sign = line:match "^%s*%(?(%w+)[.)]?%s*$"
  local number = sign and not question.has_numbers and math.tointeger(tonumber(sign))
    or sign and sign:find "^%a$" and sign:lower():byte() - ("a"):byte() + 1
  if number and question.choices[number] then
    return verdict(question, number, number == expected, ahead)
  end
  local _, kind = eval.compile(line, NAME, {})
  return (sign and #sign < 3 or kind == "wrong") and malformed(question) or { kind = "other" }
end

-- The verdict on one reading of a number.
local function judge_reading(question, line, scope, expected, ahead)
  local results, otherwise = run(question, line, steps.layer(scope))
  if not results then
    return otherwise
  elseif results.n == 0 then
    return { kind = "tried" }
  elseif results.n > 1 or math.type(results[1]) == nil or results[1] ~= results[1] then
    return malformed(question, results[1] ~= nil and format.results(results) or nil)
  end
  return verdict(question, results[1], is_near(results[1], expected, question.within), ahead)
end

-- Some reading must be right. The hint is that for the first one that has a hint of its own.
function judge.number(question, line, scope, expected, ahead)
  local sources = readings.of(line, function(name)
    local ok, value = pcall(function() return scope[name] end)
    return ok and math.type(value) ~= nil
  end)
  local best
  for _, source in ipairs(sources) do
    local found = judge_reading(question, source, scope, expected, ahead)
    found.read = sources[1] ~= line and (found.kind == "right" and source
      or table.concat(sources, " or as ")) or nil
    if found.kind == "right" then
      return found
    end
    best = best and (best.hint or not found.hint) and best or found
  end
  return best
end

function judge.line(question, line, scope, _, ahead)
  local inner = steps.layer(scope)
  local results, otherwise = run(question, line, inner)
  if not results then
    return otherwise
  end
  local it, below = results[1], getmetatable(inner)
  below.__index = ahead
  local ok, holds = eval.call(steps.evaluate, question.check, steps.layer(inner, { it = it }),
    steps.name_of(question, "check"))
  local found = verdict(question, it, ok and holds == true, inner)
  found.failure = not ok and holds or nil
  below.__index = scope
  found.shown = results.n > 0 and not line:find ";%s*$" and format.results(results) or nil
  if found.kind == "right" then
    steps.keep(inner)
  end
  return found
end

---@class Verdict
---@field kind "right"|"wrong"|"malformed"|"failed"|"incomplete"|"tried"|"other" incomplete: needs
---   more lines; tried: it ran but is not an answer; other: it did not run and is not an answer
---@field it any the value of the answer
---@field hint? string the hint that fits a wrong answer
---@field shown? string the output of a line, or what came instead of an answer
---@field wanted? string what an answer should be
---@field read? string the Lua that an answer was read as, if it was not Lua
---@field failure? Failure the error of a line that failed, or of the check of a wrong one

--- Judges a line that may be an answer. A number is right if its relative error is at most the
--- question's `within`, or its absolute error at most 1e-9. A line of Lua is right if the
--- question's check is true. The variables that a line sets are kept only if it is right. A line
--- that begins with >, as after a prompt, is never an answer.
---@param scope table the variables that the line can use
---@param expected any result of `expected`
---@param ahead table? = scope; the variables that the check and the conditions of hints can use:
---   for a question before the step's code is shown, a layer with the variables of this code
---@return Verdict
function M.judge(question, line, scope, expected, ahead)
  if line:find "^%s*>" or question.kind == "open" then
    return { kind = "other" }
  end
  return judge[question.kind](question, line, scope, expected, ahead or scope)
end

return M
