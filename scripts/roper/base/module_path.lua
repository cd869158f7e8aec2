--- The folders in which `require` looks for modules. None of them is relative: the current folder
--- may belong to anyone. The launcher drops relative entries before it loads anything.
local paths = require "roper.base.paths"
local uv = require "luv"

local M = {}

-- The entries of a path that name a folder wherever the process runs, each once, after `first`.
local function absolute(path, first)
  local entries, seen = {}, {}
  for entry in (first .. ";" .. path):gmatch "[^;]+" do
    if entry:find "^/" and not seen[entry] then
      entries[#entries + 1], seen[entry] = entry, true
    end
  end
  return table.concat(entries, ";")
end

--- What a Lua process that this one starts finds this library with, as `LUA_PATH_5_4` and
--- `LUA_CPATH_5_4`.
---@return string path
---@return string cpath
function M.for_child()
  local scripts = assert(uv.fs_realpath(paths.LIBRARY)):match "^(.*)/"
  local native = package.searchpath("roper.native", package.cpath)
  local c = native and assert(uv.fs_realpath(native)):match "^(.*)/roper/[^/]*$"
  return absolute(package.path, ("%s/?.lua;%s/?/init.lua"):format(scripts, scripts)),
    absolute(package.cpath, c and c .. "/?.so" or "")
end

--- Let `require` also find the modules in the folder of a file that the user named, after all
--- others.
---@param file string
function M.add_folder_of(file)
  local folder = (uv.fs_realpath(file) or ""):match "^(.*)/"
  local entries = folder and (";%s/?.lua;%s/?/init.lua"):format(folder, folder)
  if folder and not folder:find "[;?]" and not (package.path .. ";"):find(entries .. ";", 1, true)
  then
    package.path = package.path .. entries
  end
end

return M
