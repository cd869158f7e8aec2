--- Writes the files of a report into a folder of the user, without overwriting files of others.
local core = require "roper.core"
local files = require "roper.system.file"
local hash = require "roper.base.hash"
local tables = require "roper.base.tables"

local M = {}

-- Lists the files that a report wrote into the folder, with the hashes of their contents.
local LIST <const> = "roper-report.json"

-- Returns the hashes of the contents that a report may have written, by file; nil if the folder
-- contains another list.
local function read_list(folder)
  local path = folder .. "/" .. LIST
  if not files.stat(path) then
    return {}
  end
  local content = files.decode(path)
  return content and type(content.files) == "table" and content.files or nil
end

local function write_list(folder, written)
  files.write(folder .. "/" .. LIST, core.json_encode({ files = written }, { indent = 2 }) .. "\n")
end

-- Returns the names of files that exist and were not written by a report, or were changed since.
local function foreign(folder, contents, known)
  return tables.map(tables.keys(contents), function(name)
    local text = files.read(folder .. "/" .. name)
    local hashes = type(known[name]) == "table" and known[name] or {}
    return text and text ~= contents[name] and not tables.set(hashes)[hash.of(text)] and name or nil
  end)
end

--- Writes files into a folder, which is made if it is missing. Each file is written whole. Files
--- that an earlier report wrote are replaced.
---
--- Errors, before any file is written: a file of the same name that no report has written, or that
--- was changed since.
---@param folder string
---@param contents table<string, string> text by name
---@return integer count of the files
function M.write(folder, contents)
  if folder == "" then
    error("report: expected the name of a folder, got an empty one", 0)
  end
  folder = folder:gsub("(.)/+$", "%1")
  files.make(folder)
  local known = read_list(folder)
  local others = known and foreign(folder, contents, known) or { LIST }
  if #others > 0 then
    error(("report: %s already contains %s, which no report has written or which was changed "
      .. "since; move it, or choose another folder"):format(folder, table.concat(others, ", ")), 0)
  end
  local written, during = tables.merged(known), tables.merged(known)
  for name, text in pairs(contents) do
    written[name] = { hash.of(text) }
    during[name] = tables.joined(written[name], known[name] or {})
  end
  write_list(folder, during) -- if this process is killed, either content counts as its own
  for _, name in ipairs(tables.keys(contents)) do
    files.write(folder .. "/" .. name, contents[name])
  end
  write_list(folder, written)
  return tables.count(contents)
end

return M
