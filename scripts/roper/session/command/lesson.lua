--- `roper lesson`: list the lessons, go through one, check them, or write them as pages.
local arguments = require "roper.session.command.arguments"
local terminal = require "roper.base.terminal"

local function list(lessons)
  local rows = {}
  for i, lesson in ipairs(lessons) do
    rows[i] = { ("%2d"):format(i), lesson.name, lesson.title }
  end
  io.stdout:write(table.concat(require("roper.base.format.columns").lines(rows, 3), "\n"))
  io.stdout:write("\n\n./roper lesson ", lessons[1].name, " starts at the beginning.\n")
end

return {
  summary = "Learn the mathematics step by step; each line is checked as you go.",
  define = function(command)
    command:argument("name"):args("?"):description "A lesson; all of them are listed without one."
    command:argument("step"):args("?"):convert(arguments.count "step")
      :description "The step to begin with."
    command:mutex(
      command:flag("--check"):description "Check every claim of it, or of all, for a machine.",
      command:option("--html"):argname("DIR"):description "Write it, or all, as pages there.")
  end,
  run = function(parsed)
    local library = require "roper.lesson"
    local lessons
    if parsed.name then
      local ok, lesson = pcall(library.find, parsed.name)
      if not ok then
        return lesson
      end
      lessons = { lesson }
      if parsed.step and parsed.step > #lesson.steps then
        return ("%s has %d steps, no step %d"):format(lesson.name, #lesson.steps, parsed.step)
      end
    else
      lessons = library.all()
    end
    if parsed.check then
      if not require("roper.lesson.check").run(lessons) then
        error("lesson: a claim fails", 0)
      end
    elseif parsed.html then
      local index = require("roper.lesson.page").write(lessons, parsed.html)
      io.stdout:write("Begin with ", require("roper.base.printable").line(index), ".\n")
    elseif not parsed.name then
      list(lessons)
    elseif terminal.is_terminal(io.stdin) and terminal.is_terminal(io.stdout) then
      require("roper.session.tour").run(lessons[1], parsed.step)
    elseif not require("roper.lesson.show").all(lessons[1]) then
      error("lesson: a claim fails", 0)
    end
  end,
}
