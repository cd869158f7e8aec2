--- The table of questions, with their answers and the usual wrong ones: a page, and rows for a
--- spreadsheet.
local bank = require "roper.workbench.lesson.class.bank"
local csv = require "roper.text.csv"
local document = require "roper.text.document"
local html = require "roper.text.document.html"
local h = require("roper.text.markup").h
local kit_page = require "roper.workbench.lesson.class.kit_page"
local prose = require "roper.workbench.lesson.prose"
local questions = require "roper.workbench.lesson.question"
local show = require "roper.workbench.lesson.show"
local slips = require "roper.workbench.lesson.slips"
local tables = require "roper.base.tables"
local terminal = require "roper.text.document.terminal"

local M = {}

local COLUMNS <const> = { "question", "lesson", "step", "kind", "text", "choices", "answer",
  "explanation", "wrong answers", "otherwise" }

-- Prose of several paragraphs as one line.
local function flat(text)
  return prose.line((text:gsub("%s+", " ")))
end

-- What can be chosen, in one line.
local function choices_of(question)
  local list = tables.map(question.choices or {}, function(choice, i)
    return ("%s) %s"):format(questions.letter(i), flat(choice))
  end)
  for i = 1, question.form and #question.form or 0 do
    list[i] = i == 1 and question.form[1] or table.concat(question.form[i], " | ")
  end
  return table.concat(list, "; ")
end

-- A row of the spreadsheet.
local function row_of(item, scope)
  local found, otherwise = slips.of(item.question, scope)
  return { question = item.id, lesson = item.lesson.title, step = flat(item.step.title),
    kind = item.question.kind, text = flat(item.question.question),
    choices = choices_of(item.question), answer = flat(bank.brief(item)),
    explanation = flat(questions.answer(item.question)),
    ["wrong answers"] = table.concat(tables.map(found, function(slip)
      return ("%s: %s"):format(terminal.line(slip.answer), flat(slip.reply))
    end), " | "), otherwise = flat(table.concat(otherwise, " ")) }
end

local function cells(item, scope)
  return h.tr { id = item.id:gsub(" ", "-"), h.th { scope = "row", item.label },
    h.td { html.nodes { show.question(item.question), show.form(item.question) } },
    h.td { html.nodes { document.paragraph(document.prose(bank.brief(item))),
      show.answer(item.question) } },
    h.td { html.nodes(slips.list(item.question, scope) or {}) } }
end

--- The page and the file for spreadsheets.
---@param lessons table[]
---@return string html
---@return string text comma-separated values, in UTF-8 with a byte order mark, for Excel
function M.make(lessons)
  local sections, rows, current = {}, {}, nil
  bank.each(lessons, function(item, scope)
    if current ~= item.lesson then
      current = item.lesson
      sections[#sections + 1] = { title = prose.line(item.lesson.title), rows = {} }
    end
    table.insert(sections[#sections].rows, cells(item, scope))
    rows[#rows + 1] = row_of(item, scope)
  end)
  local page = kit_page.html("Questions and answers", {
    h.p { ("%d questions. Each has a number: the step of its lesson and its place there. "):format(
      #rows), "The answers were computed when this page was made. The same table for a spreadsheet "
      .. "is ", h.a { href = "questions.csv", "questions.csv" }, "." },
    tables.map(sections, function(section)
      return { h.h2 { section.title }, h.table { class = "questions", h.thead { h.tr {
        h.th { scope = "col", "" }, h.th { scope = "col", "Question" },
        h.th { scope = "col", "Answer" }, h.th { scope = "col", "If it is wrong" } } },
        h.tbody { section.rows } } }
    end) }, { is_wide = true })
  return page, "\u{FEFF}" .. csv.encode(COLUMNS, rows)
end

return M
