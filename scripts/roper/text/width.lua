--- The width of text in a terminal, and functions that cut, pad, wrap and align text by it.
---
--- A character is what a reader sees as one: a letter with its accents, or several emoji that are
--- joined. Control sequences for colours have no width. Escape untrusted text first
--- (`base/escape`); a byte that is not UTF-8 counts as one column.
local core = require "roper.core"

local M = {}

local JOINER <const>, EMOJI_STYLE <const> = 0x200D, 0xFE0F

-- East Asian text breaks between wide characters, but not before a character of NEVER_FIRST or
-- after one of NEVER_LAST.
local NEVER_FIRST <const> = ",.;:!?)]}'\"、。，．・：；？！）］｝〉》」』】〕〗…ーゝゞ々ぁぃぅぇぉっゃゅょァィゥェォッャュョ"
local NEVER_LAST <const> = "([{（［｛〈《「『【〔〖"

local function is_between(code, low, high)
  return code >= low and code <= high
end

-- The code point at an index and the index after it; nil for a byte that is not UTF-8.
local function code_at(text, at)
  if utf8.len(text, at, at) then
    return utf8.codepoint(text, at), utf8.offset(text, 2, at)
  end
  return nil, at + 1
end

-- The end of the character that begins at an index, and its width.
local function character_at(text, at)
  local byte, following_byte = text:byte(at, at + 1)
  if is_between(byte, 32, 126) and (following_byte or 0) < 128 then
    return at, 1
  end
  local _, last = text:find("^\27%[[%d;]*m", at)
  if last then
    return last, 0
  end
  local code, after = code_at(text, at)
  local width = code and core.character_width(code) or 1
  local is_flag = code and is_between(code, 0x1F1E6, 0x1F1FF)
  while code and after <= #text do
    local following, next_after = code_at(text, after)
    if not following then
      break
    elseif is_flag and is_between(following, 0x1F1E6, 0x1F1FF) then
      is_flag, width = false, 2
    elseif following == EMOJI_STYLE then
      width = 2
    elseif code == JOINER and width == 2 or is_between(following, 0x1F3FB, 0x1F3FF) and width == 2
    then
      is_flag = false -- an emoji that is joined to the one before, or a skin tone
    elseif following < 0x80 or core.character_width(following) > 0 then
      break
    end
    code, after = following, next_after
  end
  return after - 1, width
end

--- Iterates over the characters of a text.
---@param text string
---@return fun(): integer, integer, string, integer iterator its first byte, its last byte, the
---   character, and its width in columns: 0, 1 or 2
function M.characters(text)
  local at = 1
  return function()
    if at <= #text then
      local first, last, width = at, character_at(text, at)
      at = last + 1
      return first, last, text:sub(first, last), width
    end
  end
end

--- The width of a text in columns.
---@param text string
---@return integer
function M.width(text)
  if not text:find "[^\32-\126]" then
    return #text
  end
  local total = 0
  for _, _, _, width in M.characters(text) do
    total = total + width
  end
  return total
end

--- The beginning of a text that fits in some columns.
---@param text string
---@param columns number
---@return string beginning
function M.cut(text, columns)
  local total = 0
  for first, _, _, width in M.characters(#text > columns and text or "") do
    total = total + width
    if total > columns then
      return text:sub(1, first - 1)
    end
  end
  return text
end

--- A text that is cut, with an ellipsis, if it does not fit.
---@param text string
---@param columns number at least 1
---@return string
function M.fit(text, columns)
  if #M.cut(text, columns) == #text then
    return text
  end
  return M.cut(text, columns - 1) .. "…" .. (text:find "\27" and "\27[0m" or "")
end

--- A text with spaces beside it, up to a width.
---@param text string
---@param columns integer
---@param side "l"|"r"|"c"|nil alignment of the text: left (by default), right or centre
---@return string
function M.pad(text, columns, side)
  local space = math.max(0, columns - M.width(text))
  local before = side == "r" and space or side == "c" and space // 2 or 0
  return (" "):rep(before) .. text .. (" "):rep(space - before)
end

-- Splits a word into the parts between which a line may break.
local function parts_of(word)
  if not word:find "[\xE1-\xF0]" then
    return { word }
  end
  local parts, before, before_width = { "" }, "", 0
  for _, _, character, width in M.characters(word) do
    local is_beside_wide = before ~= "" and (width == 2 or before_width == 2)
    if is_beside_wide and not NEVER_FIRST:find(character, 1, true)
      and not NEVER_LAST:find(before, 1, true) then
      parts[#parts + 1] = ""
    end
    parts[#parts] = parts[#parts] .. character
    if width > 0 then
      before, before_width = character, width
    end
  end
  return parts
end

--- Wraps text into lines between words, and between the characters of East Asian text. A word that
--- is longer than a line has its own line.
---@param words string|string[] a text is split at white space; a list is not split further
---@param width number columns of a line
---@param lead string? text before the first word; "" by default
---@param hang integer? spaces before the other lines; 0 by default
---@return string[] lines
function M.wrap(words, width, lead, hang)
  local lines, line, used = {}, { lead or "" }, M.width(lead or "")
  local margin, is_empty = (" "):rep(hang or 0), true
  local function add(part, gap)
    local columns = M.width(part)
    if not is_empty and used + gap + columns > width then
      lines[#lines + 1] = table.concat(line)
      line, used, is_empty = { margin }, #margin, true
    end
    gap = is_empty and 0 or gap
    line[#line + 1] = (" "):rep(gap) .. part
    used, is_empty = used + gap + columns, false
  end
  for _, word in ipairs(type(words) == "table" and words or {}) do
    add(word, 1)
  end
  for word in (type(words) == "string" and words or ""):gmatch "%S+" do
    for i, part in ipairs(parts_of(word)) do
      add(part, i == 1 and 1 or 0)
    end
  end
  lines[#lines + 1] = table.concat(line)
  return lines
end

--- The alignment of a column: "l", "r" or "c".
---@param sides string? a letter per column; the last one applies to all further columns; "lr" by
---   default
---@param column integer
---@return string
function M.side(sides, column)
  sides = sides or "lr"
  return sides:sub(math.min(column, #sides), math.min(column, #sides))
end

--- Rows of cells as lines with aligned columns. A left-aligned cell at the end of a row may be
--- wider than its column.
---@param rows string[][]
---@param sides string? as for `side`
---@return string[] lines
function M.rows(rows, sides)
  local widths, lines = {}, {}
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do
      local width = (i < #row or M.side(sides, i) ~= "l") and M.width(cell) or 0
      widths[i] = math.max(widths[i] or 0, width)
    end
  end
  for j, row in ipairs(rows) do
    local cells = {}
    for i, cell in ipairs(row) do
      cells[i] = M.pad(cell, widths[i], M.side(sides, i))
    end
    lines[j] = table.concat(cells, "  "):match "^.*%S" or "" -- "%s+$" takes n^2 steps for n spaces
  end
  return lines
end

return M
