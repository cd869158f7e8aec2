--- What is longer than the terminal goes through a pager: $PAGER, or less where that is there.
local escape = require "roper.base.escape"
local terminal = require "roper.base.terminal"

local M = {}

local MISSING <const> = { [126] = true, [127] = true } -- what a shell says of a program

-- The program that shows text from its standard input; nil where there is none.
local function program()
  local named = os.getenv "PAGER"
  if named and named ~= "" then
    return named
  end
  return require("roper.base.subprocess").has "less" and "less -R" or nil
end

-- Show text in the pager. It may be left early: it reads a file, so that nobody writes to a pipe
-- that is closed.
local function show(name, text)
  return require("roper.base.scoped").with_file("help.txt", text, function(path)
    io.stdout:flush()
    local _, how, status = os.execute(("{ %s\n} < %s"):format(name, escape.word(path)))
    io.stdout:write(how == "signal" and "\n" or "") -- after the ^C that the terminal shows
    return not (how == "exit" and MISSING[status])
  end)
end

--- Write text: on a terminal that it does not fit on through a pager, else plainly.
---@param text string
function M.write(text)
  local is_long = select(2, text:gsub("\n", "")) >= terminal.rows(io.stdout)
  local name = is_long and terminal.is_capable(io.stdout) and terminal.is_terminal(io.stdin)
    and program()
  local ok, is_shown = true, false
  if name then
    ok, is_shown = pcall(show, name, text)
  end
  if not ok or not is_shown then
    io.stdout:write(text)
  end
end

return M
