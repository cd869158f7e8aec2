--- Lua files run by the option --load, such as one that registers a position scheme, with their
--- names and contents.
local files = require "roper.system.file"
local hash = require "roper.base.hash"
local registered = require "roper.options.registered"
local scoped = require "roper.base.scoped"
local tables = require "roper.base.tables"

local M = {}

---@class LoadedFile
---@field name string of a file given to --load; for a module its path in that folder
---@field is_module boolean
---@field text string its content when it was run
---@field hash string of the content

local paths, folders = {}, {} -- of the files given to --load
local loaded = {} ---@type LoadedFile[]
local known = {} -- absolute paths in `loaded`, as keys

-- The folder of roper's own Lua files. They are not recorded, since a run records their commit.
local OWN <const> = (files.real(require("roper.system.paths").LIBRARY) or ""):match "^(.*)/"

local function is_below(path, folder)
  return path:sub(1, #folder + 1) == folder .. "/"
end

local function record(path, name, text, is_module)
  if not known[path] then
    known[path] = true
    loaded[#loaded + 1] = { name = name, text = text, hash = hash.of(text), is_module = is_module }
  end
end

-- Records a file that a loaded file uses, if it is in the folder of a loaded file or below.
local function record_used(path)
  local full = path and files.real(path)
  for _, folder in ipairs(full and not is_below(full, OWN) and folders or {}) do
    local text = is_below(full, folder) and files.read(full)
    if text then
      return record(full, full:sub(#folder + 2), text, true)
    end
  end
end

-- Calls f, and records the files that it runs by `require`, `dofile` and `loadfile`. `folder`: of
-- the file that f runs, "" or with a slash at its end. Relative paths are looked up there first, so
-- that the copies in a run's folder run each other.
local function recording(f, folder)
  local before, is_active = {}, true
  local function wrap(name, convert, path_of)
    before[name] = _G[name]
    _G[name] = function(what, ...)
      if is_active and type(what) == "string" then
        what = convert(what)
        record_used(path_of(what))
      end
      return before[name](what, ...)
    end
  end
  local function itself(name) return name end
  local function beside(path)
    return path:sub(1, 1) ~= "/" and files.exists(folder .. path) and folder .. path or path
  end
  wrap("dofile", beside, itself)
  wrap("loadfile", beside, itself)
  wrap("require", itself, function(name) return (package.searchpath(name, package.path)) end)
  scoped.finally(f, function()
    is_active = false -- f may have kept a wrapped function
    for name, original in pairs(before) do
      _G[name] = original
    end
  end)
end

--- Runs a file with the globals of scripts and records it, with the modules and files of its folder
--- that it runs by `require`, `dofile` and `loadfile`. Relative paths of the latter two are looked
--- up in that folder first. A file that was run before is skipped.
--- Prints a note if the file registers nothing.
---
--- Errors: a file that does not exist or does not compile; an error in the file.
---@param path string
function M.run(path)
  local full = files.real(path) or path
  if tables.set(paths)[full] then
    return
  end
  local text = files.read(path) or error(("--load: there is no file %s"):format(path), 0)
  local chunk, message = load(text, "@" .. path)
  if not chunk then
    error("--load: " .. message, 0)
  end
  require("roper.system.module_path").add_folder_of(path)
  record(full, full:match "[^/]*$", text, false)
  folders[#folders + 1] = full:match "^(.*)/"
  local before = registered.count()
  recording(chunk, path:match "^.*/" or "")
  if registered.count() == before then
    io.stderr:write(("--load: %s registered no position scheme, task, experiment or model\n")
      :format(require("roper.base.escape").line(path)))
  end
  paths[#paths + 1] = full
end

--- The absolute paths of the files that were run.
---@return string[]
function M.paths()
  return table.move(paths, 1, #paths, 1, {})
end

--- The files that were run, sorted by name, then their modules.
---@return LoadedFile[]
function M.files()
  local list = table.move(loaded, 1, #loaded, 1, {})
  table.sort(list, function(a, b)
    if a.is_module ~= b.is_module then
      return b.is_module
    end
    return a.name .. " " .. a.hash < b.name .. " " .. b.hash
  end)
  return list
end

--- Names and hashes of the files and their modules, which identify what was loaded:
--- "near.lua 5a1fb5d27b6c2f10, module shapes/square.lua 0c41a77be2f03d95".
---@return string? text nil without files
function M.text()
  return loaded[1] and table.concat(tables.map(M.files(), function(file)
    return ("%s%s %s"):format(file.is_module and "module " or "", file.name, file.hash)
  end), ", ") or nil
end

--- The hashes in a text from `text`, by name.
---@param text string?
---@return table<string, string> hashes
function M.parse(text)
  local hashes = {}
  for name, digits in (text or ""):gmatch "([^,]+) (%x+)" do
    name = name:match "^%s*(.*)$"
    hashes[name] = (hashes[name] and hashes[name] .. " " or "") .. digits -- of files of one name
  end
  return hashes
end

--- The files in a text from `text` that are loaded with another content.
---@param text string?
---@return string? edited nil if there are none
function M.edited(text)
  local was, now, list = M.parse(text), M.parse(M.text()), {}
  for _, name in ipairs(tables.keys(was)) do
    list[#list + 1] = now[name] and now[name] ~= was[name]
      and ("%s %s, now %s"):format(name, was[name], now[name]) or nil
  end
  return list[1] and table.concat(list, "; ") or nil
end

--- The --load options of a command line that runs the same files.
---@return string words each with a space in front; "" without files
function M.words()
  local word = require("roper.base.escape").word
  return table.concat(tables.map(paths, function(path) return " --load " .. word(path) end))
end

return M
