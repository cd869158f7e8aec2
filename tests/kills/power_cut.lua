-- Rebuilds a folder as a power cut may leave it.
--
-- What a program flushed survives: the content that a file had at its last fsync, and the names
-- that a folder had at its last fsync. Everything else may have reached the disk or not: each
-- later creation, renaming and removal independently, and each sector of 512 bytes of later data;
-- a sector that did not is as it was before, or zero beyond the former end. So a new name can have
-- the old content, or none. Only the order of fsync and later calls is guaranteed.

local files = require("roper.system.file")
local tables = require("roper.base.tables")
local uv = require("luv")

local M = {}

local SECTOR <const> = 512

--- The ways to choose: nothing reached the disk that was not flushed; names did, data did not;
--- chance decides.
M.MODES = { "lost", "reordered", "mixed" }

local function read(path)
  local file <close> = io.open(path, "rb")
  return file and file:read("a")
end

local function inode_of(path)
  return uv.fs_lstat(path).ino
end

-- The content after a cut of a file that had the content `old` at its last flush.
local function content(old, new, is_kept)
  if old == new then
    return old
  end
  local parts, size = {}, is_kept() and #new or #old
  for first = 1, size, SECTOR do
    local last = math.min(first + SECTOR - 1, size)
    local part = (is_kept() and new or old):sub(first, last)
    parts[#parts + 1] = part .. ("\0"):rep(last - first + 1 - #part)
  end
  return table.concat(parts)
end

-- The entries of a folder after a cut: a sorted list of {name, inode}. `path` is nil if the folder
-- was removed.
local function entries(path, flushed, keeps_name)
  local now, before, all = {}, {}, {}
  for _, name in ipairs(path and files.names(path) or {}) do
    now[name], all[name] = inode_of(path .. "/" .. name), true
  end
  for inode, name in (flushed or ""):gmatch("(%d+) ([^\n]*)\n") do
    before[name], all[name] = math.tointeger(inode), true
  end
  return tables.map(tables.keys(all), function(name)
    local inode = before[name]
    if before[name] ~= now[name] and keeps_name() then
      inode = now[name]
    end
    return inode and { name, inode } or nil
  end)
end

-- Finds the folders and the current content of files below a folder, by inode.
local function survey(path, folders, contents)
  folders[inode_of(path)] = path
  for _, name in ipairs(files.names(path)) do
    local inner = path .. "/" .. name
    if uv.fs_lstat(inner).type == "directory" then
      survey(inner, folders, contents)
    else
      contents[inode_of(inner)] = read(inner)
    end
  end
end

-- Writes a tree: text of a file, or a list of {name, tree}.
local function write(path, tree)
  if type(tree) == "string" then
    local file <close> = assert(io.open(path, "wb"))
    file:write(tree)
    return
  end
  uv.fs_mkdir(path, 493)
  for _, entry in ipairs(tree) do
    write(path .. "/" .. entry[1], entry[2])
  end
end

--- Rebuild a folder of processes that were killed.
---@param folder string
---@param disk string the folder of flushed content that the watcher wrote
---@param mode string
---@param random fun(integer): integer like math.random
function M.apply(folder, disk, mode, random)
  local folders, contents = {}, {}
  survey(folder, folders, contents)
  local function chance() return mode == "mixed" and random(2) == 1 end
  local function keeps_name() return mode == "reordered" or chance() end
  local function tree_of(inode)
    local flushed = read(("%s/%d.names"):format(disk, inode))
    if folders[inode] or flushed then
      return tables.map(entries(folders[inode], flushed, keeps_name), function(entry)
        return { entry[1], tree_of(entry[2]) }
      end)
    end
    local old = read(("%s/%d"):format(disk, inode)) or ""
    return content(old, contents[inode] or old, chance)
  end
  local tree = tree_of(inode_of(folder))
  assert(os.execute(("find '%s' -mindepth 1 -delete"):format(folder)))
  write(folder, tree)
end

return M
