--- `roper lesson`: list the lessons, go through one, check them, or write them as pages.
--- One is said by its name, its number in the list, or its file.
require "roper" -- lessons use the public names
local arguments = require "roper.workbench.session.command.arguments"
local prose = require "roper.workbench.lesson.prose"
local terminal = require "roper.base.terminal"

local PAGES <const> = { "html", "handout", "slides" }

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
  io.stdout:write(table.concat(require("roper.base.format.columns").lines(rows, 3), "\n"))
  io.stdout:write("\n\n./roper lesson ", lessons[1].name, " starts at the beginning.\n")
  io.stdout:write([[
./roper lesson 5            the number does for the name
./roper lesson 5 2          from its second step on; without one, from where you left
./roper lesson FILE.lua     one of your own
./roper lesson --html DIR   to read in a browser; --handout without answers, --slides to project
]])
  if problem then
    terminal.report("what is done cannot be told", problem)
  end
end

-- The lessons that are meant, and the file, where it is one's own; nil and what is wrong.
local function chosen(library, parsed)
  if not parsed.name then
    return library.all()
  elseif parsed.name:find "%.lua$" then
    return { library.read(parsed.name) }, parsed.name
  end
  local ok, lesson = pcall(library.find, parsed.name)
  if ok then
    return { lesson }
  end
  return nil, lesson
end

-- What is wrong with a step to begin with; nil where nothing is.
local function step_problem(parsed, lesson)
  for _, option in ipairs { "check", table.unpack(PAGES) } do
    if parsed[option] then
      return ("--%s takes whole lessons; leave out the step, %d"):format(option, parsed.step)
    end
  end
  return parsed.step > #lesson.steps and ("%s has %d steps, no step %d"):format(lesson.name,
    #lesson.steps, parsed.step) or nil
end

return {
  summary = "Learn the mathematics step by step; each line is checked as you go.",
  define = function(command)
    command:argument("name"):args("?")
      :description("A lesson: its name, its number in the list, or FILE.lua, one of your own. "
        .. "All of them are listed without one.")
    command:argument("step"):args("?"):convert(arguments.count "step")
      :description "The step to begin with: where you left by default, 1 to begin anew."
    command:mutex(
      command:flag("--check"):description("Check every claim and question of it, or of all, for "
        .. "a machine."),
      command:option("--html"):argname("DIR"):description "Write it, or all, as pages there.",
      command:option("--handout"):argname("DIR"):description "The same without answers.",
      command:option("--slides"):argname("DIR"):description "One step a page, to project.")
  end,
  run = function(parsed)
    local library = require "roper.workbench.lesson"
    local lessons, path = chosen(library, parsed)
    local problem = not lessons and path or parsed.step and step_problem(parsed, lessons[1])
    if problem then
      return problem
    end
    for _, form in ipairs(PAGES) do
      if parsed[form] then
        local index = require("roper.workbench.lesson.page").write(lessons, parsed[form], form)
        io.stdout:write("Begin with ", require("roper.base.escape").line(index), ".\n")
        return nil
      end
    end
    if parsed.check then
      if not require("roper.workbench.lesson.check").run(lessons) then
        error("lesson: a claim fails", 0)
      end
    elseif not parsed.name then
      list(lessons)
    elseif terminal.is_terminal(io.stdin) and terminal.is_terminal(io.stdout) then
      require("roper.workbench.session.lesson_player").run(lessons[1], parsed.step, path)
    elseif not require("roper.workbench.lesson.show").all(lessons[1], parsed.step) then
      error("lesson: a claim fails", 0)
    end
  end,
}
