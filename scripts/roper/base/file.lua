--- Files and folders.
local core = require "roper.core"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"
local uv = require "luv"

local M = {}

-- Permissions of a new folder.
local MODE <const> = tonumber("755", 8)

-- Codes that say that nothing is there; the second one below /proc, of a process that has ended.
local ABSENT <const> = { ENOENT = true, ESRCH = true }

-- How files are opened to be read: a FIFO must not wait for somebody who writes to it.
local READ <const> = uv.constants.O_RDONLY | uv.constants.O_NONBLOCK

-- Bytes that are read at a time.
local CHUNK <const> = 1 << 18

-- What cannot be done, for luv's reason, which may end with the path that luv was given.
local function problem_of(what, path, reason, given)
  local at = reason:find(": " .. (given or path), 1, true)
  return ("cannot %s %s: %s"):format(what, path, at and reason:sub(1, at - 1) or reason)
end

local function refuse(...)
  error(problem_of(...), 0)
end

--- What is at a path. Like all that reads here, it takes nothing for missing that it cannot see.
---@param path string
---@return table? stat with type and size, as luv gives it; nil where nothing is there
function M.stat(path)
  local stat, message, code = uv.fs_stat(path)
  if not stat and not ABSENT[code] then
    refuse("read", path, message)
  end
  return stat
end

--- Refuse a path that is no folder, with the nearest name beside it.
---@param head string who needs it, for the message
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

--- Make a folder and those above it. A folder that is there is fine.
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
    refuse("make the folder", path, "a file of that name is there")
  end
end

--- Make a folder that was not there: the first that can be made of path, path-2, path-3, ...
---@param path string
---@return string made no other process gets the same
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

--- Flush a file, or what a folder lists, to the disk.
---
--- Errors: what cannot be opened, or flushed.
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

-- Write a file of a temporary name beside `path`, flush it to the disk and read it back.
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
    refuse("write", path, reason or "what was written reads back otherwise", temporary)
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
    refuse("write", path, message, temporary)
  end
  return done
end

--- Write a whole file at once: to a temporary name, flushed to the disk, then renamed. What is at
--- `path` stays untouched until then.
---@param path string
---@param text string
function M.write(path, text)
  place(path, text, uv.fs_rename)
  M.sync(path:match "^(.*/)[^/]*$" or ".")
end

--- Write a whole file at once where none is.
---@param path string
---@param text string
---@return boolean created false where one of that name was there; it is as it was
function M.create(path, text)
  return place(path, text, uv.fs_link) == true
end

local CLOSING <const> = { __close = function(file) uv.fs_close(file.descriptor) end }

--- A whole file, or why it cannot be read.
---@param path string
---@return string? text
---@return string? problem nil too where nothing is there
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

--- A whole file.
---
--- Errors: what is no file, or cannot be read.
---@param path string
---@return string? text nil where nothing is there
function M.read(path)
  local text, problem = M.peek(path)
  if problem then
    error(problem, 0)
  end
  return text
end

--- The table that JSON text stands for.
---@param text string
---@return table? content nil where the text is damaged, or another value's
function M.parse(text)
  local ok, content = pcall(core.json_decode, text)
  if not ok and not content:find "^json_decode: " then
    error(content, 0) -- it says nothing of the text
  end
  return ok and type(content) == "table" and content or nil
end

--- A file of JSON.
---@param path string
---@return table? content nil where there is no file, or a damaged one
function M.decode(path)
  local text = M.read(path)
  return text and M.parse(text)
end

--- The names in a folder, sorted.
---@param path string
---@return string[] names none where there is no folder
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

--- The Lua files in a folder: their names without the ending, sorted.
---@param path string
---@return string[] names
function M.modules(path)
  return tables.map(M.names(path), function(name) return name:match "^(.+)%.lua$" end)
end

--- Remove a folder of files, where there is one.
---@param path string
function M.remove(path)
  for _, name in ipairs(M.names(path)) do
    uv.fs_unlink(path .. "/" .. name)
  end
  uv.fs_rmdir(path)
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
