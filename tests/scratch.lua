-- A folder for the files of one spec.

local uv = require("luv")

local M = {}

local folder

--- Make a fresh folder; call it in `setup`, and `M.remove` in `teardown`.
function M.create()
  folder = assert(uv.fs_mkdtemp(uv.os_tmpdir() .. "/roper-XXXXXX"))
end

function M.remove()
  os.execute("rm -rf '" .. folder .. "'")
end

--- The path of `name` in the folder.
---@param name string
---@return string
function M.path(name)
  return folder .. "/" .. name
end

---@param path string
---@return string bytes
function M.read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read("a")
end

--- Write `bytes` to `name` in the folder.
---@param name string
---@param bytes string
---@return string path
function M.write(name, bytes)
  local path = M.path(name)
  local file <close> = assert(io.open(path, "wb"))
  file:write(bytes)
  return path
end

--- The names in the folder, sorted.
---@return string[]
function M.list()
  local names = {}
  for name in uv.fs_scandir_next, assert(uv.fs_scandir(folder)) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

return M
