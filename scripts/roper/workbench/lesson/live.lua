--- Answers to the cells of a lesson's page: checks claims, draws figures and judges lines of Lua
--- with the variables of the reader's session.
local escape = require "roper.base.escape"
local eval = require "roper.text.eval"
local markup = require "roper.text.markup"
local public = require "roper.base.public"
local questions = require "roper.workbench.lesson.question"
local steps = require "roper.workbench.lesson.step"
local tables = require "roper.base.tables"

local M = {}

local answers = {}

function answers.claim(scope, source)
  local result = steps.judge({ text = source }, scope)
  return { holds = result.holds, value = escape.text(result.value) }
end

function answers.figure(scope, source)
  local picture = steps.draw({ draw = source }, scope, "svg")
  return { svg = type(picture) == "string" and picture or markup.render(picture) }
end

function answers.data(scope, source)
  return { data = steps.evaluate(source, scope, "data") }
end

function answers.line(scope, given)
  local question = { kind = "line", check = given.check,
    conditions = tables.map(given.conditions, function(condition, i)
      return { condition, i, name = ("hint %d"):format(i) }
    end) }
  local verdict = questions.judge(question, given.line, scope)
  local failure = verdict.failure and verdict.failure.message
  return { kind = verdict.kind, hint = verdict.hint, wanted = verdict.wanted,
    shown = verdict.shown and escape.text(verdict.shown),
    failure = failure and escape.text(failure) }
end

--- Answers a request. The variables that claims and figures set are not kept.
---@param globals table of the session
---@param request {claim: string?, figure: string?, data: string?, line: table?} Lua, or
---   {line, check, conditions} of an answer to a question
---@return table reply of a claim, holds and value; of a figure, svg; of data, data; of a line, the
---   kind of the verdict (`question.judge`), and if present the number of the hint that fits,
---   wanted, shown and failure; error, if the Lua fails
function M.answer(globals, request)
  local kind, value = next(request)
  local scope = kind == "line" and globals or steps.layer(globals, { plot = public.root.plot })
  local ok, reply = eval.call(answers[kind], scope, value)
  return ok and reply or { error = reply.interrupted and "interrupted"
    or escape.text(reply.message) }
end

return M
