--- Commands of a session: `%time` and others with a %, `$ command` for the shell, `?name` for help,
--- and words such as `who`.
local clock = require "roper.system.clock"
local core = require "roper.core"
local environment = require "roper.system.environment"
local escape = require "roper.base.escape"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

local HELP <const> = [[
The value of a final expression or call is printed, unless a ; follows, and kept
in _; earlier values are in _1 and _2. Input may span lines; Ctrl-C cancels it.
  Tab             completes names, methods, options inside {, file names
  Ctrl-R          searches the input of this session and earlier ones
  ?roper.randn    shows the documentation, like roper.randn?; ??name the code
  apropos "mask"  searches the documentation
  ?pytorch        lists what to write instead of PyTorch
  ?notation       lists the letters of the lessons
  who             lists your variables
  %time f(x)      runs Lua and prints the time it took
  %bench f(x)     runs it many times and prints the median and the spread
  %prof f(x)      profiles it by function
  %run FILE       runs a script in this session
  %save FILE      writes the input that ran without an error to a script
  %hist           lists the input, with the numbers used in error messages
  %edit           edits the last input and runs it; %edit f edits a function
  %debug          shows the place of the last error; _ has the variables there
  %up, %down      move to the caller of that place and back
  %cd FOLDER      changes the folder
  $ ls or !ls     runs a shell command
  roper.debug(true)    prints full tracebacks; see also ?print_options
  Ctrl-C          interrupts the computation and keeps your variables
  Ctrl-D or exit  leaves
]]

-- Lines of HELP that only a terminal has.
local TERMINAL_ONLY <const> = { "  %%edit [^\n]*\n", "  %$ ls [^\n]*\n", "  Ctrl%-D [^\n]*\n" }

local MOST_FUNCTIONS <const> = 20 -- in a profile, to fit 24 lines

-- The % commands: functions of the session and of the text after the command.
local percent = {}

--- The % commands by name.
M.percent = percent

-- A duration with three digits, such as "1.20 ms".
local function duration(seconds)
  local number, unit = seconds * 1e6, "µs"
  if seconds >= 1 then
    number, unit = seconds, "s"
  elseif seconds >= 1e-3 then
    number, unit = seconds * 1e3, "ms"
  end
  local decimals = number < 10 and 2 or number < 100 and 1 or 0
  return ("%%.%df %%s"):format(decimals):format(number, unit)
end

-- The path in an argument, without quotes and with ~ expanded.
local function path_of(text, command)
  local path = text:match '^"(.*)"$' or text:match "^'(.*)'$" or text
  if path == "" then
    error(("%%%s: expected a path"):format(command), 0)
  end
  return (path:gsub("^~%f[/\0]", { ["~"] = environment.get "HOME" }))
end

function percent.time(session, source)
  local start = clock.seconds()
  if session:run(source) then
    io.stdout:write(duration(clock.seconds() - start), "\n")
  end
end

function percent.bench(session, source)
  local action = session:compile(source)
  if action then
    local found = require("roper.workbench.session.repl.benchmark").measure(action)
    io.stdout:write(("median %s, quartiles %s and %s (%d of %s, %s)\n"):format(
      duration(found.median), duration(found.low), duration(found.high), found.samples,
      escape.count(found.runs, "run"), escape.count(core.threads(), "thread")))
  end
end

function percent.prof(session, source)
  local action = session:compile(source)
  if not action then
    return
  end
  local times = require("roper.workbench.session.repl.profile").measure(action, function(f)
    session:attempt(f)
  end)
  local d = require "roper.text.document"
  local rows = tables.map(table.move(times, 1, MOST_FUNCTIONS, 1, {}), function(time)
    return { time.name, tostring(time.calls), duration(time.own), duration(time.total) }
  end)
  io.stdout:write(require("roper.text.document.terminal").render(d.table { rows = rows,
    head = { "function", "calls", "own", "total" }, shorten = { 1 }, indent = 0 }))
end

function percent.run(session, text)
  local path = path_of(text, "run")
  local action, message = loadfile(path, "t", session.globals)
  if not action then
    error(message, 0)
  end
  action()
  session:note(("dofile(%q)"):format(path))
end

function percent.save(session, text)
  local path = path_of(text, "save")
  if require("roper.system.file").stat(path) then
    error(("%%save: %s exists; choose another name"):format(path), 0)
  end
  local script = session:script()
  require("roper.system.file").write(path, script)
  io.stdout:write(escape.count(select(2, script:gsub("\n", "")), "line"), "\n")
end

function percent.cd(_, text)
  local ok, message = environment.change_folder(path_of(text == "" and "~" or text, "cd"))
  if not ok then
    error("%cd: " .. message, 0)
  end
  io.stdout:write(escape.line(environment.folder()), "\n")
end

function percent.hist(session)
  local lines = {}
  for number = 1, session.count do
    local margin = ("%3d  "):format(number)
    for _, line in ipairs(escape.lines(session:input(number))) do
      lines[#lines + 1] = margin .. escape.line(line) .. "\n"
      margin = (" "):rep(#margin)
    end
  end
  require("roper.workbench.help.pager").write(table.concat(lines))
end

-- IPython's names for these commands.
percent.timeit, percent.history = percent.bench, percent.hist

function percent.who(session)
  local who = require "roper.workbench.session.repl.who"
  io.stdout:write(who.text(who.variables(session.globals, session.known)))
end

local function shell(command)
  io.stdout:flush()
  local ok, how, number = require("roper.system.process").shell(command)
  if not ok then
    io.stderr:write(how == "exit" and "exit status " or "ended by signal ", number, "\n")
  end
end

function percent.ls(_, text)
  shell("ls " .. text)
end

function percent.pwd()
  io.stdout:write(escape.line(environment.folder()), "\n")
end

function percent.edit(session, text)
  require("roper.workbench.session.repl.edit").run(session, text)
end

-- %debug, %up and %down show the frames of the last error and the variables of one, which become
-- `_`: the innermost frame, or the one next to the last.
for name, step in pairs { debug = false, up = 1, down = -1 } do
  percent[name] = function(session)
    local failure = session.failure
    if not failure then
      error("%debug: there was no error in your code", 0)
    end
    local number = step and session.frame + step or 1
    local frame = failure.frames[number]
    if not frame or not frame.variables then
      error(("there is no frame %s this one"):format(step > 0 and "above" or "below"), 0)
    end
    session.frame = number
    local values = {}
    for _, variable in ipairs(frame.variables) do
      values[variable[1]] = variable[2]
    end
    local message = failure.message:gsub("^input %d+:%d+: ", "")
    io.stdout:write(step and "" or escape.text(message) .. "\n",
      require("roper.text.diagnostics").lines(failure, number):sub(2), "\n", frame.variables[1]
        and require("roper.workbench.session.repl.who").text(frame.variables)
        or "no local variables\n")
    session:keep(values)
  end
end

-- Commands that are a single word: functions of the session.
local words = {}

words.who = percent.who

function words.exit(session)
  session.is_over = true
end

words.quit = words.exit

function words.help()
  local text = HELP
  for _, line in ipairs(require("roper.system.process").starts_programs and {} or TERMINAL_ONLY) do
    text = text:gsub(line, "")
  end
  require("roper.workbench.help.pager").write(text)
end

local HELPERS <const> = { ["?"] = "show", ["??"] = "source" } -- functions of workbench/help

-- The command word of a line, alone or in a call such as `who()`. Nil if a global has this name,
-- except for the library's `help`, which has no effect unless it is called.
local function word_of(line, globals)
  local word = line:match "^%s*(%a+)%s*$"
  if word == "help" and rawget(globals, "help") == require("roper").help then
    return word
  end
  word = word or line:match "^%s*(%a+)%s*%(%s*%)%s*$"
  return rawget(globals, word) == nil and word or nil
end

-- Is it the name of a command that `?` lists?
local function is_command(name, globals)
  return percent[name:match "^%%(%a+)$"] ~= nil
    or words[name] ~= nil and rawget(globals, name) == nil
end

--- The help that a line such as "?x", "x??" or "?" requests.
---@param line string
---@param globals table
---@return (fun(session: table))? action nil if the line is no such request
function M.question(line, globals)
  local marks, asked = line:match "^%s*(%?%??)%s*([^%s%(%-]*)"
  if not marks then
    asked, marks = line:match "^%s*(%%?[%a_][%w_.:]*)%s*(%?%??)%s*$"
  end
  if not marks or marks == "" then
    return nil
  elseif asked == "" or is_command(asked, globals) then
    return words.help
  end
  return function(session)
    require("roper.workbench.help")[HELPERS[marks]](asked, session.globals)
  end
end

--- The command in a line.
---@param line string
---@param globals table
---@return (fun(session: table))? action nil if the line is Lua, or a global has the name of the
---   command
function M.find(line, globals)
  local word = words[word_of(line, globals)]
  if word then
    return word
  end
  local command = line:match "^%s*[$!]%s*(.*)$"
  if command then
    return function()
      shell(command)
    end
  end
  local question = M.question(line, globals)
  if question then
    return question
  end
  local name, rest = line:match "^%s*%%(%a*)%s*(.-)%s*$"
  if not name then
    return nil
  end
  return function(session)
    if percent[name] then
      return percent[name](session, rest)
    end
    error(("unknown command %%%s%s"):format(name, suggest.hint(name, tables.keys(percent))), 0)
  end
end

return M
