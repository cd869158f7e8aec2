--- HTML of the questions on pages. The script quiz.mjs checks answers and keeps the record of right
--- ones in the browser; without it, pages show the question and, folded, its answer.
---
--- An element of class "question" has the data of its question: data-kind, data-expect,
--- data-within, data-names, the numbers among the variables of the lesson, data-wanted, which
--- describes an answer, data-check, of a line of Lua for a session, and data-verdicts, of its form:
--- for each way to fill it, 0 if it is right, the number of its hint, or -1. Each item of its list
--- of hints may have a condition, in data-if.
local core = require "roper.core"
local document = require "roper.text.document"
local forms = require "roper.workbench.lesson.form"
local markup = require "roper.text.markup"
local questions = require "roper.workbench.lesson.question"
local script = require "roper.text.script"
local show = require "roper.workbench.lesson.show"
local tables = require "roper.base.tables"
local h = markup.h

local M = {}

-- The list of hints, those with a condition first.
local function hints(question, render)
  return h.ul { class = "hints", hidden = true,
    tables.map(question.conditions, function(hint)
      return h.li { ["data-if"] = hint[1], render(document.prose(hint[2])) }
    end),
    tables.map(question.further, function(hint) return h.li { render(document.prose(hint)) } end) }
end

--- Can a page check an answer to this question?
---@return boolean
function M.is_checked(question)
  return question.kind == "choice" or question.kind == "number" or question.form ~= nil
end

--- The form of a question: its line, with a menu for each blank.
---@return any node
function M.form(question)
  local parts = {}
  for i, text in ipairs(forms.texts(question.form)) do
    parts[#parts + 1] = text
    parts[#parts + 1] = question.form[i + 1] and h.select { ["aria-label"] = "Blank " .. i,
      h.option { value = "", "choose" }, tables.map(question.form[i + 1], function(choice, k)
        return h.option { value = k, choice == "" and "(nothing)" or choice }
      end) }
  end
  return h.p { class = "fill", h.code { parts } }
end

-- The verdicts on the ways to fill a form, as pages keep them.
local function verdicts(question, scope, ahead)
  local places = {}
  for i, hint in ipairs(question.conditions) do
    places[hint[2]] = places[hint[2]] or i
  end
  return core.json_encode(core.json_array(tables.map(questions.of_form(question, scope, ahead),
    function(verdict)
      return verdict.kind == "right" and 0 or places[verdict.hint] or -1
    end)))
end

--- A question that is answered on the page, if it can be checked there.
---@param question table
---@param where {id: string, head: string, lesson: string, step: integer, names: string,
---   is_prediction: boolean?} id: of the element; head: words above the question; names: a JSON
---   object of the numbers that an answer can use; is_prediction: whether the results of the step
---   wait for it
---@param scope table the variables of the lesson
---@param render fun(tree: any): any makes page nodes of a document
---@return any node
function M.question(question, where, scope, render)
  local is_number, is_checked = question.kind == "number", M.is_checked(question)
  local is_open_line = question.check and not question.form
  return h.div { class = where.is_prediction and "question prediction" or "question",
    id = where.id, ["data-kind"] = is_checked and (question.form and "form" or question.kind),
    ["data-expect"] = is_number and ("%.17g"):format(questions.expected(question, scope))
      or is_checked and question.expect,
    ["data-verdicts"] = question.form and verdicts(question, scope),
    ["data-within"] = is_number and question.within,
    ["data-names"] = is_number and where.names,
    ["data-wanted"] = is_number and questions.wanted(question),
    ["data-check"] = question.check,
    h.h3 { (where.head:gsub("%.$", "")) }, render(show.question(question)),
    question.kind ~= "open" and hints(question, render),
    question.form and M.form(question),
    is_open_line and render(document.paragraph({ "Its answer is a line of Lua: run ",
      document.code(("./roper lesson %s %d"):format(where.lesson, where.step)),
      " in a terminal." }, "check")),
    render(document.details("Answer", show.answer(question), "answer")) }
end

--- A line for the number of questions that were answered, which quiz.mjs fills.
---@param lesson table
---@return any node
function M.progress(lesson)
  local count = 0
  for _, step in ipairs(lesson.steps) do
    for _, question in ipairs(questions.of(step)) do
      count = count + (M.is_checked(question) and 1 or 0)
    end
  end
  return count > 0 and h.p { class = "progress check", hidden = true, ["data-lesson"] = lesson.name,
    ["data-count"] = count }
end

--- The style and the script of pages with questions.
---@return any style
---@return any script
function M.assets()
  return markup.asset "workbench/lesson/quiz.css",
    h.script { script.joined "workbench/lesson/quiz.mjs" }
end

return M
