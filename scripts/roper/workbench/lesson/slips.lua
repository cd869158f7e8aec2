--- The usual wrong answers to a question, with the reply to each: notes of slides, answers of
--- handouts and the table of questions list them.
local document = require "roper.text.document"
local eval = require "roper.text.eval"
local forms = require "roper.workbench.lesson.form"
local questions = require "roper.workbench.lesson.question"
local steps = require "roper.workbench.lesson.step"
local tables = require "roper.base.tables"

local M = {}

-- Forms of conditions of hints that name an answer.
local NAMED <const> = { "^it == (.+)$", "^math%.abs%(it %- (.+)%) < [%w.-]+$" }

-- The value of Lua as text, and the Lua itself, if it is not a number as it is typed.
local function shown(source, scope)
  if tonumber(source) then
    return source
  end
  local ok, value = eval.call(steps.evaluate, source, steps.layer(scope), "answer")
  return ok and math.type(value) and { ("%.3g ("):format(value), document.code(source), ")" }
    or document.code(source)
end

-- The answers that a condition names; the condition itself if it names none.
local function answers_in(condition, scope)
  local list = {}
  for one in (condition .. " or "):gmatch "(.-) or " do
    local source
    for _, form in ipairs(NAMED) do
      source = source or one:match(form)
    end
    if not source or source:find "[<>~=]" then
      return { { "if ", document.code(condition) } }
    end
    list[#list + 1] = shown(source, scope)
  end
  return list
end

-- Joins texts by commas.
local function listed(list)
  local joined = {}
  for i, text in ipairs(list) do
    joined[#joined + 1] = i > 1 and ", " or nil
    joined[#joined + 1] = text
  end
  return joined
end

local function of_choice(question, reply)
  local list = {}
  for i, choice in ipairs(question.choices) do
    if i ~= question.expect then
      list[#list + 1] = { answer = { questions.letter(i), ") ", document.prose(choice) },
        reply = reply(i) }
    end
  end
  return list
end

-- The wrong ways to fill a form that have a hint of their own, by hint.
local function of_form(question, scope)
  local list, places = {}, {}
  local lines = forms.lines(question.form)
  for i, verdict in ipairs(questions.of_form(question, scope)) do
    local place = verdict.hint and (places[verdict.hint] or #list + 1)
    if place then
      places[verdict.hint] = place
      list[place] = list[place] or { answers = {}, reply = verdict.hint }
      table.insert(list[place].answers, document.code(lines[i]))
    end
  end
  return tables.map(list, function(slip)
    return { answer = listed(slip.answers), reply = slip.reply }
  end)
end

--- The usual wrong answers to a question.
---@param question table
---@param scope table the variables of the step
---@return {answer: any, reply: string}[] slips answer: inline; reply: prose
---@return string[] otherwise the replies to any other wrong answer, in turn
function M.of(question, scope)
  if question.kind == "choice" then
    return of_choice(question, function(it)
      for _, hint in ipairs(question.conditions) do
        if questions.fits(question, hint, it, scope) then
          return hint[2]
        end
      end
      return question.further[1]
    end), question.further
  elseif question.form then
    return of_form(question, scope), question.further
  end
  return tables.map(question.conditions, function(hint)
    return { answer = listed(answers_in(hint[1], scope)), reply = hint[2] }
  end), question.further
end

--- The usual wrong answers with their replies, as a list.
---@return table|false block
function M.list(question, scope)
  local slips, otherwise = M.of(question, scope)
  local items = tables.map(slips, function(slip)
    return { document.styled("strong", slip.answer), ": ", document.prose(slip.reply) }
  end)
  if #otherwise > 0 and question.kind ~= "open" then
    items[#items + 1] = { "Otherwise: ", document.prose(table.concat(otherwise, " ")) }
  end
  return items[1] ~= nil and document.list(items)
end

--- The same with a title.
---@return table|false blocks
function M.document(question, scope)
  local list = M.list(question, scope)
  return list and { document.paragraph(document.styled("strong",
    "Usual wrong answers, and what to reply")), list }
end

return M
