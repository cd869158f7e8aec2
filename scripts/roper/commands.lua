--- What a session understands besides Lua: `%time` and the like with the rest of
--- the line, and words such as `who`.
local format = require "roper.format"
local suggest = require "roper.suggest"
local terminal = require "roper.terminal"

local M = {}

local HELP <const> = [[
An expression prints its value; _ is the last one; a ; at the end mutes.
Input goes on over several lines until it is complete; Ctrl-C gives it up.
  roper.<Tab>     completes names, fields and methods
  ?roper.randn    tells about it; ??roper.randn shows its source
  apropos "mask"  finds names by a word
  who             lists your globals
  %time f(x)      runs Lua and tells how long it took
  Ctrl-C          stops what runs; your variables stay
  Ctrl-D or exit  leaves
]]

-- "1.23 ms"
local function duration(seconds)
  if seconds >= 1 then
    return ("%.3g s"):format(seconds)
  elseif seconds >= 1e-3 then
    return ("%.3g ms"):format(seconds * 1e3)
  end
  return ("%.3g µs"):format(seconds * 1e6)
end

-- Commands with a % in front: functions of the session and the rest of the line.
local percent = {}

function percent.time(session, source)
  local luv = require "luv"
  local start = luv.hrtime()
  if session:run(source) then
    io.stdout:write(duration((luv.hrtime() - start) / 1e9), "\n")
  end
end

-- What `who` tells about a global.
local function description(value)
  if format.is_tensor(value) then
    local bytes = value:count() * (value:dtype() == "float64" and 8 or 4)
    return ("%s, %d bytes"):format(format.summary(value), bytes)
  elseif type(value) == "table" then
    local entries = 0
    for _ in next, value do
      entries = entries + 1
    end
    return ("table of %d"):format(entries)
  end
  return (format.value(value):gsub("\n.*", " …"))
end

-- Commands of a word: functions of the session.
local words = {}

function words.who(session)
  local names, widest = {}, 0
  for name in next, session.globals do
    if type(name) == "string" and not session.known[name] then
      names[#names + 1] = name
      widest = math.max(widest, #name)
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local gap = (" "):rep(widest - #name + 2)
    io.stdout:write(name, gap, description(rawget(session.globals, name)), "\n")
  end
end

function words.exit(session)
  session.is_over = true
end

words.quit = words.exit

words["?"] = function()
  io.stdout:write(HELP)
end

-- `?name` and `??name`: functions of a name and the globals of the session.
local questions = {
  ["?"] = function(...)
    require("roper.help").show(...)
  end,
  ["??"] = function(...)
    require("roper.help").source(...)
  end,
}

words["??"] = words["?"]

--- The command in a line.
---@param line string
---@param globals table
---@return (fun(session: table))? action nil where the line is Lua: also where a
---   global has the name of the command
function M.find(line, globals)
  local word = line:match "^%s*([%a?]+)%s*$"
  if words[word] and rawget(globals, word) == nil then
    return words[word]
  end
  local marks, asked = line:match "^%s*(%?%??)%s*([^%s%(%-]+)"
  if marks then
    return function(session)
      questions[marks](asked, session.globals)
    end
  end
  local name, rest = line:match "^%s*%%(%a*)%s*(.-)%s*$"
  if not name then
    return nil
  end
  return function(session)
    if percent[name] then
      return percent[name](session, rest)
    end
    local names = {}
    for known in pairs(percent) do
      names[#names + 1] = known
    end
    terminal.report("error", ("unknown command %%%s%s"):format(name, suggest.hint(name, names)))
  end
end

return M
