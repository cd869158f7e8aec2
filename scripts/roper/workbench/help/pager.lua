--- Writes long text through a pager: $PAGER, or less if it is installed.
local escape = require "roper.base.escape"
local process = require "roper.system.process"
local terminal = require "roper.text.terminal"

local M = {}

local MISSING <const> = { [126] = true, [127] = true } -- exit status of a shell

-- The command of the pager; nil if there is none.
local function program()
  local named = require("roper.system.environment").get "PAGER"
  if named and named ~= "" then
    return named
  end
  return process.has "less" and "less -R" or nil
end

-- Shows text in the pager, which reads a file, since a pipe would break if the user leaves early.
local function show(name, text)
  return require("roper.system.temporary").with_file("help.txt", text, function(path)
    io.stdout:flush()
    local _, how, status = process.shell(("{ %s\n} < %s"):format(name, escape.word(path)))
    io.stdout:write(how == "signal" and "\n" or "") -- after the terminal's ^C
    return not (how == "exit" and MISSING[status])
  end)
end

--- Writes text to standard output, through a pager if it does not fit on the terminal.
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
