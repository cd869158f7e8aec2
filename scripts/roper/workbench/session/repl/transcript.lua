--- Extracts the input from text that was copied from a session.
local eval = require "roper.base.eval"
local escape = require "roper.base.escape"

local M = {}

-- A line without its prompt; nil if it has none.
local function after_prompt(line)
  return line:match "^%s*>>?%s(.*)$" or line:match "^%s*>>?$" and ""
end

local function kind_of(text, globals)
  return select(2, eval.compile(text, "input", globals))
end

-- The lines with a prompt, and lines that continue incomplete input.
local function typed_lines(lines, globals)
  local typed, open = {}, nil
  for _, line in ipairs(lines) do
    local rest = after_prompt(line) or open and line
    if rest then
      typed[#typed + 1] = rest
      open = open and open .. "\n" .. rest or rest
      open = kind_of(open, globals) == "incomplete" and open or nil
    end
  end
  return typed
end

--- The input in a text whose first line begins with a prompt; other text unchanged. If the text
--- arrives line by line, removes the prompt `>>` from the last line, unless it is Lua's shift.
---@param text string
---@param globals table
---@return string
function M.typed(text, globals)
  local lines = escape.lines(text)
  if after_prompt(lines[1]) then
    return table.concat(typed_lines(lines, globals), "\n")
  end
  local before, last = text:match "^(.*\n)%s*>>%s?([^\n]*)$"
  return before and kind_of(text, globals) == "wrong" and before .. last or text
end

return M
