--- Argument checks of public functions.
local options_of = require "roper.options.rows"

local M = {}

--- Raises an error in the name of a function unless its arguments have the right kinds.
---@param name string of the function
---@param ... any for each argument: its name; its kind, as for `options.mismatch`, followed by "?"
---   if the argument is optional, or a list of choices with `optional`; and its value
function M.check(name, ...)
  for i = 1, select("#", ...), 3 do
    local what, kind, value = select(i, ...)
    local is_missing = value == nil and type(kind) == "table" and kind.optional
    local refusal = not is_missing and options_of.refusal(kind, value)
    if refusal then
      error(("%s: %s: %s"):format(name, what, refusal), 3)
    end
  end
end

-- Is a class equal to `ancestor` or derived from it?
local function is_a(class, ancestor)
  while type(class) == "table" and class ~= ancestor do
    local metatable = getmetatable(class)
    class = metatable and metatable.__index
  end
  return class == ancestor
end

--- Raises an error in the name of a method unless it was called on an object of its class. A call
--- with a dot instead of a colon passes the first argument in place of the object.
---@param name string of the method, such as "Cache:layer"
---@param self any
---@param class table|string the class, which is the object's metatable or its ancestor; or a kind,
---   as for `options.mismatch`
function M.self(name, self, class)
  local fits = type(self) == "table" and type(class) == "table" and is_a(getmetatable(self), class)
    or type(class) == "string" and not options_of.mismatch(class, self)
  if not fits then
    local owner, method = name:match "^([^:]+):(.*)$"
    error(("%s: expected %s %s, got %s; call it with a colon: object:%s(...)"):format(method,
      owner:find "^[AEIOU]" and "an" or "a", owner, options_of.shown(self), method), 3)
  end
end

return M
