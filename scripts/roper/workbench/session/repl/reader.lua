--- Line input at the terminal. With lua-readline it has editing, history and completion.
local complete = require "roper.workbench.session.repl.complete"
local core = require "roper.core"
local history = require "roper.workbench.session.repl.history"
local paths = require "roper.system.paths"
local terminal = require "roper.text.terminal"

local M = {}

--- Returned by readers instead of a line if the user pressed Ctrl-C.
M.INTERRUPTED = {}

local plain = {}

--- Reads a line.
---@param prompt string
---@return string|table|nil line INTERRUPTED after Ctrl-C, nil at the end of input
---@return string? discarded the line before Ctrl-C, "" if unknown
function plain.read(_, prompt)
  io.stdout:write(prompt)
  io.stdout:flush()
  local line = core.interrupt_wait(0) and io.stdin:read "l"
  if not line then -- end of input, or after the terminal's ^C
    io.stdout:write "\n"
  end
  if core.interrupt_clear() then
    return M.INTERRUPTED, ""
  end
  return line
end

--- Does nothing: a plain reader has no history.
function plain.remember() end

local Editing = {}
Editing.__index = Editing

--- Reads a line, like `plain.read`.
---@param prompt string
---@param before string? lines before this one in incomplete input, for completion
---@return string|table|nil line
---@return string? discarded
function Editing:read(prompt, before)
  self.before = before and before .. "\n" or ""
  local line = self.library.readline(prompt)
  if core.interrupt_clear() then
    return M.INTERRUPTED, line or ""
  elseif line == nil and not terminal.is_capable(io.stdout) then -- else readline ends the line
    io.stdout:write "\n"
  end
  return line
end

-- Can readline edit this text? Moves in vi mode never end in a line with invalid UTF-8.
local function is_editable(text)
  return utf8.len(text) ~= nil
end

--- Adds input of one or several lines to the history, unless it is invalid UTF-8.
---@param entry string
function Editing:remember(entry)
  if entry ~= self.newest and entry:find "%S" and is_editable(entry) then
    self.newest = entry
    self.library.add_history(entry)
    if self.path then
      history.append(self.path, entry)
    end
  end
end

-- The completions of the word from .. to - 1 of a line, for readline. Tab at the start of a further
-- line indents it.
function Editing:completions(line, from, to)
  local typed = line:sub(1, to - 1)
  if self.before ~= "" and not typed:find "%S" then
    return { "\t" }
  end
  local ok, names, length = pcall(complete.names, self.before .. typed, _G)
  if not ok then
    return {}
  end
  -- The replaced text may begin before or after readline's word.
  local kept = typed:sub(1, #typed - length)
  for i, name in ipairs(names) do
    names[i] = (kept .. name):sub(from)
  end
  return names
end

--- Creates a reader of the terminal with the methods `read` and `remember`.
---@return table reader
function M.new()
  local found, library = pcall(require, "readline")
  if not found then
    io.stdin:setvbuf "no" -- interrupt_wait cannot see lines in a buffer
    return plain
  end
  library.set_options { histfile = "", auto_add = false }
  local path = paths.state "history"
  local entries, problem = {}, nil
  if path then
    entries, problem = history.load(path)
  end
  if problem then
    terminal.report("history", problem)
    path = nil
  end
  for _, entry in ipairs(entries) do
    if is_editable(entry) then
      library.add_history(entry)
    end
  end
  local self = setmetatable({ library = library, path = path, newest = entries[#entries],
    before = "" }, Editing)
  library.set_complete_function(function(line, from, to)
    library.set_completion_append_character ""
    return self:completions(line, from, to)
  end)
  core.prepare_readline()
  return self
end

return M
