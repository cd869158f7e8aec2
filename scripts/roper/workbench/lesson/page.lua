--- Self-contained HTML pages of lessons: one page per lesson and a map of all. Slides and pages for
--- paper are in `slides` and `handout`.
local core = require "roper.core"
local document = require "roper.text.document"
local files = require "roper.system.file"
local handout = require "roper.workbench.lesson.handout"
local html = require "roper.text.document.html"
local map = require "roper.workbench.lesson.map"
local margin = require "roper.workbench.lesson.margin"
local markup = require "roper.text.markup"
local play = require "roper.workbench.lesson.play"
local prose = require "roper.workbench.lesson.prose"
local quantities = require "roper.workbench.lesson.quantity"
local questions = require "roper.workbench.lesson.question"
local quiz = require "roper.workbench.lesson.quiz"
local scripts = require "roper.text.script"
local show = require "roper.workbench.lesson.show"
local slides = require "roper.workbench.lesson.slides"
local sources = require "roper.workbench.lesson.sources"
local steps = require "roper.workbench.lesson.step"
local svg = require "roper.workbench.plot.svg"
local tables = require "roper.base.tables"
local terms = require "roper.workbench.lesson.terms"
local h = markup.h

local M = {}

-- Pages of lists.
local LISTS <const> = { index = "all lessons", sources = "their sources", glossary = "their terms" }

local DOT <const> = " · "

local pages = {} -- titles of the lessons whose pages are being written, by name
local pictures = {} -- the first picture of each of these lessons, by name

local function address(name)
  return pages[name] and name .. ".html"
end

local function render(tree)
  return html.nodes(tree, address)
end

-- The pictures of a step: those that its predictions answer. The interactive figure takes the place
-- of the picture if scripts are enabled, or is shown beside it.
local function figures(lesson, step, scope)
  local figure = step.figure
  if figure then
    local shown, played = show.figure(figure, scope), figure.play
    local draw = shown.draw
    function shown.draw(format)
      local picture = draw(format)
      pictures[lesson.name] = pictures[lesson.name] or picture
      return picture
    end
    local still = render(shown)
    local live = played and play.figure(played, html.inline(quantities.marked(
      document.prose(played.caption)), address), steps.data(figure, scope))
    return { played and played.beside and still, h.div { class = "figures",
      not (played and played.beside) and still, live } }
  end
end

-- The code and the checks of a step, and the same in PyTorch.
local function results(step, result)
  local shown = show.results(result)
  local is_empty = not (result.transcript[1] or result.claims[1] or result.identity)
  return { not is_empty and h.div { class = "results", render(shown) },
    render(show.python(step) or {}) }
end

-- The questions of a list, numbered from `first` on. `where`: head, lesson, step and names.
local function ask(list, first, where, scope)
  return tables.map(list or {}, function(question, i)
    local id = ("question-%d-%d"):format(where.step, first + i - 1)
    return quiz.question(question, tables.merged(where, { id = id }), scope, render)
  end)
end

local function title(number, step)
  return render(document.heading({ document.styled("number", ("Step %d"):format(number)), " ",
    document.prose(step.title) }, 2))
end

local function formula(step)
  return step.formula and render(document.formula(step.formula))
end

local function numbers(scope)
  return core.json_encode(questions.numbers(scope))
end

-- A step: its predictions are above what answers them. `met`: the sources and the terms of the
-- glossary in the steps before.
local function section(lesson, number, scope, met)
  local step, where = lesson.steps[number], { lesson = lesson.name, step = number }
  local before = numbers(scope) -- a prediction cannot use variables of the step
  local result = steps.run(step, scope)
  local text = margin.noted(terms.linked(quantities.paragraphs(step.text), met.terms), met.sources,
    render)
  local shown = figures(lesson, step, scope)
  if number == 1 and #(step.predict or {}) == 0 then -- the page opens with its picture
    table.insert(text, math.min(2, #text + 1), shown)
    shown = nil
  end
  return h.section { id = "step-" .. number, class = "step", title(number, step), text,
    formula(step),
    ask(step.predict, 1, tables.merged(where, { head = show.PREDICT, names = before,
      is_prediction = true }), scope),
    shown, results(step, result),
    ask(step.exercise, #(step.predict or {}) + 1, tables.merged(where, { head = show.TRY,
      names = numbers(scope) }), scope) }
end

-- The bar that stays, with the steps of a lesson.
local function bar(lesson)
  return h.header { class = "bar", h.nav { ["aria-label"] = "Steps of this lesson",
    h.a { href = "index.html", "Lessons" }, h.span { class = "title", prose.line(lesson.title) },
    h.span { class = "here", role = "status" },
    h.ol { class = "steps", tables.map(lesson.steps, function(step, i)
      return h.li { h.a { href = "#step-" .. i, title = prose.line(step.title), i } }
    end) } } }
end

local function minutes(lesson)
  return lesson.minutes and ("%d minutes"):format(lesson.minutes)
end

-- Links to the previous and the next lesson.
local function ends(lessons, index)
  local function link(number, form)
    local lesson = lessons[number]
    return lesson and h.a { href = lesson.name .. ".html", h.small { form:format(table.concat({
      ("Lesson %d"):format(number), minutes(lesson) }, DOT)) }, prose.line(lesson.title) }
      or h.span {}
  end
  return h.footer { h.nav { class = "ends", ["aria-label"] = "Lessons before and after",
    link(index - 1, "← %s"), link(index + 1, "%s →") } }
end

-- The names of needed lessons, with links.
local function needed(lesson)
  return tables.map(lesson.needs, function(name, i)
    local found = pages[name]
    return { i > 1 and (i == #lesson.needs and " and " or ", "),
      found and document.link(found, address(name)) or document.code(name) }
  end)
end

-- The title of a lesson, what it takes and what it teaches.
local function head(lessons, index)
  local lesson = lessons[index]
  local after = lesson.after:gsub("^You ", "you ")
  return h.header { class = "head", render {
    document.heading(document.prose(lesson.title)),
    document.paragraph({ lessons[2] and ("Lesson %d of %d%s"):format(index, #lessons, DOT),
      minutes(lesson), lesson.needs[1] and { lesson.minutes and DOT .. "after " or "After ",
        needed(lesson) }, ". Afterwards, ", document.prose(after) }, "meta"),
    document.details("Goals and notation", { show.goals(lesson), show.notation(lesson) }, "about"),
    quiz.progress(lesson) } }
end

local function assets(lesson)
  local style, script = quiz.assets()
  local play_style, play_script = play.assets(play.kinds(lesson))
  return { style, play_style }, { script, play_script,
    h.script { scripts.joined "workbench/lesson/lesson.mjs" } }
end

local function lesson_page(lessons, index)
  local lesson, scope, met = lessons[index], steps.scope(), { sources = {}, terms = {} }
  local sections = {}
  for number in ipairs(lesson.steps) do
    sections[number] = section(lesson, number, scope, met)
  end
  local style, script = assets(lesson)
  return html.page(prose.line(lesson.title), {
    h.a { class = "skip", href = "#main", "To the lesson" }, bar(lesson),
    h.main { id = "main", ["data-lesson"] = lesson.name, head(lessons, index), sections },
    ends(lessons, index), script },
    { style = { svg.style(), markup.asset "workbench/lesson/figure.css",
      markup.asset "workbench/lesson/lesson.css", style }, is_guarded = true })
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
  pages, pictures = {}, {}
  for _, lesson in ipairs(lessons) do
    pages[lesson.name] = prose.line(lesson.title)
  end
  for i, lesson in ipairs(lessons) do
    local heading, parts = pages[lesson.name], { { lesson = lesson } }
    files.write(("%s/%s.html"):format(path, lesson.name), form == "slides"
      and slides.page(lesson, address) or form == "handout" and handout.page(heading, parts)
      or lesson_page(lessons, i))
    if form == "handout" then
      files.write(("%s/%s-answers.html"):format(path, lesson.name),
        handout.page(heading, parts, true))
    end
  end
  local index = path .. "/index.html"
  files.write(index, map.page(lessons, { sources.write(lessons, path, address) or false,
    terms.write(lessons, path, address) or false }, pictures))
  return index
end

return M
