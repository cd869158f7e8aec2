--- Folders of runs.
local core = require "roper.core"
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

-- Flush what a folder lists to the disk.
local function sync_folder(path)
  local descriptor = uv.fs_open(path, "r", 0)
  if descriptor then
    uv.fs_fsync(descriptor)
    uv.fs_close(descriptor)
  end
end

-- Refuse to write, for luv's reason but without the temporary name at its end.
local function refuse(path, reason, temporary)
  local at = reason:find(": " .. temporary, 1, true)
  error(("cannot write %s: %s"):format(path, at and reason:sub(1, at - 1) or reason), 0)
end

-- Write a file of a temporary name beside `path` and flush it to the disk.
local function write_temporary(path, text)
  local suffix = uv.random(4):gsub(".", function(byte)
    return ("%02x"):format(byte:byte())
  end)
  local temporary = ("%s.%d-%s.tmp"):format(path, uv.os_getpid(), suffix)
  local descriptor, message = uv.fs_open(temporary, "wx", tonumber("644", 8))
  if not descriptor then
    refuse(path, message, temporary)
  end
  local written, reason = uv.fs_write(descriptor, text)
  local flushed, problem = uv.fs_fsync(descriptor)
  uv.fs_close(descriptor)
  if written ~= #text or not flushed then
    uv.fs_unlink(temporary)
    refuse(path, reason or problem or "the disk is full", temporary)
  end
  return temporary
end

-- How often a temporary file may vanish before its time.
local TRIES <const> = 10

-- Write a temporary file and put it where it belongs by `put`. Another process may take it for a
-- dead one's and clean it away; then it is written once more.
local function place(path, text, put)
  local temporary, done, message, code
  for _ = 1, TRIES do
    temporary = write_temporary(path, text)
    done, message, code = put(temporary, path)
    uv.fs_unlink(temporary)
    if done or code ~= "ENOENT" then
      break
    end
  end
  if not done and code ~= "EEXIST" then
    refuse(path, message, temporary)
  end
  return done
end

--- Write a whole file at once: to a temporary name, flushed to the disk, then renamed. What is at
--- `path` stays untouched until then.
---@param path string
---@param text string
function M.write(path, text)
  place(path, text, uv.fs_rename)
  sync_folder(path:match "^(.*)/[^/]*$" or ".")
end

--- Write a whole file at once where none is.
---@param path string
---@param text string
---@return boolean created false where one of that name was there; it is as it was
function M.create(path, text)
  return place(path, text, uv.fs_link) == true
end

--- A whole file.
---@param path string
---@return string? text nil where there is none
function M.read(path)
  local file <close> = io.open(path, "rb")
  return file and file:read "a"
end

--- A file of JSON.
---@param path string
---@return table? content nil where there is no file, or a damaged one
function M.decode(path)
  local ok, content = pcall(core.json_decode, M.read(path) or "")
  return ok and type(content) == "table" and content or nil
end

--- The names in a folder, sorted.
---@param path string
---@return string[] names none where there is no folder
function M.names(path)
  local names = {}
  local scan = uv.fs_scandir(path)
  if scan then
    for name in uv.fs_scandir_next, scan do
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

--- Remove what killed processes left unfinished, where nobody writes now.
---@param path string of a folder
---@param name string? of the file in it that was to be written; any by default
function M.clean(path, name)
  local start = name and name .. "." or ""
  for _, found in ipairs(M.names(path)) do
    if found:sub(1, #start) == start and found:match "%.tmp$" then
      uv.fs_unlink(path .. "/" .. found)
    end
  end
end

return M
