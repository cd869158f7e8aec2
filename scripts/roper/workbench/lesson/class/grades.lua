--- Grades as a document and as comma-separated values.
local bank = require "roper.workbench.lesson.class.bank"
local csv = require "roper.text.csv"
local document = require "roper.text.document"
local prose = require "roper.workbench.lesson.prose"
local tables = require "roper.base.tables"

local M = {}

local SIGNS <const> = { right = "✓", wrong = "✗", unread = "?", open = "…" }
local BLANK <const> = "·"
local MOST <const> = 3 -- usual wrong answers that are listed of a question

-- Can the question be right or wrong?
local function is_graded(item)
  local question = item.question
  return question.kind ~= "open" and (question.kind ~= "line" or question.form ~= nil)
end

-- The questions of each lesson: {lesson, items}.
local function by_lesson(items)
  local list = {}
  for _, item in ipairs(items) do
    if not list[1] or list[#list].lesson ~= item.lesson then
      list[#list + 1] = { lesson = item.lesson, items = {} }
    end
    table.insert(list[#list].items, item)
  end
  return list
end

local function count(list, of)
  local sum = 0
  for _, one in ipairs(list) do
    sum = sum + (of(one) and 1 or 0)
  end
  return sum
end

local function has(kind, student, item)
  return student.marks[item.id] ~= nil and student.marks[item.id].kind == kind
end

-- The marks of each student in one lesson.
local function lesson_table(students, part)
  local rows = tables.map(students, function(student)
    return tables.joined({ document.styled("name", student.student) }, tables.map(part.items,
      function(item)
        local mark = student.marks[item.id]
        return mark and SIGNS[mark.kind] or BLANK
      end), { count(part.items, function(item) return has("right", student, item) end) })
  end)
  rows[#rows + 1] = tables.joined({ document.styled("dim", "right") }, tables.map(part.items,
    function(item)
      return is_graded(item) and count(students, function(student)
        return has("right", student, item)
      end) or ""
    end))
  return document.table { head = tables.joined({ "" }, tables.map(part.items, function(item)
    return item.label
  end), { "right" }), rows = rows, sides = "lc", shorten = { 1 } }
end

-- The wrong answers to a question, the most frequent first: {shown, count, hint}.
local function wrong_of(students, item)
  local list, places = {}, {}
  for _, student in ipairs(students) do
    local mark = student.marks[item.id]
    if mark and mark.kind == "wrong" then
      local place = places[mark.shown] or #list + 1
      places[mark.shown] = place
      list[place] = list[place] or { shown = mark.shown, count = 0, hint = mark.hint }
      list[place].count = list[place].count + 1
    end
  end
  table.sort(list, function(a, b)
    return a.count > b.count or a.count == b.count and a.shown < b.shown
  end)
  return list
end

-- The usual wrong answers to the questions of a lesson.
local function wrong_list(students, part)
  local items = {}
  for _, item in ipairs(part.items) do
    local found = wrong_of(students, item)
    for i = 1, math.min(MOST, #found) do
      local wrong = found[i]
      items[#items + 1] = { document.styled("strong", item.label), (" %d × "):format(wrong.count),
        document.styled("name", wrong.shown), " instead of ",
        document.prose(bank.brief(item)), ". ", document.prose((wrong.hint:gsub("%s+", " "))) }
    end
  end
  return items[1] ~= nil and { document.paragraph "The usual wrong answers:", document.list(items) }
end

-- What students wrote that only a teacher can judge, or that is no answer.
local function to_read(grades)
  local items = {}
  for _, item in ipairs(grades.items) do
    for _, student in ipairs(grades.students) do
      local mark = student.marks[item.id]
      if mark and (mark.kind == "open" or mark.kind == "unread") then
        items[#items + 1] = { document.styled("strong", item.id), " ",
          document.styled("name", student.student), ": ", document.styled("name", mark.shown),
          mark.kind == "unread" and " (not an answer to such a question)" or "" }
      end
    end
  end
  return items[1] ~= nil and { document.heading("To read yourself", 2), document.list(items) }
end

--- Grades as a document.
---@param grades Grades
---@return any tree
function M.document(grades)
  local parts, students = by_lesson(grades.items), grades.students
  local total = count(grades.items, is_graded)
  local totals = tables.map(students, function(student)
    return tables.joined({ document.styled("name", student.student) }, tables.map(parts,
      function(part)
        return ("%d/%d"):format(count(part.items, function(item)
          return has("right", student, item)
        end), count(part.items, is_graded))
      end), { ("%d/%d"):format(student.right, total) })
  end)
  return { document.heading(("Answers of %d %s"):format(#students,
      #students == 1 and "student" or "students")),
    document.table { head = tables.joined({ "right" }, tables.map(parts, function(part)
      return part.lesson.name
    end), { "all" }), rows = totals, shorten = { 1 } },
    tables.map(parts, function(part)
      return { document.heading(prose.line(part.lesson.title), 2), lesson_table(students, part),
        wrong_list(students, part) }
    end),
    document.paragraph(document.styled("dim",
      "✓ right, ✗ wrong, · no answer, ? not such an answer, … to read yourself")),
    to_read(grades), M.notes(grades) }
end

--- What happened to files.
---@param grades Grades
---@return table|false blocks
function M.notes(grades)
  return grades.notes[1] ~= nil and { document.heading("Files", 2), document.list(tables.map(
    grades.notes, function(note)
      return { document.styled("name", note.file), ": ", document.styled("name", note.message) }
    end)) }
end

--- Grades for a spreadsheet: a row for each student; for each question 1 if it is right, 0 if it is
--- wrong or no answer to such a question, and nothing without an answer.
---@param grades Grades
---@return string text
function M.csv(grades)
  local graded = {}
  for _, item in ipairs(grades.items) do
    graded[#graded + 1] = is_graded(item) and item or nil
  end
  local rows = tables.map(grades.students, function(student)
    local row = { student = student.student, file = student.file, right = student.right,
      of = #graded }
    for _, item in ipairs(graded) do
      local mark = student.marks[item.id]
      row[item.id] = mark and (mark.kind == "right" and 1 or 0) or nil
    end
    return row
  end)
  return "\u{FEFF}" .. csv.encode(tables.joined({ "student", "file" }, tables.map(graded,
    function(item) return item.id end), { "right", "of" }), rows)
end

return M
