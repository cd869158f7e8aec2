--- The page on which a student answers the questions of a class and saves the answers to a file.
--- It contains no answers, so it can be given out before the class; `grade` judges the files.
local bank = require "roper.workbench.lesson.class.bank"
local core = require "roper.core"
local html = require "roper.text.document.html"
local document = require "roper.text.document"
local h = require("roper.text.markup").h
local kit_page = require "roper.workbench.lesson.class.kit_page"
local markup = require "roper.text.markup"
local prose = require "roper.workbench.lesson.prose"
local questions = require "roper.workbench.lesson.question"
local quiz = require "roper.workbench.lesson.quiz"
local script = require "roper.text.script"
local tables = require "roper.base.tables"
local version = require "roper.base.version"

local M = {}

--- The name and the version of the format of files of answers.
M.FORMAT, M.VERSION = "roper answers", 1

local function text_of(question)
  return html.nodes(document.paragraph(document.prose(question.question)))
end

-- What a student uses to answer.
local function control(item)
  local question = item.question
  local label = "Answer to " .. item.label
  if question.kind == "choice" then
    return h.div { class = "choose", tables.map(question.choices, function(choice, i)
      return h.label { h.input { type = "radio", name = item.id, value = questions.letter(i) },
        h.span { questions.letter(i), ") ", html.inline(document.prose(choice)) } }
    end) }
  elseif question.form then
    return quiz.form(question)
  elseif question.kind == "number" then
    return h.input { type = "text", autocomplete = "off", spellcheck = "false",
      ["aria-label"] = label, placeholder = "0.5, 1/2 or cos(60°)" }
  end
  return h.textarea { rows = 3, ["aria-label"] = label }
end

local function asked(item)
  local question = item.question
  local is_number = question.kind == "number"
  return h.div { class = "ask", ["data-id"] = item.id,
    ["data-kind"] = question.form and "form" or question.kind,
    ["data-names"] = is_number and core.json_encode(item.numbers),
    ["data-wanted"] = is_number and questions.wanted(question),
    h.h3 { item.label, " ", prose.line(item.step.title) }, text_of(question), control(item),
    h.p { class = "said", role = "status" } }
end

-- Is a question in one of these parts? Takes its id.
local function membership(parts)
  local numbers = {}
  for _, part in ipairs(parts) do
    numbers[part.lesson.name] = part.steps and tables.set(part.steps)
  end
  return function(id)
    local name, number = id:match "^(.*) (%d+)%."
    return not numbers[name] or numbers[name][tonumber(number)] == true
  end
end

--- The page.
---@param parts LessonPart[] whose questions it has
---@return string html
function M.page(parts)
  local sections, prints, ids, current = {}, {}, {}, nil
  local lessons = tables.map(parts, function(part) return part.lesson end)
  bank.each(lessons, function(item)
    if current ~= item.lesson then
      current = item.lesson
      prints[current.name] = bank.fingerprint(current)
      sections[#sections + 1] = { title = prose.line(current.title), asked = {} }
    end
    table.insert(sections[#sections].asked, asked(item))
    ids[#ids + 1] = item.id
  end, membership(parts))
  local head = h.header { class = "bar", h.nav { ["aria-label"] = "Save", h.label { "Your name ",
    h.input { id = "name", type = "text", autocomplete = "name", maxlength = 80 } },
    h.span { class = "count", role = "status" }, h.button { type = "button", class = "main",
      id = "save", "Save my answers" } } }
  return kit_page.html("Answers", {
    h.noscript { h.p { "This page needs scripts. Without them, use the handout." } },
    h.p { "Answer what you can, in any order. Your browser keeps what you type. Then press "
      .. "“Save my answers”, and hand in the file. The page says how a number was read, but not "
      .. "whether it is right. ", h.label { class = "open",
        "To continue with a saved file, open it: ",
        h.input { type = "file", id = "open", accept = ".json" } } },
    h.p { id = "result", role = "status", ["data-kit"] = core.json_encode { format = M.FORMAT,
      version = M.VERSION, roper = version, lessons = prints,
      asked = core.json_array(ids) } },
    tables.map(sections, function(section)
      return { h.h2 { section.title }, section.asked }
    end) },
    { head = head, style = markup.asset "workbench/lesson/class/worksheet.css",
      script = h.script { script.joined "workbench/lesson/class/worksheet.mjs" } })
end

return M
