--- What a session understands besides Lua: `%time` and the like with the rest of
--- the line, `$ command` for the shell, and words such as `who`.
local percent = require "roper.workbench.session.repl.percent"
local suggest = require "roper.base.suggest"

local M = {}

local HELP <const> = [[
A final expression or call prints its value, kept in _, then _1, _2; a ; mutes.
Input goes on over several lines until it is complete; Ctrl-C gives it up.
  Tab             completes names, methods, options inside {, file names
  Ctrl-R          searches what was typed, also in earlier sessions
  ?roper.randn    tells about it; so does roper.randn?
  ??roper.randn   shows its source
  apropos "mask"  finds names by a word
  ?pytorch        says what functions of PyTorch are called here
  who             lists your variables
  %time f(x)      runs Lua and tells how long it took
  %bench f(x)     runs it many times: median and spread
  %prof f(x)      tells where its time goes, function by function
  %run FILE       runs a script; its globals stay
  %save FILE      writes what ran without an error, as a script
  %hist           lists what was typed, numbered as errors name it
  %edit           opens the last input in your editor and runs it; so %edit f
  %debug          shows where the last error was; _ has the variables there
  %up, %down      go from there to the caller, and back
  %cd FOLDER      goes to a folder
  $ ls or !ls     runs a command of the shell
  roper.debug(true)    tells errors in full; ?print_options: how values look
  Ctrl-C          stops what runs; your variables stay
  Ctrl-D or exit  leaves; so does Ctrl-C, twice at an empty prompt
]]

-- Commands of a word: functions of the session.
local words = {}

words.who = percent.who

function words.exit(session)
  session.is_over = true
end

words.quit = words.exit

words["?"] = function()
  require("roper.workbench.help.pager").write(HELP)
end

words["??"], words.help = words["?"], words["?"]

--- The names of the commands that have a % in front, sorted.
---@return string[]
function M.names()
  return require("roper.base.tables").keys(percent)
end

-- `?name` and `??name`: functions of a name and the globals of the session.
local questions = {
  ["?"] = function(...)
    require("roper.workbench.help").show(...)
  end,
  ["??"] = function(...)
    require("roper.workbench.help").source(...)
  end,
}

-- The word that a line consists of, also where it is called; nil where a global has its name.
-- The library's `help`, which does nothing until it is called, is no such global.
local function word_of(line, globals)
  local word = line:match "^%s*([%a?]+)%s*$"
  if word == "help" and rawget(globals, "help") == require("roper").help then
    return word
  end
  word = word or line:match "^%s*(%a+)%s*%(%s*%)%s*$"
  return rawget(globals, word) == nil and word or nil
end

-- Is a name that of a command, which the list of `?` tells about?
local function is_command(name, globals)
  return percent[name:match "^%%(%a+)$"] ~= nil
    or words[name] ~= nil and rawget(globals, name) == nil
end

--- The command in a line.
---@param line string
---@param globals table
---@return (fun(session: table))? action nil where the line is Lua: also where a
---   global has the name of the command
function M.find(line, globals)
  local word = words[word_of(line, globals)]
  if word then
    return word
  end
  local command = line:match "^%s*[$!]%s*(.*)$"
  if command then
    return function()
      require("roper.workbench.session.repl.shell").run(command)
    end
  end
  local marks, asked = line:match "^%s*(%?%??)%s*([^%s%(%-]+)"
  if not marks then
    asked, marks = line:match "^%s*(%%?[%a_][%w_.:]*)%s*(%?%??)%s*$"
    marks = marks ~= "" and marks or nil
  end
  if marks and is_command(asked, globals) then
    return words["?"]
  elseif marks then
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
    error(("unknown command %%%s%s"):format(name, suggest.hint(name, M.names())), 0)
  end
end

return M
