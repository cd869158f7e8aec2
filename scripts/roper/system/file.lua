--- Files and folders.
local core = require "roper.core"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"
local uv = require "luv"

local M = {}

-- Permissions of a new folder.
local MODE <const> = tonumber("755", 8)

-- Error codes of missing files; ESRCH occurs in /proc, for a process that has ended.
local ABSENT <const> = { ENOENT = true, ESRCH = true }

-- The reasons that luv gives for error codes, such as "ENOENT: no such file or directory".
local REASONS <const> = {}
for number = 1, 255 do
  local reason, code = uv.translate_sys_error(number)
  REASONS[code] = reason
end

-- The code of an error number.
local function code_of(number)
  return select(2, uv.translate_sys_error(number))
end

-- An error message; `reason` is a code of luv, or another reason.
local function problem_of(what, path, reason)
  return ("cannot %s %s: %s"):format(what, path, REASONS[reason] or reason)
end

local function refuse(...)
  error(problem_of(...), 0)
end

-- Raises an error if there is a problem; else returns the result.
local function sure(result, problem)
  if problem then
    error(problem, 0)
  end
  return result
end

--- The status of a path.
---
--- Errors: a path that cannot be accessed. For a missing one, returns nil.
---@param path string
---@return table? stat with type and size, as returned by luv; nil if nothing is there
function M.stat(path)
  local stat, _, code = uv.fs_stat(path)
  if not stat and not ABSENT[code] then
    refuse("read", path, code)
  end
  return stat
end

--- Is something at this path? A path that cannot be accessed counts as there, one below a file does
--- not.
---@param path string
---@return boolean
function M.exists(path)
  local _, _, code = uv.fs_stat(path)
  return not ABSENT[code] and code ~= "ENOTDIR"
end

--- Is this path a symbolic link?
---@param path string
---@return boolean
function M.is_link(path)
  local stat = uv.fs_lstat(path)
  return stat ~= nil and stat.type == "link"
end

--- The target of a symbolic link.
---@param path string
---@return string? target nil if the path is no link
function M.target(path)
  return (uv.fs_readlink(path))
end

--- The absolute path without symbolic links.
---@param path string
---@return string? path nil if nothing is there
function M.real(path)
  return (uv.fs_realpath(path))
end

--- Raises an error for a path that is not a folder. The message suggests the nearest name.
---@param head string start of the message
---@param path string
function M.check_folder(head, path)
  local stat = M.stat(path)
  if stat and stat.type ~= "directory" then
    error(("%s: expected a folder, got the file %s"):format(head, path), 0)
  elseif not stat then
    local parent, name = path:match "^(.-)([^/]*)/*$"
    local ok, beside = pcall(M.names, parent == "" and "." or parent)
    error(("%s: there is no folder %s%s"):format(head, path,
      suggest.hint(name, ok and beside or {})), 0)
  end
end

--- Flushes a file, or the entries of a folder, to the disk.
---
--- Errors: a path that cannot be opened or flushed.
---@param path string
function M.sync(path)
  sure(core.flush_file(path))
end

--- Makes a folder and its parents, unless they exist. New ones survive a power cut.
---@param path string
function M.make(path)
  local so_far = path:sub(1, 1) == "/" and "/" or ""
  for part in path:gmatch "[^/]+" do
    local parent = so_far
    so_far = so_far .. part .. "/"
    local ok, _, code = uv.fs_mkdir(so_far, MODE)
    if ok then
      M.sync(parent == "" and "." or parent)
    elseif code ~= "EEXIST" then
      refuse("make the folder", path, code)
    end
  end
  local stat = M.stat(path)
  if not stat or stat.type ~= "directory" then
    refuse("make the folder", path, "a file with this name exists")
  end
end

--- Writes a file atomically: to a temporary file, which is read back, flushed to the disk and
--- renamed. Until then, the file at `path` is unchanged.
---@param path string
---@param text string
function M.write(path, text)
  sure(core.write_file(path, text))
end

--- Creates a file atomically, unless it exists.
---@param path string
---@param text string
---@return boolean created false if the file exists; it is unchanged
function M.create(path, text)
  return sure(core.create_file(path, text))
end

--- The content of a file, or why it cannot be read.
---@param path string
---@return string? text
---@return string? problem nil if nothing is there
function M.peek(path)
  local function missing(code)
    return nil, not ABSENT[code] and problem_of("read", path, code) or nil
  end
  local stat, _, code = uv.fs_stat(path)
  if not stat then
    return missing(code)
  elseif stat.type ~= "file" then
    return nil, problem_of("read", path, "expected a file, got a " .. stat.type)
  end
  local file <close>, _, number = io.open(path, "rb")
  local text
  if file then
    text, _, number = file:read "a"
  end
  if not text then
    return missing(code_of(number))
  end
  return text
end

--- The content of a file.
---
--- Errors: a path that is not a file or cannot be read.
---@param path string
---@return string? text nil if nothing is there
function M.read(path)
  return sure(M.peek(path))
end

--- Decodes a JSON object or array.
---@param text string
---@return table? content nil if the text is damaged or contains another value
function M.parse(text)
  local content = core.json_decode(text)
  return type(content) == "table" and content or nil
end

--- Decodes a JSON file.
---@param path string
---@return table? content nil if the file is missing or damaged
function M.decode(path)
  local text = M.read(path)
  return text and M.parse(text)
end

--- The names in a folder, sorted.
---@param path string
---@return string[] names {} if there is no folder
function M.names(path)
  local names, number = core.folder_names(path)
  local code = not names and code_of(number)
  if code and not ABSENT[code] then
    refuse("list", path, code)
  end
  names = names or {}
  table.sort(names)
  return names
end

--- The names of the Lua files in a folder without ".lua", sorted.
---@param path string
---@return string[] names
function M.modules(path)
  return tables.map(M.names(path), function(name) return name:match "^(.+)%.lua$" end)
end

--- Sets the modification time of a file to now.
---@param path string
function M.touch(path)
  uv.fs_utime(path, os.time(), os.time())
end

--- Removes a file.
---@param path string
---@return boolean removed
function M.remove_file(path)
  return (uv.fs_unlink(path)) ~= nil
end

--- Removes an empty folder.
---@param path string
---@return boolean removed
function M.remove_folder(path)
  return (uv.fs_rmdir(path)) ~= nil
end

--- Removes a folder and the files in it, if it exists.
---@param path string
function M.remove(path)
  for _, name in ipairs(M.names(path)) do
    uv.fs_unlink(path .. "/" .. name)
  end
  uv.fs_rmdir(path)
end

--- Removes temporary files of killed processes. Call it only if no process writes to the folder.
---@param path string of a folder
---@param name string? of the file that was being written; by default, of any file
function M.clean(path, name)
  local start = name and name .. "." or ""
  for _, found in ipairs(M.names(path)) do
    if found:sub(1, #start) == start and found:match "%.tmp$" then
      uv.fs_unlink(path .. "/" .. found)
    end
  end
end

return M
