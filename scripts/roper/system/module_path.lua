--- Search path of `require`. It has no relative entries, since the current folder may belong to
--- another user; the launcher removes them before it loads anything.
local files = require "roper.system.file"
local paths = require "roper.system.paths"

local M = {}

-- A search path with `first` in front, without relative entries and duplicates.
local function absolute(path, first)
  local entries, seen = {}, {}
  for entry in (first .. ";" .. path):gmatch "[^;]+" do
    if entry:find "^/" and not seen[entry] then
      entries[#entries + 1], seen[entry] = entry, true
    end
  end
  return table.concat(entries, ";")
end

--- The values of `LUA_PATH_5_4` and `LUA_CPATH_5_4` with which a child process finds this library.
---@return string path
---@return string cpath
function M.for_child()
  local scripts = assert(files.real(paths.LIBRARY)):match "^(.*)/"
  local native = package.searchpath("roper.native", package.cpath)
  local c = native and assert(files.real(native)):match "^(.*)/roper/[^/]*$"
  return absolute(package.path, ("%s/?.lua;%s/?/init.lua"):format(scripts, scripts)),
    absolute(package.cpath, c and c .. "/?.so" or "")
end

--- Adds the folder of a user's file to the end of the search path.
---@param file string
function M.add_folder_of(file)
  local folder = (files.real(file) or ""):match "^(.*)/"
  local entries = folder and (";%s/?.lua;%s/?/init.lua"):format(folder, folder)
  if folder and not folder:find "[;?]" and not (package.path .. ";"):find(entries .. ";", 1, true)
  then
    package.path = package.path .. entries
  end
end

return M
