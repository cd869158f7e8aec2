--- Lua files that a command runs first, such as one that registers a position scheme: what they
--- are called, and what was in them.
local files = require "roper.base.file"
local hash = require "roper.base.hash"
local tables = require "roper.base.tables"
local uv = require "luv"

local M = {}

local paths, names = {}, {}

--- Run a file, once, with the globals of scripts, and remember it.
---@param path string
function M.run(path)
  local full = uv.fs_realpath(path) or path
  if tables.set(paths)[full] then
    return
  end
  local text = files.read(path) or error(("--load: there is no file %s"):format(path), 0)
  local chunk, message = load(text, "@" .. path)
  if not chunk then
    error("--load: " .. message, 0)
  end
  require("roper.base.module_path").add_folder_of(path)
  chunk()
  paths[#paths + 1] = full
  names[#names + 1] = ("%s %s"):format(full:match "[^/]*$", hash.of(text))
end

--- The files that were run, with their whole paths.
---@return string[]
function M.paths()
  return table.move(paths, 1, #paths, 1, {})
end

--- What was run, for the provenance of a run: "near.lua 5a1fb5d27b6c2f10".
---@return string? text nil where nothing was
function M.text()
  return names[1] and table.concat(names, ", ") or nil
end

--- The words of a command line that run the same files.
---@return string words "" where there are none, else with a space before each
function M.words()
  local word = require("roper.base.escape").word
  return table.concat(tables.map(paths, function(path) return " --load " .. word(path) end))
end

return M
