--- The % commands: functions of the session and of the text after the command.
local escape = require "roper.base.escape"
local tables = require "roper.base.tables"

local M = {}

local MOST_FUNCTIONS <const> = 20 -- in a profile, to fit 24 lines

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
  return (path:gsub("^~%f[/\0]", { ["~"] = os.getenv "HOME" }))
end

function M.time(session, source)
  local luv = require "luv"
  local start = luv.hrtime()
  if session:run(source) then
    io.stdout:write(duration((luv.hrtime() - start) / 1e9), "\n")
  end
end

function M.bench(session, source)
  local action = session:compile(source)
  if action then
    local found = require("roper.workbench.session.repl.benchmark").measure(action)
    io.stdout:write(("%s, half of the samples from %s to %s (%d of %d %s)\n"):format(
      duration(found.median), duration(found.low), duration(found.high), found.samples, found.runs,
      found.runs == 1 and "run" or "runs"))
  end
end

function M.prof(session, source)
  local action = session:compile(source)
  if not action then
    return
  end
  local times = require("roper.workbench.session.repl.profile").measure(action, function(f)
    session:attempt(f)
  end)
  local d = require "roper.base.document"
  local rows = tables.map(table.move(times, 1, MOST_FUNCTIONS, 1, {}), function(time)
    return { time.name, tostring(time.calls), duration(time.own), duration(time.total) }
  end)
  io.stdout:write(require("roper.base.document.terminal").render(d.table { rows = rows,
    head = { "function", "calls", "own", "total" }, shorten = { 1 }, indent = 0 }))
end

function M.run(session, text)
  local path = path_of(text, "run")
  local action, message = loadfile(path, "t", session.globals)
  if not action then
    error(message, 0)
  end
  action()
  session:note(("dofile(%q)"):format(path))
end

function M.save(session, text)
  local path = path_of(text, "save")
  if require("roper.base.file").stat(path) then
    error(("%%save: %s exists; choose another name"):format(path), 0)
  end
  local script = session:script()
  require("roper.base.file").write(path, script)
  io.stdout:write(escape.count(select(2, script:gsub("\n", "")), "line"), "\n")
end

function M.cd(_, text)
  local luv = require "luv"
  local ok, message = luv.chdir(path_of(text == "" and "~" or text, "cd"))
  if not ok then
    error("%cd: " .. message, 0)
  end
  io.stdout:write(escape.line(luv.cwd()), "\n")
end

function M.hist(session)
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
M.timeit, M.history = M.bench, M.hist

function M.who(session)
  local who = require "roper.workbench.session.repl.who"
  io.stdout:write(who.text(who.variables(session.globals, session.known)))
end

function M.ls(_, text)
  require("roper.workbench.session.repl.shell").run("ls " .. text)
end

function M.pwd()
  io.stdout:write(escape.line(require("luv").cwd()), "\n")
end

function M.edit(session, text)
  require("roper.workbench.session.repl.edit").run(session, text)
end

for name, step in pairs { debug = false, up = 1, down = -1 } do
  M[name] = function(session)
    require("roper.workbench.session.repl.frames").show(session, step or nil)
  end
end

return M
