--- Slides of a lesson with notes for the speaker: one idea on each. Nothing is cut: a long text
--- continues on the next slide after the end of a sentence, and the notes have whole paragraphs.
local document = require "roper.text.document"
local escape = require "roper.base.escape"
local html = require "roper.text.document.html"
local markup = require "roper.text.markup"
local play = require "roper.workbench.lesson.play"
local prose = require "roper.workbench.lesson.prose"
local quantities = require "roper.workbench.lesson.quantity"
local questions = require "roper.workbench.lesson.question"
local report = require "roper.identity.report"
local script = require "roper.text.script"
local sentences = require "roper.workbench.lesson.sentences"
local show = require "roper.workbench.lesson.show"
local slips = require "roper.workbench.lesson.slips"
local steps = require "roper.workbench.lesson.step"
local svg = require "roper.workbench.plot.svg"
local tables = require "roper.base.tables"
local h = markup.h

local M = {}

local MOST_LINES <const> = 16 -- of code on a slide, unless one definition is longer
local MOST_CHECKS <const> = 3

-- Text with its first part in emphasis, such as "Answer."
local function headed(head, text)
  local list = quantities.paragraphs(text)
  list[1].text = { document.styled("emphasis", head), " ", list[1].text }
  return list
end

-- Splits a list into runs whose sizes add up to at most `most`.
local function runs(list, most, size)
  local made, sum = {}, math.huge
  for _, entry in ipairs(list) do
    sum = sum + size(entry)
    if sum > most then
      made[#made + 1], sum = {}, size(entry)
    end
    table.insert(made[#made], entry)
  end
  return made
end

local function one()
  return 1
end

local function count_lines(text)
  return select(2, (text or ""):gsub("\n", "")) + (text and 1 or 0)
end

-- The slides of the text and the formula of a step. A short last part is with the formula.
local function of_text(step)
  local list = tables.map(sentences.parts(step.text), function(part)
    return { quantities.paragraphs(part.text), notes = quantities.paragraphs(part.whole) }
  end)
  if step.formula then
    table.insert(list[#list], document.formula(step.formula))
  end
  return list
end

-- The slides of a question: the question, with the start of the picture that answers it, if there
-- is one; and its answer.
local function of_question(question, head, start, scope)
  local asked = { show.question(question, head), show.form(question), start,
    class = start and "asks beside" or "asks",
    notes = { headed(show.ANSWER, questions.answer(question)), slips.document(question, scope) } }
  local answers = tables.map(sentences.parts(questions.answer(question)), function(part)
    return { headed(show.ANSWER, part.text), notes = slips.document(question, scope) }
  end)
  return asked, answers
end

-- The slides of the figures of a step: the picture, and the interactive figure. That takes its
-- place if scripts are enabled, unless it is to be beside it.
local function of_figure(figure, scope)
  local still = html.nodes(show.figure(figure, scope))
  if not figure.play then
    return { { still, class = "drawn",
      notes = document.paragraph(document.prose(figure.caption)) } }
  end
  local live = play.figure(figure.play, html.inline(quantities.marked(
    document.prose(figure.play.caption))), steps.data(figure, scope))
  local notes = { document.paragraph(document.prose(figure.caption)),
    document.paragraph(document.prose(figure.play.caption)) }
  return figure.play.beside and { { still, class = "drawn", notes = notes },
    { h.div {}, live, class = "drawn", notes = notes } }
    or { { still, live, class = "drawn", notes = notes } }
end

-- The slides of code with its output, and of claims.
local function of_code(step, result)
  local function size(piece)
    return count_lines(piece.source) + count_lines(piece.output)
  end
  local list = tables.map(runs(result.transcript, MOST_LINES, size), function(pieces)
    local lines = 0
    for _, piece in ipairs(pieces) do
      lines = lines + size(piece)
    end
    return { document.transcript(pieces), lines = lines }
  end)
  local last = list[#list]
  for i, claims in ipairs(runs(result.claims, MOST_CHECKS, one)) do
    local shown = tables.map(claims, function(claim)
      return document.claim(claim.holds, claim.text, "measured: " .. claim.value)
    end)
    if i == 1 and last and last.lines + 2 * #claims <= MOST_LINES then
      table.insert(last, shown)
    else
      list[#list + 1] = { shown }
    end
  end
  local python = step.python and escape.lines(steps.unindented(step.python)) or {}
  for _, lines in ipairs(runs(python, MOST_LINES, one)) do
    list[#list + 1] = { document.paragraph "In PyTorch:",
      document.listing(table.concat(lines, "\n")) }
  end
  return list
end

-- The slides of an identity: the equation that holds, and those that are refuted.
local function of_identity(identity)
  local equation, checks, wrong = table.unpack(report.document(identity))
  local list = { { equation, checks.summary, notes = checks.body } }
  for _, some in ipairs(runs(wrong, 2, one)) do
    list[#list + 1] = { some }
  end
  return list
end

-- The slides of a step. Their notes are those of the text, unless they have their own.
-- `is_talk`: without code and checks
local function slides_of(step, scope, is_talk)
  local result = steps.run(step, scope)
  local list, figures = of_text(step), step.figure and of_figure(step.figure, scope) or {}
  local function add(more)
    table.move(more, 1, #more, #list + 1, list)
  end
  for i, question in ipairs(step.predict or {}) do
    local is_last = i == #step.predict
    local asked, answers = of_question(question, show.PREDICT, is_last and step.figure
      and h.div { class = "start", ["data-waits"] = true,
        html.nodes(show.figure(step.figure, scope)) }, scope)
    add { asked }
    if is_last then
      add(figures)
      figures = {}
    end
    add(answers)
  end
  add(figures)
  add(is_talk and {} or of_code(step, result))
  add(not is_talk and result.identity and of_identity(result.identity) or {})
  for _, question in ipairs(step.exercise or {}) do
    local asked, answers = of_question(question, show.TRY, nil, scope)
    add { asked }
    add(answers)
  end
  return list
end

--- A slide.
---@param title table document
---@param body table document
---@param o {id: string?, class: string?, notes: table} of the slide
---@param address (fun(code: string): string?)? address of a lesson that code names
---@return any node
function M.slide(title, body, o, address)
  return h.section { id = o.id, class = o.class,
    h.div { class = "slide", html.nodes({ title, body }, address) },
    h.aside { class = "notes", ["aria-label"] = "Notes", html.nodes(o.notes, address) } }
end

-- The title of a slide of a step, and its number if there are several.
local function title_of(step, number, count)
  return document.heading({ document.prose(step.title), count > 1
    and document.styled("part", (" %d/%d"):format(number, count)) or "" }, 2)
end

--- The slides of a step, which is run.
---@param step table
---@param scope table the variables of the lesson
---@param o {id: string?, address: fun(code: string): string?, is_talk: boolean?} id: of the first;
---   is_talk: without code and checks
---@return any[] nodes
function M.of_step(step, scope, o)
  local list = slides_of(step, scope, o.is_talk)
  return tables.map(list, function(each, i)
    return M.slide(title_of(step, i, #list), tables.entries(each), { id = i == 1 and o.id,
      class = each.class, notes = each.notes or quantities.paragraphs(step.text) }, o.address)
  end)
end

--- A page of slides. With scripts, it shows one at a time: the arrow keys and Space change it, and
--- N shows the notes.
---@param title string
---@param all any[] from `slide` and `of_step`
---@param lessons table[] those with interactive figures on a slide
---@return string html
function M.deck(title, all, lessons)
  local kinds = {}
  for _, lesson in ipairs(lessons) do
    kinds = tables.joined(kinds, play.kinds(lesson))
  end
  local style, scripts = play.assets(tables.keys(tables.set(kinds)))
  return html.page(title, { h.main { all },
    h.nav { class = "number", ["aria-label"] = "slides" }, scripts,
    h.script { script.joined "workbench/lesson/slides.mjs" } },
    { style = { svg.style(), markup.asset "workbench/lesson/figure.css", style,
      markup.asset "workbench/lesson/slides.css" }, is_guarded = true })
end

--- The page of a lesson's slides.
---@param lesson table
---@param address fun(code: string): string? address of a lesson that code names
---@return string html
function M.page(lesson, address)
  local scope = steps.scope()
  local cover = M.slide(document.heading(document.prose(lesson.title)),
    document.paragraph(document.prose(lesson.after)), { class = "cover",
      notes = { show.goals(lesson), show.notation(lesson) } }, address)
  return M.deck(prose.line(lesson.title), { cover, tables.map(lesson.steps, function(step, number)
    return M.of_step(step, scope, { id = "step-" .. number, address = address })
  end) }, { lesson })
end

return M
