--- Rejects surplus arguments of public Lua functions, as the functions in C do: Lua would ignore
--- them, and compute something other than what was meant. Methods reject objects of other classes.
local options_of = require "roper.options.rows"

local M = {}

local originals = setmetatable({}, { __mode = "k" }) -- by the function that counts arguments

-- Does an object inherit from a class?
local function is_a(object, class)
  repeat
    local metatable = type(object) == "table" and getmetatable(object)
    object = metatable and metatable.__index
  until object == class or not object
  return object == class
end

-- Raises an error unless a method was called on an object of its class. A call with a dot instead
-- of a colon passes the first argument in place of the object.
local function check_object(name, object, class, class_name)
  if not is_a(object, class) then
    error(("%s: expected %s %s, got %s; call it with a colon: object:%s(...)"):format(name,
      class_name:find "^[AEIOU]" and "an" or "a", class_name, options_of.shown(object), name), 3)
  end
end

-- A function that passes at most `most` arguments on; further ones may only be nil. `class_name` is
-- given if it is a method of `class`.
local function counting(name, f, most, class, class_name)
  local function limited(...)
    if class_name then
      check_object(name, (...), class, class_name)
    end
    for i = select("#", ...), most + 1, -1 do
      if (select(i, ...)) ~= nil then
        error(("%s: expected at most %d argument%s, got %d"):format(name, most,
          most == 1 and "" or "s", i), 2)
      end
    end
    return f(...)
  end
  originals[limited] = f
  return limited
end

--- Makes a Lua function in a table reject surplus arguments. It does not change functions in C,
--- functions with "...", and those whose name begins with "_".
---@param holder table a module, or a class with its methods, which take at least the object
---@param name any
---@param class_name? string if given, functions whose first parameter is `self` reject objects that
---   do not inherit from `holder`
function M.limit_one(holder, name, class_name)
  local f = holder[name]
  local is_public = type(f) == "function" and type(name) == "string" and not name:find "^_"
  local info = is_public and not originals[f] and debug.getinfo(f, "Su")
  if not info or info.what ~= "Lua" then
    return
  end
  local owner = debug.getlocal(f, 1) == "self" and class_name or nil
  local least = rawget(holder, "__index") and 1 or 0
  local most = info.isvararg and math.huge or math.max(info.nparams, least)
  if owner or most < math.huge then
    holder[name] = counting(name, f, most, holder, owner)
  end
end

--- Makes all Lua functions in a table reject surplus arguments, as `limit_one` does.
---@param holder table
---@param class_name? string
---@return table holder
function M.limit(holder, class_name)
  for name in next, holder do
    M.limit_one(holder, name, class_name)
  end
  return holder
end

--- Returns the function that was given to `limit`.
---@param f any
---@return any original f itself if `limit` did not change it
function M.original(f)
  return originals[f] or f
end

return M
