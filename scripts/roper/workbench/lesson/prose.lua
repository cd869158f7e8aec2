--- Checks the prose of lessons, and converts it to plain text.
local document = require "roper.text.document"
local formulas = require "roper.text.formula.parse"
local options_of = require "roper.options.rows"
local terminal = require "roper.text.document.terminal"

local M = {}

--- Prose as one line of plain text.
---
--- Errors: a formula that does not follow the notation; a paper without a number.
function M.line(text)
  return terminal.line(document.prose(text))
end

-- Reads prose and its formulas.
local function parse(text)
  for _, part in ipairs(document.prose(text)) do
    if part.kind == "math" then
      formulas.lines(part.text)
    end
  end
end

--- Checks that a text can be shown.
---
--- Errors: it is not a string; those of `read`; with `where` in front.
---@param where string names the text in messages
---@param read? fun(text: string) reads the text; by default as `line` does
function M.check(where, text, read)
  local ok, message = type(text) == "string", "expected a string, got " .. options_of.shown(text)
  if ok then
    ok, message = pcall(read or parse, text)
  end
  if not ok then
    error(("%s: %s"):format(where, message), 0)
  end
end

--- The duration of a lesson and the lessons that it builds on.
---@return string prose such as "15 minutes, after `rotation`"; empty if the lesson has neither
function M.demands(lesson)
  local needs = {}
  for i, name in ipairs(lesson.needs) do
    needs[i] = "`" .. name .. "`"
  end
  local parts = { lesson.minutes and ("%d minutes"):format(lesson.minutes) }
  parts[#parts + 1] = needs[1] and "after " .. table.concat(needs, ", ")
  return (table.concat(parts, ", "):gsub("^%l", string.upper))
end

return M
