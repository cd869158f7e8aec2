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

-- Flags for reading; without O_NONBLOCK, opening a FIFO would wait for a writer.
local READ <const> = uv.constants.O_RDONLY | uv.constants.O_NONBLOCK

-- Bytes in one read.
local CHUNK <const> = 1 << 18

-- An error message with luv's reason, without the path that may be at its end.
local function problem_of(what, path, reason, given)
  local at = reason:find(": " .. (given or path), 1, true)
  return ("cannot %s %s: %s"):format(what, path, at and reason:sub(1, at - 1) or reason)
end

local function refuse(...)
  error(problem_of(...), 0)
end

--- Information on a path.
---
--- Errors: a path that cannot be accessed; only a missing one gives nil.
---@param path string
---@return table? stat with type and size, as returned by luv; nil if nothing is there
function M.stat(path)
  local stat, message, code = uv.fs_stat(path)
  if not stat and not ABSENT[code] then
    refuse("read", path, message)
  end
  return stat
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

--- Makes a folder and its parents, unless they exist.
---@param path string
function M.make(path)
  local so_far = path:sub(1, 1) == "/" and "/" or ""
  for part in path:gmatch "[^/]+" do
    so_far = so_far .. part .. "/"
    local ok, message, code = uv.fs_mkdir(so_far, MODE)
    if not ok and code ~= "EEXIST" then
      refuse("make the folder", path, message, so_far)
    end
  end
  local stat = M.stat(path)
  if not stat or stat.type ~= "directory" then
    refuse("make the folder", path, "a file with this name exists")
  end
end

--- Makes a new folder: the first of path, path-2, path-3, ... that does not exist.
---@param path string
---@return string made its path; no other process gets the same
function M.fresh(path)
  M.make(path:match "^(.+)/" or ".")
  local number, made = 1, path
  local ok, message, code = uv.fs_mkdir(made, MODE)
  while code == "EEXIST" do
    number = number + 1
    made = ("%s-%d"):format(path, number)
    ok, message, code = uv.fs_mkdir(made, MODE)
  end
  if not ok then
    refuse("make the folder", made, message)
  end
  return made
end

--- Flushes a file, or the entries of a folder, to the disk.
---
--- Errors: a path that cannot be opened or flushed.
---@param path string
function M.sync(path)
  local descriptor, message = uv.fs_open(path, READ, 0)
  local flushed, reason = nil, message
  if descriptor then
    flushed, reason = uv.fs_fsync(descriptor)
    uv.fs_close(descriptor)
  end
  if not flushed then
    refuse("flush", path, reason)
  end
end

-- Writes a temporary file beside `path`, flushes it to the disk and reads it back.
local function write_temporary(path, text)
  local suffix = uv.random(4):gsub(".", function(byte)
    return ("%02x"):format(byte:byte())
  end)
  local temporary = ("%s.%d-%s.tmp"):format(path, uv.os_getpid(), suffix)
  local descriptor, message = uv.fs_open(temporary, "wx+", tonumber("644", 8))
  if not descriptor then
    refuse("write", path, message, temporary)
  end
  local written, reason = uv.fs_write(descriptor, text)
  local flushed, problem = uv.fs_fsync(descriptor)
  local found, trouble = uv.fs_read(descriptor, #text + 1, 0)
  uv.fs_close(descriptor)
  if written ~= #text or not flushed or found ~= text then
    uv.fs_unlink(temporary)
    reason = reason or written ~= #text and "the disk is full" or problem or trouble
    refuse("write", path, reason or "the data read back differ from the data written", temporary)
  end
  return temporary
end

-- Attempts to write a temporary file that other processes remove.
local TRIES <const> = 10

-- Writes a temporary file and moves it to its path by `put`. Another process may remove it in
-- `clean`, as a leftover; then it is written again.
local function write_with(put, path, text)
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
    refuse("write", path, message, temporary)
  end
  return done
end

--- Writes a file atomically: to a temporary file, which is flushed to the disk and renamed. Until
--- then, the file at `path` is unchanged.
---@param path string
---@param text string
function M.write(path, text)
  write_with(uv.fs_rename, path, text)
  M.sync(path:match "^(.*/)[^/]*$" or ".")
end

--- Creates a file atomically, unless it exists.
---@param path string
---@param text string
---@return boolean created false if the file exists; it is unchanged
function M.create(path, text)
  return write_with(uv.fs_link, path, text) == true
end

local CLOSING <const> = { __close = function(file) uv.fs_close(file.descriptor) end }

--- The content of a file, or why it cannot be read.
---@param path string
---@return string? text
---@return string? problem nil if nothing is there
function M.peek(path)
  local descriptor, message, code = uv.fs_open(path, READ, 0)
  if not descriptor then
    return nil, not ABSENT[code] and problem_of("read", path, message) or nil
  end
  local _ <close> = setmetatable({ descriptor = descriptor }, CLOSING)
  local kind = assert(uv.fs_fstat(descriptor)).type
  if kind ~= "file" then
    return nil, problem_of("read", path, "expected a file, got a " .. kind)
  end
  local parts, part = {}
  repeat
    part, message, code = uv.fs_read(descriptor, CHUNK)
    if not part then
      return nil, not ABSENT[code] and problem_of("read", path, message) or nil
    end
    parts[#parts + 1] = part
  until part == ""
  return table.concat(parts)
end

--- The content of a file.
---
--- Errors: a path that is not a file or cannot be read.
---@param path string
---@return string? text nil if nothing is there
function M.read(path)
  local text, problem = M.peek(path)
  if problem then
    error(problem, 0)
  end
  return text
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
  local scan, message, code = uv.fs_scandir(path)
  if not scan and not ABSENT[code] then
    refuse("list", path, message)
  end
  local names = {}
  if scan then
    for name in uv.fs_scandir_next, scan do
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

--- The names of the Lua files in a folder without ".lua", sorted.
---@param path string
---@return string[] names
function M.modules(path)
  return tables.map(M.names(path), function(name) return name:match "^(.+)%.lua$" end)
end

--- Removes a folder and the files in it, if it exists.
---@param path string
function M.remove(path)
  for _, name in ipairs(M.names(path)) do
    uv.fs_unlink(path .. "/" .. name)
  end
  uv.fs_rmdir(path)
end

--- Removes temporary files of killed processes. Call it only if no process writes there.
---@param path string of a folder
---@param name string? of the file that was being written; by default any
function M.clean(path, name)
  local start = name and name .. "." or ""
  for _, found in ipairs(M.names(path)) do
    if found:sub(1, #start) == start and found:match "%.tmp$" then
      uv.fs_unlink(path .. "/" .. found)
    end
  end
end

return M
