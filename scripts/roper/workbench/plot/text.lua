--- Text in plots: escapes it, measures its width, and cuts it.
local escape = require "roper.base.escape"

local M = {}

-- Ranges of code points with a width of no columns, and of two: from the Unicode tables for
-- combining marks and for East Asian width.
local NARROW <const> = { { 0x300, 0x36F }, { 0x200B, 0x200F }, { 0xFE00, 0xFE0F } }
local WIDE <const> = { { 0x1100, 0x115F }, { 0x2E80, 0xA4CF }, { 0xAC00, 0xD7A3 },
  { 0xF900, 0xFAFF }, { 0xFE30, 0xFE6F }, { 0xFF00, 0xFF60 }, { 0xFFE0, 0xFFE6 },
  { 0x1F300, 0x1F64F }, { 0x1F900, 0x1F9FF }, { 0x20000, 0x3FFFD } }

local function is_in(ranges, code)
  for _, range in ipairs(ranges) do
    if code >= range[1] and code <= range[2] then
      return true
    end
  end
  return false
end

--- Returns the width of a character in columns.
---@param code integer code point
---@return integer 0, 1 or 2
function M.columns(code)
  if code < 0x300 then
    return 1
  end
  return is_in(NARROW, code) and 0 or is_in(WIDE, code) and 2 or 1
end

--- Returns the width of a text in columns.
---@param text string UTF-8
---@return integer
function M.width(text)
  local width = 0
  for _, code in utf8.codes(text) do
    width = width + M.columns(code)
  end
  return width
end

--- Returns text that is safe for a terminal and for XML: valid UTF-8 on one line, with � for
--- invalid bytes and for characters that XML 1.0 does not allow.
---@param text string any bytes
---@return string
function M.clean(text)
  return (escape.replaced(text, function()
    return " "
  end, function()
    return "\u{FFFD}"
  end):gsub("\xEF\xBF[\xBE\xBF]", "\u{FFFD}"))
end

--- Returns a label for a token, with invisible characters made visible.
---@param token string any bytes
---@return string
function M.token(token)
  if token == "" then
    return "∅"
  end
  return M.clean((token:gsub("\n", "↵"):gsub("\t", "⇥"):gsub(" ", "␣")))
end

--- Cuts text that is too long and appends an ellipsis.
---@param text string UTF-8
---@param columns integer
---@return string
function M.fit(text, columns)
  if M.width(text) <= columns then
    return text
  end
  local width = 0
  for at, code in utf8.codes(text) do
    width = width + M.columns(code)
    if width > columns - 1 then
      return text:sub(1, at - 1) .. "…"
    end
  end
end

return M
