--- `%edit`: opens earlier input in an editor and runs the result.
local names = require "roper.base.names"
local escape = require "roper.base.escape"
local process = require "roper.system.process"

local M = {}

-- The input to edit: the last one, one by its number, or the one that defined a function.
local function chosen(session, text)
  local value = text ~= "" and names.at_end(text, session.globals)
  local source = type(value) == "function" and debug.getinfo(value, "S").source
  local number = text == "" and session.count or math.tointeger(text)
    or source and math.tointeger(source:match "^=input (%d+)$")
  local input = number and session:input(number)
  if text == "" or input then
    return input or ""
  end
  error(("%%edit: expected the number of an input, or a function defined in this session; got %s")
    :format(text), 0)
end

-- The command of the user's editor: $VISUAL, $EDITOR, or an installed one.
local function editor_command()
  for _, name in ipairs { "VISUAL", "EDITOR" } do
    local editor = require("roper.system.environment").get(name) or ""
    if editor ~= "" then
      return editor
    end
  end
  for _, editor in ipairs { "editor", "vi", "nano" } do
    if process.has(editor) then
      return editor
    end
  end
  error("%edit: no editor found (editor, vi, nano); install one, or set $EDITOR before you start "
    .. "roper", 0)
end

local function edited(text)
  local editor = editor_command()
  return require("roper.system.temporary").with_file("input.lua", text .. "\n", function(path)
    io.stdout:flush()
    local ok, how, number = process.shell(editor .. " " .. escape.word(path))
    if not ok then
      error(("%%edit: %s: %s %d; nothing was run"):format(editor, how == "exit" and "exit status"
        or "ended by signal", number), 0)
    end
    return require("roper.system.file").read(path) or ""
  end)
end

--- Opens an input in an editor ($VISUAL, $EDITOR, editor, vi or nano). If the user changes it,
--- shows and runs it.
---
--- Errors: there is no editor, or it fails; the text names no input of this session.
---@param session table
---@param text string the number of an input, the name of a function, or "" for the last input
function M.run(session, text)
  local before = chosen(session, text)
  local after = table.concat(escape.lines(edited(before)), "\n"):gsub("%s+$", "")
  if after == before or after == "" then
    io.stdout:write "nothing was run\n"
    return
  end
  io.stdout:write(escape.text(after), "\n")
  local rest = session:feed(after)
  if rest then
    session:run(rest) -- reports the incomplete input
  end
end

return M
