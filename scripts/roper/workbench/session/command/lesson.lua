--- `roper lesson`: lists the lessons, plays one, checks them, writes them as pages or as a kit for
--- a class, or grades the answers of a class.
require "roper" -- lessons use the public names
local arguments = require "roper.workbench.session.command.arguments"
local d = require "roper.text.document"
local eval = require "roper.text.eval"
local prose = require "roper.workbench.lesson.prose"
local render = require("roper.text.document.terminal").render
local tables = require "roper.base.tables"
local terminal = require "roper.text.terminal"

local PAGES <const> = { "html", "handout", "slides", "class" }

-- Lists of all lessons, by their name on the command line: the modules that make them.
local LISTS <const> = { sources = "sources", glossary = "terms" }

local function list(lessons)
  local record = require "roper.workbench.lesson.record"
  local entries, problem = record.load()
  local rows = {}
  for i, lesson in ipairs(lessons) do
    local entry = entries[record.key(lesson)]
    local done = entry and (entry.done and "done"
      or ("%d/%d"):format(math.min(entry.step, #lesson.steps), #lesson.steps)) or ""
    local demands = prose.demands(lesson):gsub("`", "")
    rows[#rows + 1] = { ("%2d"):format(i), lesson.name, lesson.title }
    rows[#rows + 1] = done .. demands ~= "" and { "", done, demands } or nil
  end
  io.stdout:write(render(d.table { rows = rows, sides = "l", indent = 0 }))
  io.stdout:write("\nTo begin with the first: ./roper lesson ", lessons[1].name, "\n")
  io.stdout:write([[
./roper lesson 5            a lesson by its number; it continues where you left off
./roper lesson 5 2          from step 2
./roper lesson FILE.lua     your own lesson
./roper lesson sources      the papers and programs that the lessons cite; --bibtex for BibTeX
./roper lesson glossary     what the words mean
./roper lesson --html DIR   pages for a browser; also --handout and --slides
./roper lesson --class DIR  all for a class of 90 minutes; --grade grades its answers
]])
  if problem then
    terminal.report("your progress cannot be shown", problem)
  end
end

-- Reads a lesson, FILE.lua or the name of a built-in one. For --check, returns {name, fault =
-- message} if it cannot be read.
local function read(library, name, is_check)
  local ok, lesson = pcall(name:find "%.lua$" and library.read or library.find, name)
  if not ok and (lesson == "interrupted" or not is_check) then
    error(lesson, 0)
  end
  return ok and lesson or { fault = lesson,
    name = (name:match "([^/]*)%.lua$" or name):gsub("_", "-") }
end

-- The chosen lessons and, for the user's own lesson, its file. Returns nil and a message if there
-- is no such lesson.
local function chosen(library, parsed)
  if not parsed.name then
    return tables.map(library.names(), function(name)
      return read(library, name, parsed.check)
    end)
  elseif parsed.name:find "%.lua$" then
    return { read(library, parsed.name, parsed.check) }, parsed.name
  end
  local ok, name = pcall(library.resolve, parsed.name)
  if ok then
    return { read(library, name, parsed.check) }
  end
  return nil, name
end

-- Calls a function that runs a lesson. Messages about its code get the file.
local function run_code(lesson, run, ...)
  local ok, result = eval.call(run, ...)
  if not ok then
    error(result.interrupted and "interrupted"
      or require("roper.workbench.lesson.step").located(lesson.path, result.message), 0)
  end
  return result
end

-- Prints a list of all lessons, such as their sources. Returns a message if a step or an option for
-- lessons is given.
local function print_list(library, parsed)
  for _, name in ipairs { "step", "check", "grade", table.unpack(PAGES) } do
    if parsed[name] then
      return parsed.name .. " is not a lesson and takes no step and no options for lessons"
    end
  end
  local made = require("roper.workbench.lesson." .. LISTS[parsed.name])
  io.stdout:write(parsed.bibtex and made.bibtex(library.all())
    or render(made.document(library.all())))
  return nil
end

-- Writes pages or a kit. Returns the path of its index.
local function write(lessons, folder, form)
  local writer = form == "class" and "roper.workbench.lesson.class" or "roper.workbench.lesson.page"
  return run_code(lessons[2] and {} or lessons[1], require(writer).write, lessons, folder, form)
end

local function grade(lessons, parsed)
  local grades = require "roper.workbench.lesson.class.grades"
  local found = require("roper.workbench.lesson.class.grade").folder(parsed.grade, lessons)
  io.stdout:write(parsed.csv and grades.csv(found) or render(grades.document(found)))
  if parsed.csv and #found.notes > 0 then
    io.stderr:write(render(grades.notes(found)))
  end
end

-- A message if options do not go together.
local function option_problem(parsed)
  if parsed.bibtex and parsed.name ~= "sources" then
    return "--bibtex prints sources: ./roper lesson sources --bibtex"
  elseif parsed.csv and not parsed.grade then
    return "--csv prints grades: ./roper lesson --grade DIR --csv"
  end
  local given
  for _, option in ipairs { "check", "grade", table.unpack(PAGES) } do
    if given and parsed[option] then
      return ("expected one of --%s and --%s, got both"):format(given, option)
    end
    given = parsed[option] and option or given
  end
end

-- A message if the given step cannot be used.
local function step_problem(parsed, lesson)
  for _, option in ipairs { "check", "grade", table.unpack(PAGES) } do
    if parsed[option] then
      return ("--%s takes whole lessons; leave out the step, %d"):format(option, parsed.step)
    end
  end
  return parsed.step > #lesson.steps and ("%s has %d steps, no step %d"):format(lesson.name,
    #lesson.steps, parsed.step) or nil
end

return {
  summary = "Learn the mathematics step by step; each claim is checked as you go.",
  define = function(command)
    command:argument("name"):args("?")
      :description("Name or number of a lesson, or FILE.lua, your own lesson; sources, the papers "
        .. "and programs that the lessons cite; or glossary. By default, all lessons are listed.")
    command:argument("step"):args("?"):convert(arguments.number("step", "size"))
      :description "Step to begin with, 1 to start over; by default where you left off."
    command:mutex(
      command:flag("--check"):description("Check every claim and question of a lesson, or of "
        .. "all; prints TAP."),
      command:option("--html"):argname("DIR"):description "Write a lesson, or all, as pages.",
      command:option("--handout"):argname("DIR")
        :description "Write pages for paper; the answers are in files apart.",
      command:option("--slides"):argname("DIR")
        :description "Write slides with notes, one idea each.")
    command:option("--class"):argname("DIR"):description("Write a kit for a class of 90 minutes, "
      .. "or for one lesson: plan, slides, handout, page for answers, all questions.")
    command:option("--grade"):argname("DIR"):description("Grade the files that the page for "
      .. "answers saved.")
    command:flag("--csv"):description "With --grade: print a table for a spreadsheet."
    command:flag("--bibtex"):description "With sources: print them, and roper, for BibTeX."
  end,
  run = function(parsed)
    local library = require "roper.workbench.lesson"
    local wrong = option_problem(parsed)
    if wrong then
      return wrong
    elseif LISTS[parsed.name] then
      return print_list(library, parsed)
    end
    local lessons, path = chosen(library, parsed)
    local problem = not lessons and path or parsed.step and step_problem(parsed, lessons[1])
    if problem then
      return problem
    end
    for _, form in ipairs(PAGES) do
      if parsed[form] then
        io.stdout:write("Wrote ", require("roper.base.escape").line(write(lessons, parsed[form],
          form)), "\n")
        return nil
      end
    end
    if parsed.grade then
      grade(lessons, parsed)
    elseif parsed.check then
      if not require("roper.workbench.lesson.check").run(lessons) then
        error("lesson: a check fails; see the lines with not ok", 0)
      end
    elseif not parsed.name then
      list(lessons)
    elseif terminal.is_terminal(io.stdin) and terminal.is_terminal(io.stdout) then
      require("roper.workbench.session.lesson_player").run(lessons[1], parsed.step, path)
    elseif not run_code(lessons[1], require("roper.workbench.lesson.show").all, lessons[1],
      parsed.step) then
      error("lesson: a claim fails", 0)
    end
  end,
}
