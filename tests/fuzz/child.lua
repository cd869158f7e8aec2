-- Runs random input: lua5.4 tests/fuzz/child.lua KIND SEED COUNT [ONE]
-- KIND is a file in this folder: lines, calls, texts or programs. Prints the number and the text of
-- each input before it is run, "problem" and a text if it violates a property, and "done" at the
-- end. With ONE, it stops after the input of that number and prints its output; it then runs in
-- a new folder. As in a session, and unlike in a script run by ./roper, Ctrl-C between two inputs
-- ends the next one.

local kind, seed, count = arg[1], math.tointeger(arg[2]), math.tointeger(arg[3])
local one = math.tointeger(arg[4])
local out = io.stdout

local uv = require("luv")
local root = arg[0]:match("^(.*)tests/fuzz/")
root = root:match("^/") and root or uv.cwd() .. "/" .. root
if one then -- the input may write files
  assert(uv.chdir(assert(uv.fs_mkdtemp(uv.os_tmpdir() .. "/roper-XXXXXX"))))
end
package.path = ("%s?.lua;%sscripts/?.lua;%sscripts/?/init.lua;"):format(root, root, root)
  .. package.path
package.cpath = root .. "build/?.so;" .. package.cpath
local core = require("roper.core")
core.memory_limit(128 << 20)

local quiet = { flush = function() end, setvbuf = function() end }
function quiet.write(self)
  return self
end
rawset(io, "stdout", quiet)
rawset(io, "stderr", quiet)

math.randomseed(seed)
_G.roper, _G.plot = require("roper"), require("roper.workbench.plot")
_G.help, _G.apropos = _G.roper.help, _G.roper.apropos
local inputs = require("tests.fuzz." .. kind)

local LONGEST <const> = 4000 -- bytes of an input that are printed
local ESCAPES <const> = { ["\n"] = "\\n", ["\0"] = "\\0" }
local function write(label, text)
  out:write(label, "\t", (text:sub(1, LONGEST):gsub("[\n\0]", ESCAPES)), "\n")
  out:flush()
end

for number = 1, one or count do
  local text, run = inputs.next(number)
  if number == one then
    io.stdout, io.stderr = out, out -- luacheck: ignore 122
  end
  write(number, text)
  local problem = run()
  if problem then
    write("problem", problem)
  end
end
out:write("done\n")
os.exit(true, true) -- after its script lua5.4 would be ended by Ctrl-C
