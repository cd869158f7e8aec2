-- Judges error messages: they are about the user's mistake, not about the library's code.

local core = require("roper.core")
local catalogue = require("roper.workbench.help.catalogue")

local M = {}

-- Names that "bad argument #1 to" may contain.
local known = {}
for name in pairs(core) do
  known[name], known["roper.core." .. name], known["roper.native." .. name] = true, true, true
end
for _, entry in ipairs(catalogue.entries()) do
  known[entry.name], known[entry.path] = true, true
end

-- Beginnings of Lua's own messages.
local LUAS <const> = { "^attempt to", "^bad '", "^invalid", "^malformed", "^missing '",
  "^number has no integer", "^table index", "^wrong number of", "^interval is empty",
  "^too many results", "^too many captures", "^stack overflow", "^string slice", "^unable to",
  "^pattern too", "^error in error" }

--- The message, if it is Lua's about code of the library; nil if it is about the user's mistake.
--- Lua puts a place in front if the code is in Lua, and none if it is in C.
---@param message any
---@return string?
function M.problem(message)
  if type(message) ~= "string" then
    return nil
  end
  local text = message:match("roper/[%w_/]+%.lua:%d+: (.*)") or message
  local name = text:match("^bad argument #%-?%d+ to '(.-)'")
  if text:find("this tensor was already collected", 1, true) or text:find("^attempt to yield") then
    return nil
  elseif name and not known[name] then
    return message
  end
  for _, pattern in ipairs(LUAS) do
    if text:find(pattern) then
      return message
    end
  end
  return nil
end

return M
