--- Writes the kit for a class: the plan, slides, a handout, the pages of its lessons, a page for
--- answers, and the table of all questions.
local deck = require "roper.workbench.lesson.class.deck"
local escape = require "roper.base.escape"
local files = require "roper.system.file"
local h = require("roper.text.markup").h
local handout = require "roper.workbench.lesson.handout"
local kit_page = require "roper.workbench.lesson.class.kit_page"
local library = require "roper.workbench.lesson"
local page = require "roper.workbench.lesson.page"
local paths = require "roper.workbench.lesson.path"
local plan = require "roper.workbench.lesson.class.plan"
local prose = require "roper.workbench.lesson.prose"
local questions = require "roper.workbench.lesson.class.table"
local tables = require "roper.base.tables"
local worksheet = require "roper.workbench.lesson.class.worksheet"

local M = {}

-- What is in the kit: a file, its title, and how to use it.
local CONTENTS <const> = {
  { "plan.html", "The plan", [[When what is done, the questions to put, what to leave out if it is
    late. Read it first, and print it.]] },
  { "slides.html", "Slides", [[One set, in the order of the plan. The arrow keys and Space change
    them, N shows the notes: what the class does, whole paragraphs, answers and the usual wrong
    ones. They are printed with their notes. Code and checks are on the pages of the lessons.]] },
  { "handout.html", "The handout", [[To print for each student: questions with room for answers,
    and figures to complete by hand.]] },
  { "handout-answers.html", "Its answers", [[For you: each answer with the usual wrong ones, the
    whole figures, and what the code prints.]] },
  { "lessons/index.html", "The lessons", [[For each student: pages whose figures move, and which
    reply to each answer. Give out the whole folder.]] },
  { "answers.html", "The page for answers", [[For each student: one file, which keeps what is typed
    and saves it to a file to hand in. It has the questions of the plan, without their answers.]] },
  { "questions.html", "All questions", [[With answers and the usual wrong ones. questions.csv is the
    same for a spreadsheet.]] },
}

-- The lessons of a plan, some steps each, as parts of a handout.
local function parts_of(rows, lessons)
  local parts = {}
  for i, name in ipairs(paths.lessons(rows)) do
    parts[i] = { lesson = lessons[name], steps = {} }
    for _, row in ipairs(rows) do
      if row[1] == name then
        table.move(row.steps, 1, #row.steps, #parts[i].steps + 1, parts[i].steps)
      end
    end
  end
  return parts
end

-- The lesson in the command that grades: the file of a lesson that is not built in.
local function argument(lesson)
  local is_own = lesson.path and not tables.set(library.names())[lesson.name]
  return is_own and escape.word(lesson.path:match "[^/]*$") .. " " or ""
end

local function index(title, chosen)
  return kit_page.html("A class: " .. title, {
    h.p { "Everything works from this folder, without a network and without a terminal. Only ",
      "grading uses roper." },
    h.table { h.tbody { tables.map(CONTENTS, function(row)
      return h.tr { h.th { scope = "row", h.a { href = row[1], row[2] } }, h.td { row[3] } }
    end) } },
    h.h2 { "Lessons" }, h.ul { tables.map(chosen, function(lesson)
      return h.li { h.a { href = ("lessons/%s.html"):format(lesson.name),
        prose.line(lesson.title) } }
    end) },
    h.h2 { "Grading" }, h.p { "Put the files that the students hand in into a folder, and run ",
      h.code { "./roper lesson ", argument(chosen[1]), "--grade FOLDER" },
      ". It prints a table of students and questions, ",
      "with totals and the usual wrong answers; with ", h.code { "--csv" }, ", for a spreadsheet. ",
      "The answers are judged by roper, not by what a file says about them." } },
    { is_index = true })
end

--- Writes the kit.
---
--- Errors: a file cannot be written; a lesson fails.
---@param lessons table[] one lesson, or all: then the class is `path.CLASS`, and the table has all
---   questions
---@param folder string created if it does not exist
---@return string index path of the index page
function M.write(lessons, folder)
  local by_name = {}
  for _, lesson in ipairs(lessons) do
    by_name[lesson.name] = lesson
  end
  local rows = lessons[2] and paths.numbered(paths.CLASS, by_name) or paths.of_lesson(lessons[1])
  local chosen = tables.map(paths.lessons(rows), function(name) return by_name[name] end)
  local title = lessons[2] and ("RoPE and RoPER in %d minutes"):format(paths.minutes(rows))
    or prose.line(lessons[1].title)
  local function write(name, text)
    files.write(("%s/%s"):format(folder, name), text)
  end
  files.make(folder)
  page.write(chosen, folder .. "/lessons")
  local parts = parts_of(rows, by_name)
  write("plan.html", plan.page(rows, by_name))
  write("slides.html", deck.page(title, rows, by_name))
  write("handout.html", handout.page(title, parts))
  write("handout-answers.html", handout.page(title, parts, true))
  write("answers.html", worksheet.page(parts))
  local table_page, csv = questions.make(lessons)
  write("questions.html", table_page)
  write("questions.csv", csv)
  write("index.html", index(title, chosen))
  return folder .. "/index.html"
end

return M
