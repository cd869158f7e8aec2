--- What becomes of the lines of a session: Lua is run and its values are shown,
--- commands are carried out, errors are told.
local chunk = require "roper.chunk"
local commands = require "roper.commands"
local format = require "roper.format"
local terminal = require "roper.terminal"

local M = {}

local NAME <const> = "input" -- stands for what was typed in messages

local Session = {}
Session.__index = Session

--- A session over globals as they are now; `who` lists those that come later.
---@param globals table
---@return table session with the methods `feed` and `run`
function M.new(globals)
  local known = { _ = true }
  for name in next, globals do
    known[name] = true
  end
  return setmetatable({ globals = globals, known = known, is_over = false }, Session)
end

-- Run a function and tell what went wrong. `place` is a pattern for the start of
-- messages that is not worth telling.
local function attempt(place, action, ...)
  local ok, failure = chunk.call(action, ...)
  if ok then
    return true
  elseif failure.interrupted then
    io.stdout:flush()
    io.stderr:write "\ninterrupted\n" -- after the ^C that the terminal shows
  else
    terminal.report("error", failure.message:gsub(place, "") .. chunk.trace(failure))
  end
  return false
end

--- Run Lua code. The values of an expression are shown, but for a `;` at its end,
--- and the first is kept as `_`.
---@param source string
---@return boolean ok
function Session:run(source)
  local place = source:find "\n" and "^$" or "^" .. NAME .. ":%d+: " -- of one line, nothing new
  local action, _, message = chunk.compile(source, NAME, self.globals)
  if not action then
    terminal.report("error", (message:gsub(place, "")))
    return false
  end
  local is_muted = source:find ";%s*$" ~= nil
  return attempt(place, function()
    local results = table.pack(action())
    if results[1] ~= nil then
      self.globals._ = results[1]
    end
    if results.n > 0 and not is_muted then
      io.stdout:write(format.results(results), "\n")
    end
  end)
end

-- Does a line go on with the statement before it? No statement starts like this.
local function goes_on(line)
  return (line:find "^%s*[:.+*/%%^<>=~|&)}%]]" ~= nil and not line:find "^%s*::")
    or line:find "^%s*and%f[^%w_]" ~= nil or line:find "^%s*or%f[^%w_]" ~= nil
end

-- Text as the parts that would run one after the other if its lines were typed,
-- and the rest that is not complete, nil where all is.
local function split(text, globals)
  local parts, open = {}, nil
  local lines = {}
  for line in (text .. "\n"):gmatch "(.-)\n" do
    lines[#lines + 1] = line
  end
  for i, line in ipairs(lines) do
    local is_command = not open and commands.find(line, globals) ~= nil
    open = open and open .. "\n" .. line or line
    if is_command then
      parts[#parts + 1] = { source = open, kind = "command" }
      open = nil
    elseif not open:find "%S" then
      open = nil
    elseif not (lines[i + 1] and goes_on(lines[i + 1])) then
      local _, kind = chunk.compile(open, NAME, globals)
      if kind ~= "incomplete" then
        parts[#parts + 1] = { source = open, kind = kind }
        open = nil
      end
    end
  end
  return parts, open
end

-- The parts as one, where pasted lines only make sense together: they share a
-- local, or one is wrong alone.
local function joined(parts, open, globals)
  local sources, belong_together = {}, false
  for i, part in ipairs(parts) do
    sources[i] = part.source
    belong_together = belong_together or part.kind == "wrong"
      or (part.kind == "statement" and part.source:find "^%s*local%f[%s]" ~= nil)
  end
  if not belong_together or #parts + (open and 1 or 0) < 2 then
    return nil
  end
  if open then
    sources[#sources + 1] = open
  elseif parts[#parts].kind == "expression" then
    sources[#sources] = "return " .. sources[#sources]
  end
  local source = table.concat(sources, "\n")
  local _, kind = chunk.compile(source, NAME, globals)
  return kind ~= "wrong" and source or nil, kind
end

--- Take lines in: what is complete is carried out, up to the first error.
---@param text string one line or several
---@return string? rest what is not complete yet: give it back with more lines after it
function Session:feed(text)
  local parts, open = split(text, self.globals)
  local whole, kind = joined(parts, open, self.globals)
  if whole and kind == "incomplete" then
    return text
  elseif whole then
    parts, open = { { source = whole, kind = kind } }, nil
  end
  for _, part in ipairs(parts) do
    if part.kind == "command" then
      attempt("^$", commands.find(part.source, self.globals), self)
    elseif not self:run(part.source) then
      return nil
    end
  end
  return open
end

return M
