--- Slides of a lesson: one idea on each, a title with a formula or a picture and few words.
local document = require "roper.text.document"
local html = require "roper.text.document.html"
local markup = require "roper.text.markup"
local play = require "roper.workbench.lesson.play"
local prose = require "roper.workbench.lesson.prose"
local questions = require "roper.workbench.lesson.question"
local show = require "roper.workbench.lesson.show"
local steps = require "roper.workbench.lesson.step"
local svg = require "roper.workbench.plot.svg"
local h = markup.h

local M = {}

local MOST_WORDS <const> = 40 -- of a slide, besides its title

-- Counts words. A formula counts as one.
local function count_words(text)
  local words = text:gsub("%$[^$]*%$", "x"):gsub("%]%(.-%)", "]")
  return select(2, words:gsub("%S+", ""))
end

--- The first sentences of a text that have at most 40 words together.
---@param text string prose
---@return string shortened "" if the first sentence is longer
function M.shortened(text)
  local kept, words = {}, 0
  for sentence in (text:gsub("%s+", " "):gsub("([.?!]) (%u)", "%1\n%2") .. "\n"):gmatch "(.-)\n" do
    words = words + count_words(sentence)
    if words > MOST_WORDS then
      break
    end
    kept[#kept + 1] = sentence
  end
  return table.concat(kept, " ")
end

local function slide(title, ...)
  return { heading = title, ... }
end

-- Adds the slides of a question that is short enough: the question, then its answer.
local function add_question(list, title, question)
  local text = question.question .. " " .. table.concat(question.choices or {}, " ")
  if question.kind == "line" or count_words(text) > MOST_WORDS then
    return
  end
  list[#list + 1] = slide(title, show.question(question, "Question."))
  local answer = M.shortened(questions.answer(question))
  list[#list + 1] = answer ~= "" and slide(title, document.paragraph {
    document.styled("emphasis", show.ANSWER), " ", document.prose(answer) }) or nil
end

-- The picture of a step, and the interactive figure that replaces it if scripts are enabled.
local function picture(figure, scope)
  return { show.figure(figure, scope, M.shortened(figure.caption)), figure.play
    and play.figure(figure.play, html.inline(document.prose(M.shortened(figure.play.caption)))) }
end

-- The slides of a step that was run.
local function slides_of(step, scope)
  local list, text = {}, M.shortened(step.text)
  if text ~= "" or step.formula then
    list[1] = slide(step.title, step.formula and document.formula(step.formula),
      document.paragraph(document.prose(text)))
  end
  for _, question in ipairs(step.predict or {}) do
    add_question(list, step.title, question)
  end
  if step.figure then
    list[#list + 1] = slide(step.title, picture(step.figure, scope))
  end
  if step.python then
    list[#list + 1] = slide(step.title, document.listing(steps.unindented(step.code)))
    list[#list + 1] = slide(step.title, show.python(step))
  end
  for _, question in ipairs(step.exercise or {}) do
    add_question(list, step.title, question)
  end
  return list
end

--- The page of a lesson's slides. With scripts, it shows one at a time: the arrow keys and Space
--- change it.
---@param lesson table
---@param address fun(code: string): string? address of a lesson that code names
---@return string html
function M.page(lesson, address)
  local scope, all = steps.scope(), {}
  all[1] = h.section { class = "cover", html.nodes({
    document.heading(document.prose(lesson.title)),
    document.paragraph(document.prose(M.shortened(lesson.after))) }, address) }
  for _, step in ipairs(lesson.steps) do
    steps.prepare(step, scope)
    for _, one in ipairs(slides_of(step, scope)) do
      all[#all + 1] = h.section { html.nodes({ document.heading(document.prose(one.heading), 2),
        one[1], one[2] }, address) }
    end
  end
  local style, script = play.assets(play.kinds(lesson))
  return html.page(prose.line(lesson.title), { h.main { all },
    h.nav { class = "number", ["aria-label"] = "slides" }, script,
    h.script { markup.asset "workbench/lesson/slides.js" } },
    { style = { svg.style(), style, markup.asset "workbench/lesson/slides.css" } })
end

return M
