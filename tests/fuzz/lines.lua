-- Random lines of a session.

local core = require("roper.core")
local grammar = require("tests.fuzz.grammar")
local session = require("roper.workbench.session.repl.session")

local M = {}

local FRESH <const> = 50 -- lines after which all names are set to their initial values

require("roper.workbench.help").name_in_failures()
local globals = setmetatable({}, { __index = _G })
globals.os, globals.io, globals.print = false, false, function() end
local current = session.new(globals)

function M.next(number)
  if number % FRESH == 1 then
    current:feed(grammar.SETUP)
  end
  local line = grammar.line()
  return line, function()
    if current:feed(line) then
      current:feed(")]}")
    end
  end
end

core.interrupt_enable()
return M
