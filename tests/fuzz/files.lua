-- Files of the project, and files in the current folder, which is a temporary one.

local uv = require("luv")

local M = {}

local root = debug.getinfo(1, "S").source:match("^@(.*)tests/fuzz/")
root = root:sub(1, 1) == "/" and root or uv.cwd() .. "/" .. root

--- The content of a file of the project; with a path that begins with ./, of the current folder.
---@param path string
---@return string
function M.read(path)
  local file <close> = assert(io.open(path:find("^%./") and path or root .. path, "rb"))
  return file:read("a")
end

---@param path string
---@param text string
---@return string path
function M.write(path, text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
  return path
end

--- Create a folder.
---@param path string
---@return string path
function M.folder(path)
  assert(uv.fs_mkdir(path, 448))
  return path
end

return M
