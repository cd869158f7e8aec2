--- Questions of a lesson: what an answer to one is, and whether it is right.
---
--- A choice is answered by its number or letter; a number by any Lua that gives one; a line of Lua
--- by such a line, which is run. An open question is answered on paper.
local code = require "roper.base.code"
local format = require "roper.base.format"
local options_of = require "roper.base.options"
local proses = require "roper.lesson.prose"
local steps = require "roper.lesson.step"
local tables = require "roper.base.tables"

local M = {}

local NAME <const> = "answer" -- stands for an answer in messages
local TINY <const> = 1e-9 -- numbers that are so near to each other are the same
local MOST_CHOICES <const> = 26

local QUESTION <const> = { question = "string", answer = "string", choices = "table?",
  expect = "any?", within = "amount?", check = "string?", sample = "string?",
  hints = { "table", {} } }

-- What goes with each kind; the rest must be absent.
local FIELDS <const> = { choice = { "choices", "expect" }, number = { "expect" },
  line = { "check", "sample" }, open = {} }
local OPTIONAL <const> = { within = "number" }

-- What an answer of a kind looks like.
local EXPECTED <const> = { number = "one number, such as 0.5 or math.cos(1)",
  line = "a line of Lua" }

local function kind_of(question)
  return question.choices and "choice" or question.check and "line"
    or question.expect ~= nil and "number" or "open"
end

local function check_fields(where, question)
  local belongs = tables.set(FIELDS[question.kind])
  for _, name in ipairs { "choices", "expect", "within", "check", "sample" } do
    local is_there = question[name] ~= nil
    if belongs[name] and not is_there then
      error(("%s: expected %s"):format(where, table.concat(FIELDS[question.kind], " and ")), 0)
    elseif is_there and not belongs[name] and OPTIONAL[name] ~= question.kind then
      error(("%s: %s does not go with a question whose answer is %s"):format(where, name,
        question.kind == "open" and "nothing to check" or "a " .. question.kind), 0)
    end
  end
end

local function check_choices(where, question)
  local count = #question.choices
  if count < 2 or count > MOST_CHOICES then
    error(("%s: expected 2 to %d choices, got %d"):format(where, MOST_CHOICES, count), 0)
  end
  for i, choice in ipairs(question.choices) do
    local expected = options_of.mismatch("string", choice)
    if expected then
      error(("%s: choice %d: expected %s, got %s"):format(where, i, expected,
        options_of.shown(choice)), 0)
    end
    proses.check(("%s: choice %d"):format(where, i), choice)
    question.has_numbers = question.has_numbers or tonumber(choice) ~= nil
  end
  local expected = options_of.mismatch({ smallest = 1, largest = count }, question.expect)
  if expected then
    error(("%s: expect: expected the number of a choice, %s, got %s"):format(where, expected,
      options_of.shown(question.expect)), 0)
  end
end

-- Lua of a question, which must compile.
local function check_source(where, name, source)
  if type(source) ~= "string" then
    error(("%s: %s: expected Lua as a string, got %s"):format(where, name,
      options_of.shown(source)), 0)
  end
  local action, _, message = code.compile(source, name, {})
  if not action then
    error(("%s: %s"):format(where, message), 0)
  end
end

-- Hints as conditions, {source, hint}, and `further`, hints for any answer.
local function check_hints(where, question)
  local conditions, further = {}, {}
  for i, hint in ipairs(question.hints) do
    local name = ("hint %d"):format(i)
    local text = type(hint) == "table" and hint[2] or hint
    if type(text) ~= "string" or text ~= hint and type(hint[1]) ~= "string" then
      error(("%s: %s: expected {\"Lua on it\", \"hint\"} or a hint"):format(where, name), 0)
    end
    proses.check(("%s: %s"):format(where, name), text)
    if text == hint then
      further[#further + 1] = hint
    else
      check_source(where, name, hint[1])
      conditions[#conditions + 1] = hint
    end
  end
  if question.kind ~= "open" and #further == 0 then
    error(where .. ": expected hints, with one at their end for any wrong answer", 0)
  elseif question.kind == "open" and #conditions > 0 then
    error(where .. ": a question that has nothing to check takes no hint with a condition", 0)
  end
  question.conditions, question.further = conditions, further
end

local function checked(where, given)
  local question = options_of.check(where, given, QUESTION, 0)
  for _, name in ipairs { "question", "answer" } do
    proses.check(("%s, %s"):format(where, name), question[name])
  end
  question.kind = kind_of(question)
  check_fields(where, question)
  if question.kind == "choice" then
    check_choices(where, question)
  elseif question.kind == "number" then
    check_source(where, "expect", question.expect)
    question.within = question.within or 0.01
  elseif question.kind == "line" then
    check_source(where, "check", question.check)
    check_source(where, "sample", question.sample)
  end
  check_hints(where, question)
  return question
end

--- Check the questions of a step.
---
--- Errors: a field that is missing, misspelt, of another type, or of another kind of question; Lua
--- that does not compile; a question without a hint for any wrong answer.
---@param where string of the questions, for messages
---@param given table? a LessonQuestion, or a list of them
---@return table[] questions with their `kind`, "choice", "number", "line" or "open"
function M.all(where, given)
  if given == nil then
    return {}
  elseif given[1] == nil then
    return { checked(where, given) }
  end
  local list = {}
  for i, one in ipairs(given) do
    list[i] = checked(("%s %d"):format(where, i), one)
  end
  return list
end

--- The questions of a step in the order in which they are asked.
---@param step table
---@return table[] questions
function M.of(step)
  return tables.joined(step.predict or {}, step.exercise or {})
end

--- The letter of a choice.
---@param number integer
---@return string
function M.letter(number)
  return string.char(("a"):byte() + number - 1)
end

--- The answer as it is shown afterwards, with the letter of a choice.
---@param question table
---@return string prose
function M.told(question)
  local letter = question.kind == "choice" and M.letter(question.expect) .. ") " or ""
  return letter .. steps.unindented(question.answer)
end

--- The right answer to a question about variables in a scope.
---
--- Errors: Lua that fails, or gives no number.
---@param question table
---@param scope table
---@return number|string|nil expected the number, or that of the choice; of a line, a right one
function M.expected(question, scope)
  if question.kind == "line" then
    return question.sample
  elseif question.kind ~= "number" then
    return question.expect
  end
  local value = steps.evaluate(question.expect, steps.layer(scope))
  if math.type(value) == nil or value ~= value then
    error(("expect: expected a number, got %s"):format(options_of.shown(value)), 0)
  end
  return value
end

--- What an answer to a question should be, in words.
---@param question table
---@return string
function M.wanted(question)
  if question.kind == "choice" then
    local last = #question.choices
    return ("%sa letter from a to %s"):format(
      question.has_numbers and "" or ("a number from 1 to %d, or "):format(last), M.letter(last))
  end
  return EXPECTED[question.kind]
end

-- Is a number the expected one? Sizes count, but for what is next to nothing.
local function is_near(it, expected, within)
  return it == expected or math.abs(expected) < math.huge
    and math.abs(it + 0.0 - expected) <= math.max(within * math.abs(expected), TINY)
end

-- The hint whose condition fits a wrong answer.
local function fitting(question, it, scope)
  for _, hint in ipairs(question.conditions) do
    local ok, fits = code.call(steps.evaluate, hint[1], steps.layer(scope, { it = it }))
    if ok and fits == true then
      return hint[2]
    end
  end
end

-- The verdict on an answer.
local function verdict(question, it, is_right, scope)
  return { kind = is_right and "right" or "wrong", it = it,
    hint = not is_right and fitting(question, it, scope) or nil }
end

local function malformed(question, shown)
  return { kind = "malformed", shown = shown, wanted = M.wanted(question) }
end

-- Run a line that may be an answer, where what it sets does not stay; else a verdict on it.
local function run(question, line, scope)
  local action, kind, message = code.compile(line, NAME, scope)
  if kind == "incomplete" and not line:find "%%%s*$" then
    return nil, { kind = "incomplete" }
  elseif not action then
    return nil, malformed(question, question.kind == "line"
      and message:gsub("^" .. NAME .. ":%d+: ", "") or nil)
  elseif kind == "statement" and question.kind == "number" then
    return nil, { kind = "other" }
  end
  local ok, results = code.call(function() return table.pack(action()) end)
  if not ok then
    return nil, { kind = "failed", failure = results }
  end
  return results
end

local judge = {}

function judge.choice(question, line, scope, expected)
  local sign = line:match "^%s*%(?(%w+)[.)]?%s*$"
  local number = sign and not question.has_numbers and math.tointeger(tonumber(sign))
    or sign and sign:find "^%a$" and sign:lower():byte() - ("a"):byte() + 1
  if number and question.choices[number] then
    return verdict(question, number, number == expected, scope)
  end
  local _, kind = code.compile(line, NAME, {})
  return (sign and #sign < 3 or kind == "wrong") and malformed(question) or { kind = "other" }
end

function judge.number(question, line, scope, expected)
  local results, otherwise = run(question, line, steps.layer(scope))
  if not results then
    return otherwise
  elseif results.n == 0 then
    return { kind = "tried" }
  elseif results.n > 1 or math.type(results[1]) == nil or results[1] ~= results[1] then
    return malformed(question, format.results(results))
  end
  return verdict(question, results[1], is_near(results[1], expected, question.within), scope)
end

function judge.line(question, line, scope)
  local inner = steps.layer(scope)
  local results, otherwise = run(question, line, inner)
  if not results then
    return otherwise
  end
  local it = results[1]
  local ok, holds = code.call(steps.evaluate, question.check, steps.layer(inner, { it = it }))
  local found = verdict(question, it, ok and holds == true, inner)
  found.shown = results.n > 0 and not line:find ";%s*$" and format.results(results) or nil
  if found.kind == "right" then -- what it set is the lesson's
    for name, value in pairs(inner) do
      scope[name], inner[name] = value, nil
    end
    setmetatable(inner, { __index = scope, __newindex = scope })
  end
  return found
end

function judge.open()
  return { kind = "other" }
end

---@class Verdict
---@field kind "right"|"wrong"|"malformed"|"failed"|"incomplete"|"tried"|"other" incomplete: more
---   lines could make it an answer; tried: it ran, and is none; other: it did not, and is none
---@field it any what was answered
---@field hint? string what fits a wrong answer
---@field shown? string what a line gives, or what came instead of an answer
---@field wanted? string what an answer should be
---@field failure? Failure what a line that fails raised

--- Judge a line that may be an answer. A number is right where it is within the question's share
--- of the expected one, by default a hundredth, or 1e-9 of it; a line of Lua where the check is
--- true. What a line sets stays only where it is the right answer. A line that begins with >, as
--- at a prompt, is never an answer.
---@param question table
---@param line string
---@param scope table the variables of the lesson
---@param expected any as of M.expected
---@return Verdict
function M.judge(question, line, scope, expected)
  if line:find "^%s*>" then
    return { kind = "other" }
  end
  return judge[question.kind](question, line, scope, expected)
end

return M
