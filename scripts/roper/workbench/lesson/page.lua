--- Self-contained HTML pages of lessons: one page per lesson and an index. A handout omits the
--- answers; slides show one step at a time, on a screen or on paper.
local document = require "roper.base.document"
local files = require "roper.base.file"
local html = require "roper.base.document.html"
local markup = require "roper.base.markup"
local play = require "roper.workbench.lesson.play"
local prose = require "roper.workbench.lesson.prose"
local show = require "roper.workbench.lesson.show"
local steps = require "roper.workbench.lesson.step"
local tables = require "roper.base.tables"
local h = markup.h

local M = {}

local TITLE <const> = "Rotary position encodings, step by step"

local pages = {} -- set of the names of the lessons whose pages are being written

local function address(name)
  return pages[name] and name .. ".html"
end

-- A question, and in a handout room for the answer.
local function ask(question, head, form)
  return { show.question(question, head),
    form == "handout" and not question.choices and h.div { class = "room" } }
end

local function exercise(question, form)
  return { ask(question, show.TRY, form),
    form ~= "handout" and document.details("Answer", show.answer(question)) }
end

-- The interactive figure of a step. A handout is printed, so it has none.
local function interactive(step, form)
  return form ~= "handout" and step.figure and step.figure.play
end

-- The output of a step, and the interactive figure that replaces its picture if scripts are
-- enabled.
local function results(step, result, scope, form)
  local found = interactive(step, form)
  return { show.results(result), show.python(step),
    step.figure and show.figure(step.figure, scope),
    found and play.figure(found, html.inline(document.prose(found.caption), address)) }
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
    return { questioned, document.transcript(tables.map(result.transcript, function(piece)
      return { source = piece.source }
    end)) }
  end
  return { questioned, document.details("Answer and results", {
    tables.map(predict, function(question) return show.answer(question) end),
    results(step, result, scope, form) }, "results") }
end

local function step_links(number, count)
  local function link(to, sign, name)
    return to >= 1 and to <= count and h.a { href = "#step-" .. to, title = name, sign }
      or h.span {}
  end
  return h.nav { link(number - 1, "←", "previous step"),
    h.span { ("%d/%d"):format(number, count) }, link(number + 1, "→", "next step") }
end

local function section(lesson, number, scope, form)
  local step = lesson.steps[number]
  return h.section { id = "step-" .. number, html.nodes({
    document.heading({ number, ". ", document.prose(step.title) }, 2), show.text(step),
    body(step, steps.run(step, scope), scope, form),
    tables.map(step.exercise or {}, function(question) return exercise(question, form) end),
    form == "slides" and step_links(number, #lesson.steps) }, address) }
end

-- Links to the previous and the next lesson, and to the index.
local function navigation(lessons, index)
  local function link(lesson, form)
    return lesson and h.a { href = lesson.name .. ".html", form:format(lesson.name) } or h.span {}
  end
  return h.nav { link(lessons[index - 1], "←\u{A0}%s"), h.a { href = "index.html", "All lessons" },
    link(lessons[index + 1], "%s\u{A0}→") }
end

local function lesson_page(lessons, index, form)
  local lesson, scope = lessons[index], steps.scope()
  local sections, style, script = {}, nil, nil
  for number, step in ipairs(lesson.steps) do
    if interactive(step, form) then
      style, script = play.assets()
    end
    sections[number] = section(lesson, number, scope, form)
  end
  return html.page(prose.line(lesson.title), {
    h.header { navigation(lessons, index),
      html.nodes({ show.head(lesson), show.notation(lesson) }, address) },
    sections, h.section { navigation(lessons, index) }, script },
    { style = { style, form == "slides" and markup.asset "workbench/lesson/slides.css" } })
end

local function index_page(lessons)
  return html.page(TITLE, { document.heading(TITLE), document.paragraph { "Each lesson needs "
    .. "school trigonometry and the lessons listed with it. Every line with a ✓ was checked when "
    .. "the pages were written. To try each step yourself, run ",
    document.code "./roper lesson NAME", " in a terminal." },
    document.list(tables.map(lessons, function(lesson)
      return { document.link(document.prose(lesson.title), lesson.name .. ".html"), document.BREAK,
        document.styled("about", { document.prose(lesson.after), document.BREAK,
          document.prose(prose.demands(lesson)) }) }
    end), "1", "lessons") }, { href = address })
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
  pages = tables.set(tables.map(lessons, function(lesson) return lesson.name end))
  for i, lesson in ipairs(lessons) do
    files.write(("%s/%s.html"):format(path, lesson.name), lesson_page(lessons, i, form))
  end
  local index = path .. "/index.html"
  files.write(index, index_page(lessons))
  return index
end

return M
