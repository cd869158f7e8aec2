--- Rejects surplus arguments of public Lua functions, as the functions in C do: Lua would ignore
--- them, and compute something other than what was meant.
local M = {}

local originals = setmetatable({}, { __mode = "k" }) -- by the function that counts arguments

-- A function that passes at most `most` arguments on; further ones may only be nil.
local function counting(name, f, most)
  local function limited(...)
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
function M.limit_one(holder, name)
  local f = holder[name]
  local is_public = type(f) == "function" and type(name) == "string" and not name:find "^_"
  local info = is_public and not originals[f] and debug.getinfo(f, "Su")
  if info and info.what == "Lua" and not info.isvararg then
    local least = rawget(holder, "__index") and 1 or 0
    holder[name] = counting(name, f, math.max(info.nparams, least))
  end
end

--- Makes all Lua functions in a table reject surplus arguments, as `limit_one` does.
---@param holder table
---@return table holder
function M.limit(holder)
  for name in next, holder do
    M.limit_one(holder, name)
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
