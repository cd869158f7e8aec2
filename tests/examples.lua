-- Runs examples of documentation comments in a session.

local session = require("roper.workbench.session.repl.session")
local stdout = require("tests.stdout")

local M = {}

-- The globals of a fresh session; the names from os.tmpname are added to `files`.
local function new_globals(files)
  local globals = {}
  for name, value in pairs(_G) do
    globals[name] = value
  end
  globals._G = globals
  globals.os = setmetatable({
    tmpname = function()
      files[#files + 1] = os.tmpname()
      return files[#files]
    end,
  }, { __index = os })
  globals.roper = require("roper")
  globals.plot = globals.roper.plot
  globals.help, globals.apropos = globals.roper.help, globals.roper.apropos
  return globals
end

-- Gives input to a session; returns its standard output, then its standard error.
local function feed(current, text)
  local output, errors, rest = stdout.capture_both(current.feed, current, text)
  assert(rest == nil, "an example is not complete: " .. text)
  return output .. errors
end

--- The lines of an example as a session shows them: each input, after "> " or ">> ", with its
--- output.
---@param lines string[] an example, with or without the expected output
---@return string[]
function M.run(lines)
  local files = {}
  local current, shown = session.new(new_globals(files)), {}
  local i = 1
  while lines[i] do
    if lines[i]:find("^> ") then
      local input = { lines[i]:sub(3) }
      shown[#shown + 1] = lines[i]
      while (lines[i + 1] or ""):find("^>> ") do
        i = i + 1
        input[#input + 1] = lines[i]:sub(4)
        shown[#shown + 1] = lines[i]
      end
      for line in feed(current, table.concat(input, "\n")):gmatch("([^\n]*)\n") do
        shown[#shown + 1] = line
      end
    end
    i = i + 1
  end
  for _, path in ipairs(files) do
    os.remove(path)
    os.execute(("rm -rf '%s.d'"):format(path)) -- a folder that an example created beside it
  end
  return shown
end

return M
