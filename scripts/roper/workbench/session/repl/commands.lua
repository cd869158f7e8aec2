--- Commands of a session: `%time` and others with a %, `$ command` for the shell, `?name` for help,
--- and words such as `who`.
local percent = require "roper.workbench.session.repl.percent"
local suggest = require "roper.base.suggest"

local M = {}

local HELP <const> = [[
The value of a final expression or call is printed, unless a ; follows, and kept
in _; earlier values are in _1 and _2. Input may span lines; Ctrl-C cancels it.
  Tab             completes names, methods, options inside {, file names
  Ctrl-R          searches the input of this session and earlier ones
  ?roper.randn    shows the documentation; so does roper.randn?
  ??roper.randn   shows the source
  apropos "mask"  searches the documentation
  ?pytorch        lists what to write instead of PyTorch
  who             lists your variables
  %time f(x)      runs Lua and prints the time it took
  %bench f(x)     runs it many times and prints the median and the spread
  %prof f(x)      profiles it by function
  %run FILE       runs a script in this session
  %save FILE      writes the input that ran without an error to a script
  %hist           lists the input, with the numbers used in error messages
  %edit           edits the last input and runs it; %edit f edits a function
  %debug          shows the place of the last error; _ has the variables there
  %up, %down      move to the caller of that place and back
  %cd FOLDER      changes the folder
  $ ls or !ls     runs a shell command
  roper.debug(true)    prints full tracebacks; see also ?print_options
  Ctrl-C          interrupts the computation and keeps your variables
  Ctrl-D or exit  leaves; so does Ctrl-C, twice at an empty prompt
]]

-- Commands that are a single word: functions of the session.
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

--- The names of the % commands, sorted.
---@return string[]
function M.names()
  return require("roper.base.tables").keys(percent)
end

local HELPERS <const> = { ["?"] = "show", ["??"] = "source" } -- functions of workbench/help

-- The command word of a line, alone or in a call such as `who()`. Nil if a global has this name,
-- except for the library's `help`, which has no effect unless it is called.
local function word_of(line, globals)
  local word = line:match "^%s*([%a?]+)%s*$"
  if word == "help" and rawget(globals, "help") == require("roper").help then
    return word
  end
  word = word or line:match "^%s*(%a+)%s*%(%s*%)%s*$"
  return rawget(globals, word) == nil and word or nil
end

-- Is it the name of a command that `?` lists?
local function is_command(name, globals)
  return percent[name:match "^%%(%a+)$"] ~= nil
    or words[name] ~= nil and rawget(globals, name) == nil
end

--- The command in a line.
---@param line string
---@param globals table
---@return (fun(session: table))? action nil if the line is Lua, or a global has the name of the
---   command
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
      require("roper.workbench.help")[HELPERS[marks]](asked, session.globals)
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
