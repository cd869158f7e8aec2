--- Lua files run by the option --load, such as one that registers a position scheme, with their
--- names and hashes.
local files = require "roper.base.file"
local hash = require "roper.base.hash"
local registered = require "roper.base.registered"
local tables = require "roper.base.tables"
local uv = require "luv"

local M = {}

local paths, names = {}, {}

--- Runs a file with the globals of scripts and records it. A file that was run before is skipped.
--- Prints a note if the file registers nothing.
---
--- Errors: a file that does not exist or does not compile; an error in the file.
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
  local before = registered.count()
  chunk()
  if registered.count() == before then
    io.stderr:write(("--load: %s registered no position scheme, task, experiment or model\n")
      :format(require("roper.base.escape").line(path)))
  end
  paths[#paths + 1] = full
  names[#names + 1] = ("%s %s"):format(full:match "[^/]*$", hash.of(text))
end

--- The absolute paths of the files that were run.
---@return string[]
function M.paths()
  return table.move(paths, 1, #paths, 1, {})
end

--- Names and hashes of the files, for the provenance of a run: "near.lua 5a1fb5d27b6c2f10".
---@return string? text nil without files
function M.text()
  return names[1] and table.concat(names, ", ") or nil
end

--- The --load options of a command line that runs the same files.
---@return string words each with a space in front; "" without files
function M.words()
  local word = require("roper.base.escape").word
  return table.concat(tables.map(paths, function(path) return " --load " .. word(path) end))
end

return M
