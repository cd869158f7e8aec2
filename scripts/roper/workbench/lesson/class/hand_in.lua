--- Reads the files of answers in a folder. Each file that cannot be used gets a message, and the
--- others are read all the same. Nothing in a file is run.
local escape = require "roper.base.escape"
local files = require "roper.system.file"
local tables = require "roper.base.tables"
local text = require "roper.text.width"
local worksheet = require "roper.workbench.lesson.class.worksheet"

local M = {}

local MOST_BYTES <const> = 1000000 -- of a file; pages save a few kilobytes
local MOST_ANSWER <const> = 2000 -- bytes of an answer that is text
local MOST_NAME <const> = 40 -- columns of a student's name

local function at_most(value, limit)
  return type(value) == "string" and #value <= limit and utf8.len(value) ~= nil
end

-- The answers that have the form of answers: text, or the numbers of choices.
local function usable(answers)
  local kept, count = {}, 0
  for id, answer in pairs(answers) do
    local is_list = type(answer) == "table" and #answer > 0 and #answer < 10
    if type(id) == "string" and (at_most(answer, MOST_ANSWER) or is_list) then
      kept[id] = answer
    else
      count = count + 1
    end
  end
  return kept, count
end

-- The content of a file, or nil and what is wrong with it.
local function content_of(path)
  local stat = files.stat(path)
  if stat and stat.type ~= "file" then
    return nil, ("expected a file, got a %s; left out"):format(stat.type)
  elseif stat and stat.size > MOST_BYTES then
    return nil, ("expected at most 1 MB, got %.1f MB"):format(stat.size / 1e6)
  end
  local bytes, problem = files.peek(path)
  if not bytes then
    return nil, problem or "it is gone"
  elseif not bytes:find "%S" then
    return nil, "the file is empty"
  end
  local ok, found = pcall(files.parse, bytes)
  if not ok or not found then
    return nil, "expected JSON, as the page for answers saves it; the file is damaged or another"
  elseif found.format ~= worksheet.FORMAT then
    return nil, "expected a file that the page for answers saved, got another JSON file"
  elseif found.version ~= worksheet.VERSION then
    return nil, ("expected version %d of the format, got %s; write the kit again, or use the roper "
      .. "that wrote it"):format(worksheet.VERSION, tostring(found.version):sub(1, 20))
  elseif type(found.answers) ~= "table" or type(found.lessons) ~= "table" then
    return nil, "expected answers and lessons, got a file without them"
  end
  return found, nil, bytes
end

-- A name on one line, not too long, without invisible characters.
local function clean(name)
  return text.cut(escape.line((name:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", ""))), MOST_NAME)
end

---@class HandIn
---@field file string
---@field student string
---@field saved string when, by the file; "" if it does not say
---@field lessons table<string, string> fingerprints
---@field asked string[]? the ids of the questions on the page; all of the lessons if nil
---@field answers table<string, any>

-- Of the files of one student, the one that was saved last counts.
local function latest(list, note)
  local by_name, kept = {}, {}
  for _, one in ipairs(list) do
    local name = one.student:lower()
    local other = by_name[name] and kept[by_name[name]]
    if not other then
      kept[#kept + 1], by_name[name] = one, #kept + 1
    elseif other.bytes == one.bytes then
      note(one.file, ("the same as %s; left out"):format(other.file))
    else
      local is_newer = one.saved > other.saved
      local old, new = is_newer and other or one, is_newer and one or other
      note(old.file, ("%s also handed in %s, which was saved %s; left out. If they are two "
        .. "students, change one name"):format(old.student, new.file,
        new.saved > old.saved and "later" or "at the same time"))
      kept[by_name[name]] = new
    end
  end
  return kept
end

--- Reads all files of answers in a folder.
---
--- Errors: there is no folder.
---@param folder string
---@return HandIn[] list one for each student, sorted by name
---@return {file: string, message: string}[] notes about files that were left out, or in part
function M.read(folder)
  local list, notes = {}, {}
  local function note(file, message)
    notes[#notes + 1] = { file = file, message = message }
  end
  files.check_folder("lesson", folder)
  for _, name in ipairs(files.names(folder)) do
    local shown = escape.line(name)
    local found, problem, bytes
    if name:find "%.json$" then
      local ok
      ok, found, problem, bytes = pcall(content_of, folder .. "/" .. name)
      if not ok then
        found, problem = nil, found
      end
    elseif not name:find "^%." then
      problem = "expected a name that ends in .json; left out"
    end
    if problem then
      note(shown, escape.line(problem))
    elseif found then
      local has_name = at_most(found.student, MOST_BYTES) and found.student:find "%S"
      local answers, dropped = usable(found.answers)
      if not has_name then
        note(shown, "it has no name of a student; the name of the file is used")
      end
      if dropped > 0 then
        note(shown, ("%s in a form that no page saves; left out"):format(
          escape.count(dropped, "answer")))
      end
      list[#list + 1] = { file = shown, bytes = bytes, answers = answers,
        student = clean(has_name and found.student or name:gsub("%.json$", "")),
        saved = at_most(found.saved, 40) and found.saved or "",
        lessons = tables.merged(found.lessons),
        asked = type(found.asked) == "table" and found.asked or nil }
    end
  end
  local kept = latest(list, note)
  table.sort(kept, function(a, b)
    return a.student < b.student or a.student == b.student and a.file < b.file
  end)
  return kept, notes
end

return M
