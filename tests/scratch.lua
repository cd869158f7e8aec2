-- A temporary folder for the files of one spec.

local uv = require("luv")

local M = {}

local folder, cache_home

--- Create an empty folder; call it in `before_each`, and `M.remove` in `after_each`. Until then,
--- the cache of tokenized texts is in the folder, too.
function M.create()
  folder = assert(uv.fs_mkdtemp(uv.os_tmpdir() .. "/roper-XXXXXX"))
  cache_home = os.getenv("XDG_CACHE_HOME")
  uv.os_setenv("XDG_CACHE_HOME", M.path("cache"))
end

function M.remove()
  if not folder then
    return -- what would have created it was skipped
  end
  os.execute("rm -rf '" .. folder .. "'")
  if cache_home then
    uv.os_setenv("XDG_CACHE_HOME", cache_home)
  else
    uv.os_unsetenv("XDG_CACHE_HOME")
  end
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

--- Calls `f` while a path cannot be opened.
---@param path string
---@param number integer of the error
---@param f fun()
function M.unreadable(path, number, f)
  local open = io.open
  rawset(io, "open", function(name, ...)
    if name == path then
      return nil, path .. ": cannot be opened", number
    end
    return open(name, ...)
  end)
  local ok, problem = pcall(f)
  rawset(io, "open", open)
  assert(ok, problem)
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
