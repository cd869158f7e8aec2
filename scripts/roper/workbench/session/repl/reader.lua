--- Lines from the person at the terminal: through GNU readline with history and
--- completion where lua-readline is installed, else plainly.
local complete = require "roper.workbench.session.repl.complete"
local core = require "roper.core"
local history = require "roper.workbench.session.repl.history"
local paths = require "roper.base.paths"
local terminal = require "roper.base.terminal"

local M = {}

--- What a reader returns instead of a line that Ctrl-C gave up.
M.INTERRUPTED = {}

local plain = {}

--- Read a line.
---@param prompt string
---@return string|table|nil line INTERRUPTED after Ctrl-C, nil at the end
---@return string? given_up what had been typed at Ctrl-C, "" where that is not known
function plain.read(_, prompt)
  io.stdout:write(prompt)
  io.stdout:flush()
  local line = core.interrupt_wait(0) and io.stdin:read "l"
  if not line then -- at the end, and after the ^C that the terminal shows
    io.stdout:write "\n"
  end
  if core.interrupt_clear() then
    return M.INTERRUPTED, ""
  end
  return line
end

--- Remember what was entered: a plain reader does not.
function plain.remember() end

local Editing = {}
Editing.__index = Editing

--- Read a line; as plain.read.
---@param prompt string
---@param before string? lines that this one goes on with, for completion
---@return string|table|nil line
---@return string? given_up
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

--- Add an entry, of one or several lines, to the history.
---@param entry string
function Editing:remember(entry)
  if entry ~= self.newest and entry:find "%S" then
    self.newest = entry
    self.library.add_history(entry)
    if self.path then
      history.append(self.path, entry)
    end
  end
end

-- What readline asks for at a tab: the ways to go on with the word at from .. to - 1 of a line.
function Editing:completions(line, from, to)
  local typed = line:sub(1, to - 1)
  local ok, names, length = pcall(complete.names, self.before .. typed, _G)
  if not ok then
    return {}
  end
  -- What they replace may begin before or after what readline takes for a word.
  local kept = typed:sub(1, #typed - length)
  for i, name in ipairs(names) do
    names[i] = (kept .. name):sub(from)
  end
  return names
end

--- A reader of the terminal with the methods `read` and `remember`.
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
    library.add_history(entry)
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
