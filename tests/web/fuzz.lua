-- Runs tests/fuzz/child.lua in a page: KIND SEED COUNT. Its lines are cells of the page's session.
local answers = require "roper.workbench.session.answers"
local core = require "roper.core"
local session = require "roper.workbench.session.repl.session"

local function send(message)
  require("host").send(core.json_encode(message))
end

local new = session.new
function session.new(globals)
  session.new = new
  return answers.session(globals, send)
end
require("roper.system.process").has = function() return false end
rawset(os, "exit", function() end)
rawset(_G, "arg", { [0] = "/roper/tests/fuzz/child.lua", ... })
dofile(arg[0])
