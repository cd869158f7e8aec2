--- Handouts: pages for paper with questions, room to answer, and figures to complete by hand, and
--- pages with their answers.
local document = require "roper.text.document"
local html = require "roper.text.document.html"
local markup = require "roper.text.markup"
local prose = require "roper.workbench.lesson.prose"
local quantities = require "roper.workbench.lesson.quantity"
local questions = require "roper.workbench.lesson.question"
local show = require "roper.workbench.lesson.show"
local slips = require "roper.workbench.lesson.slips"
local steps = require "roper.workbench.lesson.step"
local svg = require "roper.workbench.plot.svg"
local tables = require "roper.base.tables"
local h = markup.h

local M = {}

local function numbered(number, i)
  return document.styled("strong", ("%d.%d "):format(number, i))
end

-- A question with room for its answer; the first of its step has the number `first`.
local function ask(list, number, first)
  return tables.map(list or {}, function(question, i)
    local shown = show.question(question)
    shown[1].text = { numbered(number, first + i - 1), shown[1].text }
    local room = question.kind == "open" and "room large" or question.kind ~= "choice"
      and not question.form and "room"
    return h.div { class = "asked", html.nodes { shown, show.form(question) },
      room and h.div { class = room, room == "room" and "Answer:" } }
  end)
end

-- A step on paper: the figure shows only its start, and room to draw.
local function asked(_, step, number, scope)
  steps.prepare(step, scope)
  return { html.nodes { quantities.paragraphs(step.text),
      step.formula and document.formula(step.formula) }, ask(step.predict, number, 1),
    step.figure and h.div { class = "start", ["data-waits"] = true,
      h.p { class = "do", "Draw what you expect." }, html.nodes(show.figure(step.figure, scope)) },
    step.code and html.nodes(document.listing(steps.unindented(step.code))),
    ask(step.exercise, number, #(step.predict or {}) + 1) }
end

-- A step with the answers to its questions, the whole figure, and what its code prints.
local function answered(_, step, number, scope)
  local result = steps.run(step, scope)
  return html.nodes { tables.map(questions.of(step), function(question, i)
    local answer = show.answer(question)
    answer[1].text = { numbered(number, i), answer[1].text }
    return { answer, slips.document(question, scope) }
  end), step.figure and show.figure(step.figure, scope), show.results(result) }
end

-- The sections of a lesson, for some of its steps or all.
local function lesson_part(part, of_step)
  local lesson, scope, wanted = part.lesson, steps.scope(), tables.set(part.steps or {})
  return { h.h1 { prose.line(lesson.title) }, html.nodes(show.notation(lesson)),
    tables.map(lesson.steps, function(step, number)
      local body = of_step(lesson, step, number, scope)
      return (not part.steps or wanted[number]) and h.section {
        h.h2 { h.span { class = "number", ("Step %d "):format(number) }, prose.line(step.title) },
        body } or {}
    end) }
end

---@class LessonPart
---@field lesson table
---@field steps? integer[] the numbers of its steps; by default, all

--- The page of a handout.
---@param title string
---@param parts LessonPart[]
---@param is_answers boolean? the page of its answers instead
---@return string html
function M.page(title, parts, is_answers)
  return html.page(is_answers and "Answers: " .. title or title, { h.main { class = "paper",
    h.p { class = "name", is_answers and "Answers" or { "Name: ", h.span {}, " Date: ",
      h.span {} } },
    tables.map(parts, function(part)
      return lesson_part(part, is_answers and answered or asked)
    end) } },
    { style = { svg.style(), markup.asset "workbench/lesson/figure.css",
      markup.asset "workbench/lesson/handout.css" }, is_guarded = true })
end

return M
