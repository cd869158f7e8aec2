--- Folders of runs.
local uv = require "luv"

local M = {}

--- Make a folder and those above it. A folder that is there is fine.
---@param path string
function M.make(path)
  local so_far = path:sub(1, 1) == "/" and "/" or ""
  for part in path:gmatch "[^/]+" do
    so_far = so_far .. part .. "/"
    local ok, message, code = uv.fs_mkdir(so_far, tonumber("755", 8))
    if not ok and code ~= "EEXIST" then
      error(("cannot make the folder %s: %s"):format(path, message), 0)
    end
  end
  local stat = uv.fs_stat(path)
  if not stat or stat.type ~= "directory" then
    error(("cannot make the folder %s: a file of that name is there"):format(path), 0)
  end
end

--- The first of path-1, path-2, ... that is not there yet.
---@param path string
---@return string
function M.fresh(path)
  local number = 1
  while uv.fs_stat(("%s-%d"):format(path, number)) do
    number = number + 1
  end
  return ("%s-%d"):format(path, number)
end

--- Write a whole file at once: to a temporary name, then renamed.
---@param path string
---@param text string
function M.write(path, text)
  local temporary = path .. ".tmp"
  local file = assert(io.open(temporary, "wb"))
  assert(file:write(text))
  assert(file:close())
  assert(os.rename(temporary, path))
end

return M
