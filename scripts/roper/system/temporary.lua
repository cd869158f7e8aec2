--- Temporary files and folders, which exist while a function runs.
local files = require "roper.system.file"
local finally = require("roper.base.scoped").finally
local uv = require "luv"

local M = {}

-- Removes a folder with all in it; a link is removed, not followed.
local function remove(folder)
  for _, name in ipairs(files.names(folder)) do
    local path = folder .. "/" .. name
    local stat = not files.remove_file(path) and files.stat(path)
    if stat and stat.type == "directory" then
      remove(path)
    end
  end
  files.remove_folder(folder)
end

--- Calls f with the path of a temporary folder, which other users cannot read, and removes it with
--- all that f left there.
---
--- Errors: the folder cannot be made.
---@param f fun(path: string): ...
---@return any ... its results
function M.with_folder(f)
  local folder, message = uv.fs_mkdtemp(uv.os_tmpdir() .. "/roper-XXXXXX")
  if not folder then
    error("cannot make a temporary folder: " .. message, 0)
  end
  return finally(function() return f(folder) end, function() remove(folder) end)
end

--- The same with the path of a temporary file.
---@param name string of the file
---@param text string its content
---@param f fun(path: string): ...
---@return any ... its results
function M.with_file(name, text, f)
  return M.with_folder(function(folder)
    local path = folder .. "/" .. name
    files.write(path, text)
    return f(path)
  end)
end

return M
