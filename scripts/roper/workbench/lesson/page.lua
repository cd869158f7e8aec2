--- Self-contained HTML pages of lessons: one page per lesson and an index. A handout omits the
--- answers; slides show one step at a time, on a screen or on paper.
local html_page = require "roper.base.html_page"
local files = require "roper.base.file"
local identity_report = require "roper.identity.report"
local markup = require "roper.base.markup"
local mathml = require "roper.base.formula.mathml"
local play = require "roper.workbench.lesson.play"
local prose = require "roper.workbench.lesson.prose"
local questions = require "roper.workbench.lesson.question"
local show = require "roper.workbench.lesson.show"
local steps = require "roper.workbench.lesson.step"
local tables = require "roper.base.tables"
local h = markup.h

local M = {}

local pages = {} -- the lessons whose pages are being written, by name

local function inline(text)
  return prose.nodes(text, pages)
end

local function paragraphs(text)
  local list = {}
  for paragraph in (steps.unindented(text) .. "\n\n"):gmatch "(.-)\n%s*\n" do
    list[#list + 1] = h.p { inline(paragraph) }
  end
  return list
end

-- Lines of code. If a line is too long for the page, its continuation is indented.
local function code_lines(text)
  local list = {}
  for line in (text .. "\n"):gmatch "[^\n]*\n" do
    list[#list + 1] = h.span { class = "line", line,
      style = ("--inset:%dch"):format(#line:match "^[> ]*" + 2) }
  end
  return list
end

local function transcript(pieces)
  local lines = {}
  for i, piece in ipairs(pieces) do
    lines[i] = { h.b { code_lines("> " .. piece.source:gsub("\n", "\n  ")) },
      piece.output and code_lines(piece.output) }
  end
  return lines[1] and h.pre { class = "code", lines }
end

local function mark(holds)
  return { h.b { class = holds and "good" or "bad", holds and "✓" or "✗" }, " " }
end

local function residuals(rows)
  local lines = {}
  for i, row in ipairs(rows) do
    local cell = h[i == 1 and "th" or "td"]
    lines[i] = h.tr { tables.map(row, function(text) return cell { text } end) }
  end
  return h.div { class = "table", h.table { lines } }
end

local function equation(found)
  return h.pre { class = "identity", code_lines(identity_report.equation(found.sides)) }
end

local function identity(found)
  local wrong = {}
  for i, one in ipairs(found.wrong) do
    wrong[i] = { equation(one), h.p { class = "check", mark(one.is_refuted),
      one.is_refuted and "Refuted, as it should be" or "Not refuted",
      one.source and (" (%s)"):format(one.source), ": ",
      inline(identity_report.counterexample(one.counterexample)), "." } }
  end
  return { equation(found), h.details { class = "checks",
    h.summary { mark(found.is_small and found.exact.holds),
      inline(identity_report.summary(found)) },
    h.p { class = "check", "Residuals on random tensors:" }, residuals(identity_report.rows(found)),
    h.p { class = "check", "Exactly: ", inline(identity_report.exact(found.exact)), "." } },
    wrong }
end

-- A question: words before it, its choices, and in a handout room for the answer.
local function ask(question, head, form)
  return { h.p { h.em { head }, " ", inline(steps.unindented(question.question)) },
    question.choices and h.ol { class = "choices", tables.map(question.choices, function(choice)
      return h.li { inline(choice) }
    end) },
    form == "handout" and not question.choices and h.div { class = "room" } }
end

local function answer(question)
  return paragraphs(questions.answer(question))
end

local function exercise(question, form)
  return { ask(question, show.TRY, form),
    form ~= "handout" and h.details { h.summary { "Answer" }, answer(question) } }
end

-- The interactive figure of a step. A handout is printed, so it has none.
local function interactive(step, form)
  return form ~= "handout" and step.figure and step.figure.play
end

-- A picture, and the interactive figure that replaces it if scripts are enabled.
local function figure(step, scope, form)
  local found = interactive(step, form)
  return { h.figure { markup.verbatim((steps.draw(step.figure, scope, "svg")
      :gsub("^<%?xml.-%?>%s*", ""))), h.figcaption { inline(step.figure.caption) } },
    found and play.figure(found, inline(found.caption)) }
end

-- The output of a step's code, its checked claims and identity, and its figure.
local function results(step, result, scope, form)
  local claims = {}
  for i, claim in ipairs(result.claims) do
    claims[i] = h.p { class = "claim", mark(claim.holds), claim.text, " ",
      h.span { "measured: ", claim.value } }
  end
  return { transcript(result.transcript), claims, result.identity and identity(result.identity),
    step.figure and figure(step, scope, form) }
end

-- The part of a step after its text and formula. If a step begins with a question, a handout shows
-- its code without the output, which would reveal the answer.
local function body(step, result, scope, form)
  local predict = step.predict or {}
  if #predict == 0 then
    return results(step, result, scope, form)
  end
  local questioned = tables.map(predict, function(question)
    return ask(question, show.PREDICT, form)
  end)
  if form == "handout" then
    return { questioned, transcript(tables.map(result.transcript, function(piece)
      return { source = piece.source }
    end)) }
  end
  return { questioned, h.details { class = "results",
    h.summary { "Answer and results" }, tables.map(predict, answer),
    results(step, result, scope, form) } }
end

-- Links to the previous and the next step.
local function step_links(number, count)
  local function link(to, sign, name)
    return to >= 1 and to <= count and h.a { href = "#step-" .. to, title = name, sign }
      or h.span {}
  end
  return h.nav { link(number - 1, "←", "previous step"),
    h.span { ("%d/%d"):format(number, count) }, link(number + 1, "→", "next step") }
end

local function section(lesson, number, result, scope, form)
  local step = lesson.steps[number]
  return h.section { id = "step-" .. number,
    h.h2 { number, ". ", inline(step.title) },
    paragraphs(step.text),
    step.formula and mathml.display(step.formula),
    body(step, result, scope, form),
    tables.map(step.exercise or {}, function(question) return exercise(question, form) end),
    form == "slides" and step_links(number, #lesson.steps),
  }
end

-- Links to the previous and the next lesson, and to the index.
local function navigation(lessons, index)
  local function link(lesson, form)
    return lesson and h.a { href = lesson.name .. ".html", form:format(lesson.name) } or h.span {}
  end
  return h.nav { link(lessons[index - 1], "←\u{A0}%s"), h.a { href = "index.html", "All lessons" },
    link(lessons[index + 1], "%s\u{A0}→") }
end

local function notation(lesson)
  return lesson.notation[1] and h.table { class = "notation",
    tables.map(lesson.notation, function(row)
      return h.tr { h.th { mathml.line(row[1]) }, h.td { class = "text", inline(row[2]) } }
    end) }
end

local function lesson_page(lessons, index, form)
  local lesson, scope = lessons[index], steps.scope()
  local sections, style, script = {}, nil, nil
  for number, step in ipairs(lesson.steps) do
    if interactive(step, form) then
      style, script = play.assets()
    end
    sections[number] = section(lesson, number, steps.run(step, scope), scope, form)
  end
  return html_page.page(prose.title(lesson.title), {
    h.header { navigation(lessons, index), h.h1 { inline(lesson.title) },
      h.p { class = "about", "Before: ", inline(lesson.before), h.br {}, "After: ",
        inline(lesson.after), h.br {}, inline(prose.demands(lesson)) },
      notation(lesson) },
    sections, h.section { navigation(lessons, index) }, script },
    { style, form == "slides" and markup.asset "workbench/lesson/slides.css" })
end

local function index_page(lessons)
  local items, title = {}, "Rotary position encodings, step by step"
  for i, lesson in ipairs(lessons) do
    items[i] = h.li { h.a { href = lesson.name .. ".html", inline(lesson.title) }, h.br {},
      h.span { class = "about", inline(lesson.after), h.br {}, inline(prose.demands(lesson)) } }
  end
  return html_page.page(title, { h.h1 { title }, h.p { "The lessons need school trigonometry and "
    .. "the lessons listed with each. Every line with a ✓ was checked when the pages were written. "
    .. "To try each step yourself, run ", h.code { "./roper lesson NAME" }, " in a terminal." },
    h.ol { class = "lessons", items } })
end

--- Writes lessons as HTML pages.
---
--- Errors: a single lesson named index; a file cannot be written.
---@param lessons table[] in the order of the index
---@param path string the folder, created if it does not exist
---@param form "html"|"handout"|"slides"|nil "html" by default
---@return string index path of the index page
function M.write(lessons, path, form)
  if #lessons == 1 and lessons[1].name == "index" then
    error("lesson: index.html lists all lessons; rename the file index.lua", 0)
  end
  files.make(path)
  pages = {}
  for _, lesson in ipairs(lessons) do
    pages[lesson.name] = lesson
  end
  for i, lesson in ipairs(lessons) do
    files.write(("%s/%s.html"):format(path, lesson.name), lesson_page(lessons, i, form))
  end
  local index = path .. "/index.html"
  files.write(index, index_page(lessons))
  return index
end

return M
