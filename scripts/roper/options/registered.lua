--- Names that users' code registers: schemes, tasks, experiments, models.
local M = {}

local count = 0
local owners = {} -- the source of the code that registered a task or an experiment

-- The source of the function at a level of the caller's stack: "@FILE" for a file.
local function source_at(level)
  local info = debug.getinfo(level + 1, "S")
  return info and info.source or "="
end

--- The file that contains the code at a level of the stack, for messages.
---@param level integer 1 is the caller
---@return string lead the path and ": "; "" for code that was typed
---@return string mark the path in parentheses after a space; "" for code that was typed
function M.file(level)
  local path = source_at(level + 1):match "^@(.*)$"
  return path and path .. ": " or "", path and (" (%s)"):format(path) or ""
end

--- Counts a registration.
function M.note()
  count = count + 1
end

--- The number of registrations so far.
---@return integer
function M.count()
  return count
end

local comments = setmetatable({}, { __mode = "k" }) -- by function

--- Sets the documentation of a function that a registration creates.
---@param value function
---@param lua string documentation comments, of the class of its options and of the function
function M.document(value, lua)
  comments[value] = lua
end

--- Returns the documentation from `document`.
---@param value any
---@return string? lua
function M.comment(value)
  return comments[value]
end

--- Counts the registration of a name. A file can be run again, but two files cannot register the
--- same name.
---
--- Errors: another file registered the name.
---@param kind string for the message, such as "task"
---@param name string
---@param level integer of the stack; 1 is the caller
function M.claim(kind, name, level)
  local key, source = kind .. " " .. name, source_at(level + 1)
  local owner = owners[key]
  if owner and owner ~= source and owner:find "^@" and source:find "^@" then
    error(("%s: the %s %s is already registered, by %s; choose another name"):format(source:sub(2),
      kind, name, owner:sub(2)), 0)
  end
  owners[key] = source
  M.note()
end

return M
