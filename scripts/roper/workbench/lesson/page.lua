--- Self-contained HTML pages of lessons: one page per lesson and an index. A handout has pictures
--- and questions for paper, without answers; slides are in `slides`.
local document = require "roper.text.document"
local files = require "roper.system.file"
local html = require "roper.text.document.html"
local markup = require "roper.text.markup"
local play = require "roper.workbench.lesson.play"
local prose = require "roper.workbench.lesson.prose"
local questions = require "roper.workbench.lesson.question"
local quiz = require "roper.workbench.lesson.quiz"
local show = require "roper.workbench.lesson.show"
local slides = require "roper.workbench.lesson.slides"
local sources = require "roper.workbench.lesson.sources"
local steps = require "roper.workbench.lesson.step"
local tables = require "roper.base.tables"
local terms = require "roper.workbench.lesson.terms"
local h = markup.h

local M = {}

local TITLE <const> = "Rotary position encodings, step by step"

-- Pages of lists.
local LISTS <const> = { index = "all lessons", sources = "their sources", glossary = "their terms" }

local pages = {} -- set of the names of the lessons whose pages are being written

local function address(name)
  return pages[name] and name .. ".html"
end

local function render(tree)
  return html.nodes(tree, address)
end

-- The picture of a step, and the interactive figure that replaces it if scripts are enabled.
local function picture(step, scope)
  local figure = step.figure
  return figure and { show.figure(figure, scope), figure.play
    and play.figure(figure.play, html.inline(document.prose(figure.play.caption), address)) }
end

-- The code and the checks of a step, folded unless there is a listing to compare with.
local function results(step, result)
  if step.python then
    return { show.results(result), show.python(step) }
  end
  local has_code, has_checks = result.transcript[1], result.claims[1] or result.identity
  local summary = has_code and has_checks and "Code and checks" or has_code and "Code"
    or has_checks and "Checks"
  return summary and document.details(summary, show.results(result), "results")
end

-- The questions of a list, numbered from `first` on. `where`: head, lesson, step and names.
local function ask(list, first, where, scope)
  return tables.map(list or {}, function(question, i)
    local id = ("question-%d-%d"):format(where.step, first + i - 1)
    return quiz.question(question, tables.merged(where, { id = id }), scope, render)
  end)
end

local function title(number, step)
  return document.heading({ number, ". ", document.prose(step.title) }, 2)
end

-- A step. The first one has its picture after its first paragraph, so that a page opens with it.
-- `mentioned`: the terms of the glossary in the steps before.
local function section(lesson, number, scope, mentioned)
  local step, where = lesson.steps[number], { lesson = lesson.name, step = number }
  local before = quiz.numbers(scope) -- a prediction cannot use variables of the step
  local result = steps.run(step, scope)
  local text, shown = show.text(step), picture(step, scope)
  text[1] = terms.linked(text[1], mentioned)
  if number == 1 and shown then
    table.insert(text[1], math.min(2, #text[1] + 1), shown)
    shown = nil
  end
  return h.section { id = "step-" .. number, render { title(number, step), text,
    ask(step.predict, 1, tables.merged(where, { head = show.PREDICT, names = before }), scope),
    shown or false, results(step, result),
    ask(step.exercise, #(step.predict or {}) + 1, tables.merged(where, { head = show.TRY,
      names = quiz.numbers(scope) }), scope) } }
end

-- A step on paper, with room for answers. Lines of Lua are not asked for.
local function printed(lesson, number, scope)
  local step, asked = lesson.steps[number], {}
  steps.prepare(step, scope)
  for _, question in ipairs(questions.of(step)) do
    if question.kind ~= "line" then
      asked[#asked + 1] = { show.question(question, "Question."),
        not question.choices and h.div { class = "room" } }
    end
  end
  return h.section { id = "step-" .. number, render { title(number, step), show.text(step),
    step.figure and show.figure(step.figure, scope), asked } }
end

-- The picture of a step for the top of the page.
local function opening(step, number, scope)
  return render { picture(step, scope), document.paragraph({ "From ",
    document.link(("step %d"):format(number), "#step-" .. number), "." }, "about") }
end

-- Links to the previous and the next lesson, and to the index.
local function navigation(lessons, index, label)
  local function link(lesson, form)
    return lesson and h.a { href = lesson.name .. ".html", form:format(lesson.name) } or h.span {}
  end
  return h.nav { ["aria-label"] = label, link(lessons[index - 1], "←\u{A0}%s"),
    h.a { href = "index.html", "All lessons" }, link(lessons[index + 1], "%s\u{A0}→") }
end

local function count_checked(lesson)
  local count = 0
  for _, step in ipairs(lesson.steps) do
    for _, question in ipairs(questions.of(step)) do
      count = count + (quiz.is_checked(question) and 1 or 0)
    end
  end
  return count
end

-- What a lesson needs, and, folded, its goals and notation.
local function about(lesson)
  return { document.paragraph(document.prose(prose.demands(lesson)), "about"), document.details(
    lesson.notation[1] and "Goals and notation" or "Goals",
    { show.goals(lesson), show.notation(lesson) }, "about") }
end

local function lesson_page(lessons, index, form)
  local lesson, scope, mentioned = lessons[index], steps.scope(), {}
  local is_printed = form == "handout"
  local sections, has_play, first_picture = {}, false, nil
  for number, step in ipairs(lesson.steps) do
    has_play = has_play or step.figure and step.figure.play
    sections[number] = (is_printed and printed or section)(lesson, number, scope, mentioned)
    if step.figure and first_picture == nil then -- the first step has its own at the top
      first_picture = number > 1 and not is_printed and opening(step, number, scope)
    end
  end
  local style, script, play_style, play_script
  if not is_printed then
    style, script = quiz.assets()
    if has_play then
      play_style, play_script = play.assets()
    end
  end
  return html.page(prose.line(lesson.title), {
    h.header { navigation(lessons, index, "lessons") },
    h.main { ["data-lesson"] = lesson.name,
      h.header { render { document.heading(document.prose(lesson.title)),
        is_printed and { show.goals(lesson), show.notation(lesson) } or about(lesson) },
        not is_printed and { quiz.progress(lesson.name, count_checked(lesson)),
          first_picture } },
      sections },
    h.footer { navigation(lessons, index, "lessons, below") }, play_script, script },
    { style = { style, play_style } })
end

local function index_page(lessons, link)
  local _, script = quiz.assets()
  return html.page(TITLE, { h.main { render { document.heading(TITLE),
    document.paragraph { "Each lesson needs school trigonometry and the lessons listed with it. "
      .. "Every line with a ✓ was checked when the pages were written. To try a step yourself, "
      .. "press Run below its code, if the page has this button, or run ",
      document.code "./roper lesson NAME", " in a terminal." },
    document.list(tables.map(lessons, function(lesson)
      return { document.link(document.prose(lesson.title), lesson.name .. ".html"), document.BREAK,
        document.styled("about", { document.prose(lesson.after), document.BREAK,
          document.prose(prose.demands(lesson)) }),
        quiz.progress(lesson.name, count_checked(lesson)) }
    end), "1", "lessons"), link } }, script })
end

--- Writes lessons as HTML pages.
---
--- Errors: a single lesson named index, sources or glossary; a file cannot be written.
---@param lessons table[] in the order of the index
---@param path string the folder, created if it does not exist
---@param form "html"|"handout"|"slides"|nil "html" by default
---@return string index path of the index page
function M.write(lessons, path, form)
  local name = #lessons == 1 and lessons[1].name
  if LISTS[name] then
    error(("lesson: %s.html lists %s; rename the file %s.lua"):format(name, LISTS[name], name), 0)
  end
  files.make(path)
  pages = tables.set(tables.map(lessons, function(lesson) return lesson.name end))
  for i, lesson in ipairs(lessons) do
    files.write(("%s/%s.html"):format(path, lesson.name), form == "slides"
      and slides.page(lesson, address) or lesson_page(lessons, i, form))
  end
  local index = path .. "/index.html"
  files.write(index, index_page(lessons, { sources.write(lessons, path, address) or false,
    terms.write(lessons, path, address) or false }))
  return index
end

return M
