--- Escapes text in plots.
local escape = require "roper.base.escape"

local M = {}

--- Returns text that is safe for a terminal and for XML: valid UTF-8 on one line, with � for
--- invalid bytes and for characters that XML 1.0 does not allow.
---@param text string any bytes
function M.clean(text)
  return (escape.replaced(text, function()
    return " "
  end, function()
    return "\u{FFFD}"
  end):gsub("\xEF\xBF[\xBE\xBF]", "\u{FFFD}"))
end

--- Returns a label for a token, with invisible characters made visible.
---@param token string any bytes
function M.token(token)
  if token == "" then
    return "∅"
  end
  return M.clean((token:gsub("\n", "↵"):gsub("\t", "⇥"):gsub(" ", "␣")))
end

return M
