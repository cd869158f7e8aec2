-- luacheck: globals arg
-- Runs once at the start of the engine. Returns the function that answers a request, a line of
-- JSON: {"execute": code}, {"is_complete": code}, {"complete": text}, {"inspect": text} for the
-- session, {"lesson": request} of `lesson/live.lua`, {"race": options}, {"run": arguments} for a
-- command line, {"script": [path, argument ...]} for a Lua file.
local host = require "host"

package.path = "/roper/?.lua;/roper/scripts/?.lua;/roper/scripts/?/init.lua;"
  .. "/lua/?.lua;/lua/?/init.lua"
package.cpath = ""
arg = { [0] = "/roper/roper" }
io.stdout:setvbuf "line"
io.stderr:setvbuf "no"

local core = require "roper.core"
require("roper.system.environment").change_folder "/home"
require "roper.system.process" -- replaces os.execute and io.popen
core.interrupt_enable()

local function send(message)
  io.stdout:flush()
  host.send(core.json_encode(message))
end

require("roper.text.progress").on_screen = function(lines)
  send { kind = "progress", lines = core.json_array(lines) }
end

local current -- the session, made at its first request

local function session()
  if not current then
    require("roper.workbench.session.repl.globals").define(_G)
    current = require("roper.workbench.session.answers").session(_G, send)
  end
  return current
end

local requests = {}

local command -- the coroutine of a command line

-- Ends a command, as the parser of its arguments does after --help.
rawset(os, "exit", function(status)
  if coroutine.running() ~= command then
    error("a page has no program that os.exit could end", 2)
  end
  coroutine.yield(status == false and 1 or math.tointeger(status) or 0)
end)

function requests.run(arguments)
  arguments[0], arg = arg[0], arguments
  local main = require("roper.workbench.session.cli").main
  local ok, result = require("roper.text.eval").call(function()
    command = coroutine.create(main)
    local ok, status = coroutine.resume(command, arguments)
    coroutine.close(command)
    return ok and status or error(status, 0)
  end)
  return { status = ok and result or nil, error = not ok and result.message or nil }
end

function requests.lesson(request)
  return require("roper.workbench.lesson.live").answer(session().globals, request)
end

function requests.script(words)
  local ok, problem = xpcall(function()
    assert(loadfile(words[1]))(table.unpack(words, 2))
  end, debug.traceback)
  return { error = not ok and problem or nil }
end

-- A race, whose messages go to the page. Its figures are those of the session.
function requests.race(options)
  session()
  local ok, failure = require("roper.text.eval").call(require("web.race").run, options, send)
  return { error = not ok and failure.message or nil }
end

return function(line)
  core.interrupt_clear() -- pressed while no request was running
  for kind, value in pairs(assert(core.json_decode(line))) do
    local reply = requests[kind] and requests[kind](value)
      or require("roper.workbench.session.answers").answer(session(), kind, value)
    core.interrupt_clear() -- pressed too late
    send { reply = reply }
  end
end
