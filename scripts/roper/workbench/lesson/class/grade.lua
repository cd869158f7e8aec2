--- Judges the answers that students handed in. A number must be an expression of numbers, and a
--- line of Lua a way to fill its form, so nothing that a student wrote is run.
local bank = require "roper.workbench.lesson.class.bank"
local escape = require "roper.base.escape"
local eval = require "roper.text.eval"
local expression = require "roper.workbench.lesson.expression"
local forms = require "roper.workbench.lesson.form"
local hand_in = require "roper.workbench.lesson.class.hand_in"
local prose = require "roper.workbench.lesson.prose"
local questions = require "roper.workbench.lesson.question"
local readings = require "roper.workbench.lesson.reading"
local tables = require "roper.base.tables"
local width = require "roper.text.width"

local M = {}

local MOST <const> = 200 -- bytes of an answer that is a number

---@class Mark
---@field kind "right"|"wrong"|"unread"|"open" unread: not an answer to such a question; open: to be
---   read by the teacher
---@field shown string the answer
---@field hint? string prose: the reply to a wrong answer

local judge = {}

function judge.number(item, answer, scope)
  if type(answer) ~= "string" or #answer > MOST then
    return { kind = "unread" }
  end
  local function is_known(name)
    return item.numbers[name] ~= nil
  end
  for _, source in ipairs(readings.of(answer, is_known)) do
    if not expression.is_plain(source, item.numbers) then
      return { kind = "unread" }
    end
  end
  local names = tables.merged(item.numbers, { math = math })
  return questions.judge(item.question, answer, names, item.expected, scope)
end

function judge.choice(item, answer, scope)
  if type(answer) ~= "string" or not answer:find "^%a$" then
    return { kind = "unread" }
  end
  return questions.judge(item.question, answer, scope, item.expected)
end

function judge.line(item, answer, scope)
  local form = item.question.form
  local line = form and forms.chosen(form, answer)
  if not form then
    return { kind = "open" }
  elseif not line then
    return { kind = "unread" }
  end
  item.verdicts = item.verdicts or questions.of_form(item.question, scope)
  for i, one in ipairs(forms.lines(form)) do
    if one == line then
      return tables.merged(item.verdicts[i], { shown = line })
    end
  end
end

function judge.open()
  return { kind = "open" }
end

-- The mark of an answer.
local function mark_of(item, answer, scope)
  local ok, found = eval.call(judge[item.question.kind], item, answer, scope)
  if not ok and found.interrupted then
    error("interrupted", 0)
  end
  local verdict = ok and found or { kind = "unread" }
  local kind = (verdict.kind == "right" or verdict.kind == "wrong" or verdict.kind == "open")
    and verdict.kind or "unread"
  local text = verdict.shown or type(answer) == "string" and answer or "a list"
  if item.question.kind == "choice" and kind == "wrong" then
    text = ("%s) %s"):format(answer, prose.line(item.question.choices[verdict.it]))
  end
  text = escape.line((text:gsub("%s+", " ")))
  return { kind = kind, shown = kind == "unread" and width.cut(text, 40) or text,
    hint = kind == "wrong" and (verdict.hint or item.question.further[1]) or nil }
end

-- The lessons that files have answers to, without those whose questions have changed. Adds notes.
local function lessons_of(handed, lessons, notes)
  local by_name, prints = {}, {}
  for _, lesson in ipairs(lessons) do
    by_name[lesson.name], prints[lesson.name] = lesson, bank.fingerprint(lesson)
  end
  local has = {}
  for _, one in ipairs(handed) do
    local changed, unknown = {}, {}
    for _, name in ipairs(tables.keys(one.lessons)) do
      local is_same = one.lessons[name] == prints[name]
      local list = by_name[name] and changed or unknown
      list[#list + 1] = not is_same and escape.line(tostring(name)):sub(1, 40) or nil
      has[name] = has[name] or is_same
      one.lessons[name] = is_same and prints[name] or nil
    end
    for _, list in ipairs { changed, unknown } do
      if list[1] then
        notes[#notes + 1] = { file = one.file, message = ("%s %s; %s"):format(list == changed
          and "the questions have changed in" or "there is no lesson", table.concat(list, ", ", 1,
          math.min(#list, 3)) .. (#list > 3 and ", ..." or ""), list == changed
          and "write the kit again; these answers are left out"
          or "its answers are left out. For a lesson of your own, also give its FILE.lua") }
      end
    end
  end
  local chosen = {}
  for _, lesson in ipairs(lessons) do
    chosen[#chosen + 1] = has[lesson.name] and lesson or nil
  end
  return chosen
end

-- Was a question on the page of a student? Takes its id.
local function asked_by(students)
  local all, is_any = {}, false
  for _, one in ipairs(students) do
    is_any = is_any or not one.asked
    for _, id in ipairs(one.asked or {}) do
      all[id] = true
    end
  end
  return function(id)
    return is_any or all[id] == true
  end
end

-- The name of the lesson in the id of a question.
local function lesson_in(id)
  return id:match "^(.*) %d+%.%d+$"
end

---@class Grades
---@field students HandIn[] each with its `marks`, Mark by the id of a question, and `right`
---@field items BankItem[] the questions, in order
---@field notes {file: string, message: string}[]

--- Grades the files in a folder.
---
--- Errors: there is no folder; none of its files can be graded. The message lists why.
---@param folder string
---@param lessons table[]
---@return Grades
function M.folder(folder, lessons)
  local handed, notes = hand_in.read(folder)
  local chosen = lessons_of(handed, lessons, notes)
  local students, items, ids = {}, {}, {}
  for _, one in ipairs(handed) do
    one.marks, one.right = {}, 0
    students[#students + 1] = next(one.lessons) and one or nil
  end
  bank.each(chosen, function(item, scope)
    items[#items + 1], ids[item.id] = item, true
    for _, one in ipairs(students) do
      local answer = one.lessons[item.lesson.name] and one.answers[item.id]
      local mark = answer and mark_of(item, answer, scope) or nil
      one.marks[item.id] = mark
      one.right = one.right + (mark and mark.kind == "right" and 1 or 0)
    end
  end, asked_by(students))
  for _, one in ipairs(students) do
    local count = 0
    for id in pairs(one.answers) do
      count = count + (one.lessons[lesson_in(id)] and not ids[id] and 1 or 0)
    end
    notes[#notes + 1] = count > 0 and { file = one.file, message = ("%s to no question; left out")
      :format(escape.count(count, "answer")) } or nil
  end
  if #students == 0 then
    local lines = { ("no answers to grade in %s; expected files that the page for answers of a kit "
      .. "saved (roper lesson --class FOLDER)"):format(escape.line(folder)) }
    for i, note in ipairs(notes) do
      lines[#lines + 1] = i <= 10 and ("  %s: %s"):format(note.file, note.message) or nil
    end
    error(table.concat(lines, "\n"), 0)
  end
  return { students = students, items = items, notes = notes }
end

return M
