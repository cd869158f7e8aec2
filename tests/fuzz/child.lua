-- Runs random lines in a session: lua5.4 tests/fuzz/child.lua SEED COUNT [ONE]
-- Prints the number and the text of each line before it is run, and "done" at the end. With ONE, it
-- stops after the line of that number and prints its output. As in a session, and unlike in a
-- script run by ./roper, Ctrl-C between two lines has no effect.

local seed, count, one = math.tointeger(arg[1]), math.tointeger(arg[2]), math.tointeger(arg[3])
local out = io.stdout
local FRESH <const> = 50 -- lines after which all names are set to their initial values

local root = arg[0]:match("^(.*)tests/fuzz/")
package.path = ("%s?.lua;%sscripts/?.lua;%sscripts/?/init.lua"):format(root, root, root)
package.cpath = root .. "build/?.so;" .. package.cpath
local core = require("roper.core")
local grammar = require("tests.fuzz.grammar")
local session = require("roper.workbench.session.repl.session")
core.memory_limit(128 << 20)
core.interrupt_enable()

local quiet = { flush = function() end, setvbuf = function() end }
function quiet.write(self)
  return self
end
rawset(io, "stdout", quiet)
rawset(io, "stderr", quiet)
local function silent() end

math.randomseed(seed)
_G.roper, _G.plot = require("roper"), require("roper.workbench.plot")
_G.help, _G.apropos = _G.roper.help, _G.roper.apropos
require("roper.workbench.help").name_in_failures()
local globals = setmetatable({}, { __index = _G })
globals.os, globals.io, globals.print = false, false, silent
local current = session.new(globals)
for number = 1, one or count do
  if number % FRESH == 1 then
    current:feed(grammar.SETUP)
  end
  if number == one then
    io.stdout, io.stderr = out, out -- luacheck: ignore 122
  end
  local line = grammar.line()
  out:write(number, "\t", line, "\n")
  out:flush()
  if current:feed(line) then
    current:feed(")]}")
  end
end
out:write("done\n")
os.exit(true, true) -- after its script lua5.4 would be ended by Ctrl-C
