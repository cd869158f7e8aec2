-- luacheck: globals arg
-- Runs once at the start of the engine. Returns the function that answers a request, a line of
-- JSON: {"execute": code}, {"complete": text}, {"inspect": text} for the session,
-- {"run": arguments} for a command line, {"script": path} for a Lua file.
local host = require "host"

package.path = "/roper/scripts/?.lua;/roper/scripts/?/init.lua;/lua/?.lua;/lua/?/init.lua"
package.cpath = ""
arg = { [0] = "/roper/roper" }
io.stdout:setvbuf "line"
io.stderr:setvbuf "no"

local core = require "roper.core"
require("roper.system.environment").change_folder "/home"
core.interrupt_enable()

local function send(message)
  io.stdout:flush()
  host.send(core.json_encode(message))
end

local current -- the session, made at its first request

local function session()
  if not current then
    _G.roper = require "roper"
    current = require("roper.workbench.session.answers").session(_G, send)
  end
  return current
end

-- The reply of a function that returns an exit status.
local function status_of(f, ...)
  local ok, failure = require("roper.text.eval").call(f, ...)
  return { error = not ok and failure.message or nil }
end

local requests = {}

function requests.run(arguments)
  arguments[0], arg = arg[0], arguments
  local status
  local reply = status_of(function()
    status = require("roper.workbench.session.cli").main(arguments)
  end)
  reply.status = status
  return reply
end

function requests.script(path)
  return status_of(dofile, path)
end

return function(line)
  for kind, value in pairs(assert(core.json_decode(line))) do
    local reply = requests[kind] and requests[kind](value)
      or require("roper.workbench.session.answers").answer(session(), kind, value)
    send { reply = reply }
  end
end
