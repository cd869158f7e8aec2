--- Splits typed or pasted text into the parts that run one after the other.
local commands = require "roper.workbench.session.repl.commands"
local escape = require "roper.base.escape"
local eval = require "roper.text.eval"
local habits = require "roper.workbench.help.habits"
local nestings = require "roper.workbench.session.repl.nesting"
local tables = require "roper.base.tables"

local M = {}

local function kind_of(source, globals)
  return select(2, eval.compile(source, "input", globals))
end

-- A line without its prompt; nil if it has none.
local function after_prompt(line)
  return line:match "^%s*>>?%s(.*)$" or line:match "^%s*>>?$" and ""
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

-- The input in text that was copied from a session, whose first line begins with a prompt; other
-- text unchanged. If the text arrives line by line, removes the prompt `>>` from the last line,
-- unless it is Lua's shift.
local function without_prompts(text, globals)
  local lines = escape.lines(text)
  if after_prompt(lines[1]) then
    return table.concat(typed_lines(lines, globals), "\n")
  end
  local before, last = text:match "^(.*\n)%s*>>%s?([^\n]*)$"
  return before and kind_of(text, globals) == "wrong" and before .. last or text
end

-- For each line, the next one that is not empty.
local function following(lines)
  local list, line = {}, nil
  for i = #lines, 1, -1 do
    list[i] = line
    line = lines[i]:find "%S" and lines[i] or line
  end
  return list
end

-- Does a line continue the statement before it? No statement or command begins like that.
local function is_continuation(line)
  return line ~= nil and not commands.percent[line:match "^%s*%%(%a+)"]
    and (line:find "^%s*[:.+*/%%^<>=~|&)}%]]" ~= nil and not line:find "^%s*::"
      or line:find "^%s*and%f[^%w_]" ~= nil or line:find "^%s*or%f[^%w_]" ~= nil)
end

-- The kind of a source as from eval.compile, except that a block of Python is wrong.
local function kind_of_part(source, globals)
  local kind = kind_of(source, globals)
  return kind == "incomplete" and habits.is_python(source) and "wrong" or kind
end

-- Splits text into the parts that would run one after the other if its lines were typed, and the
-- incomplete rest, or nil.
local function split(text, globals)
  local parts, open, nesting = {}, {}, nil
  local lines = escape.lines(text)
  local next_lines = following(lines)
  for i, line in ipairs(lines) do
    local is_first = not open[1]
    local kind = is_first and commands.find(line, globals) and "command"
    open[#open + 1] = line
    nesting = is_first and nestings.new() or nesting
    nesting:add(line)
    local is_long = nesting:is_open() and i < #lines and not habits.is_python(open[1])
    if not kind and not is_long and not is_continuation(next_lines[i]) then
      kind = kind_of_part(table.concat(open, "\n"), globals)
    end
    if is_first and not line:find "%S" then
      open = {}
    elseif kind and kind ~= "incomplete" then
      parts[#parts + 1], open = { source = table.concat(open, "\n"), kind = kind }, {}
    end
  end
  return parts, open[1] and table.concat(open, "\n")
end

-- The source of one chunk for all parts. It passes the values of expressions to its argument, a
-- function, unless a parenthesis would continue the line before.
local function block_form(parts)
  local forms, closing = {}, ""
  for i, part in ipairs(parts) do
    local is_value = part.kind == "expression" and (i == 1 or not part.source:find "^%s*%(")
    forms[i] = is_value and ("%s;(...)(%d, %s"):format(closing, i, part.source:gsub(";%s*$", ""))
      or closing .. part.source
    closing = is_value and ");" or ""
  end
  return table.concat(forms, "\n") .. (closing ~= "" and "\n" .. closing or "")
end

-- Do parts need each other: do they share a local, or does one not compile alone?
local function belong_together(parts)
  for _, part in ipairs(parts) do
    if part.kind == "wrong"
      or part.kind == "statement" and part.source:find "^%s*local%f[%s]" then
      return #parts > 1
    end
  end
  return false
end

-- The parts as one block, and the kind of its form.
local function joined(parts, globals)
  local sources = tables.map(parts, function(part) return part.source end)
  local block = { source = table.concat(sources, "\n"), form = block_form(parts), parts = parts }
  local kind = kind_of(block.form, globals)
  if kind == "wrong" then -- such as values that continue the line before
    local is_value = parts[#parts].kind == "expression"
    sources[#sources] = (is_value and "return " or "") .. sources[#sources]
    block.form, block.parts = table.concat(sources, "\n"), nil
    kind = kind_of(block.form, globals)
    block.kind = kind
  end
  return block, kind
end

--- Splits text into the parts that run one after the other. Parts that need each other are one
--- block. Removes prompts before pasted lines.
---@param text string one or several lines
---@param globals table
---@return table[] parts source; kind: "command" or as from eval.compile, nil for a block; form:
---   code to compile instead, with the same lines; parts: of a block, whose form passes the values
---   of each expression to a function, its argument
---@return string? rest incomplete input, which needs more lines
function M.read(text, globals)
  text = without_prompts(text, globals)
  local parts, open = split(text, globals)
  local all = tables.joined(parts, { open and { source = open, kind = "incomplete" } })
  if belong_together(all) then
    local block, kind = joined(all, globals)
    if kind == "incomplete" then
      return {}, text
    elseif kind ~= "wrong" then
      return { block }
    end
  end
  local path, name = (open or ""):match "^%s*([%a_][%w_.]*):([%a_][%w_]*)%s*$"
  if path then -- a method that is named but not called: show it as a field
    parts[#parts + 1] = { source = open, form = ("%s.%s"):format(path, name), kind = "expression" }
    open = nil
  end
  return parts, open
end

return M
