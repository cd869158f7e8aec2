--- Forms of questions that are answered with a line of Lua: the line with blanks, `___`, each with
--- choices. Pages and paper offer the form, so that no session is needed; every way to fill it is
--- judged when they are made.
local eval = require "roper.text.eval"
local options_of = require "roper.options.rows"

local M = {}

local BLANK <const> = "___"
local MOST <const> = 64 -- ways to fill a form

--- Checks a form.
---
--- Errors: it is not {line, choices of each blank}; a blank without choices; more than 64 ways to
--- fill it; lines that do not compile. Messages begin with `where`.
---@param where string names the form in messages
---@param form any
function M.check(where, form)
  local _, blanks = tostring(form[1]):gsub(BLANK, "")
  if type(form[1]) ~= "string" or blanks == 0 or blanks ~= #form - 1 then
    error(('%s: expected {"a line with ___ for each blank", {choices of the first}, ...}, got %s'
      .. " and %d lists of choices"):format(where, options_of.shown(form[1]), #form - 1), 0)
  end
  local count = 1
  for i = 2, #form do
    for _, choice in ipairs(type(form[i]) == "table" and form[i] or {}) do
      if type(choice) ~= "string" then
        error(("%s: blank %d: expected a string, got %s"):format(where, i - 1,
          options_of.shown(choice)), 0)
      end
    end
    count = count * (type(form[i]) == "table" and #form[i] or 0)
  end
  if count < 2 or count > MOST then
    error(("%s: expected 2 to %d ways to fill it, got %d"):format(where, MOST, count), 0)
  end
  for _, line in ipairs(M.lines(form)) do
    if not eval.compile(line, "form", {}) then
      error(("%s: not a line of Lua: %s"):format(where, line), 0)
    end
  end
end

--- The text around the blanks.
---@return string[] texts one more than there are blanks
function M.texts(form)
  local texts = {}
  for text in (form[1] .. BLANK):gmatch("(.-)" .. BLANK) do
    texts[#texts + 1] = text
  end
  return texts
end

--- The line of a form whose blanks are filled.
---@param filled string[] the text of each blank
---@return string
function M.line(form, filled)
  local i = 0
  return (form[1]:gsub(BLANK, function()
    i = i + 1
    return filled[i]
  end))
end

--- All ways to fill a form. The last blank changes first.
---@return string[] lines
function M.lines(form)
  local ways = { {} }
  for i = 2, #form do
    local longer = {}
    for _, way in ipairs(ways) do
      for _, choice in ipairs(form[i]) do
        longer[#longer + 1] = table.move(way, 1, #way, 1, {})
        table.insert(longer[#longer], choice)
      end
    end
    ways = longer
  end
  local lines = {}
  for i, way in ipairs(ways) do
    lines[i] = M.line(form, way)
  end
  return lines
end

--- The line of a form by the numbers of the choices, such as those in a file.
---@param chosen any
---@return string? line nil if a choice is missing or does not exist
function M.chosen(form, chosen)
  local filled = {}
  for i = 2, #form do
    local number = type(chosen) == "table" and chosen[i - 1]
    filled[i - 1] = math.type(number) == "integer" and form[i][number] or nil
    if not filled[i - 1] then
      return nil
    end
  end
  return #chosen == #form - 1 and M.line(form, filled) or nil
end

return M
