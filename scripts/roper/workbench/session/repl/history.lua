--- History of input, kept in a file between sessions. Each line is an entry; newlines in an entry
--- are written as \n.
local files = require "roper.system.file"
local tables = require "roper.base.tables"

local M = {}

local KEPT <const> = 1000 -- entries; a file with more than twice as many is cut

local ESCAPES <const> = { ["\\"] = "\\\\", ["\n"] = "\\n" }
local UNESCAPES <const> = { ["\\\\"] = "\\", ["\\n"] = "\n" }

local function escaped(entry)
  return (entry:gsub("[\\\n]", ESCAPES))
end

local function rewrite(path, entries)
  local lines = tables.map(entries, function(entry) return escaped(entry) .. "\n" end)
  pcall(files.write, path, table.concat(lines))
end

--- The entries of the file, oldest first. Of equal entries, only the newest is returned.
---@param path string
---@return string[] entries empty if there is no file
---@return string? problem why the file cannot be read
function M.load(path)
  local text, problem = files.peek(path)
  local lines = {}
  for line in (text or ""):gmatch "[^\n]+" do
    lines[#lines + 1] = line
  end
  local entries, seen = {}, {}
  for i = #lines, 1, -1 do
    if not seen[lines[i]] and #entries < KEPT then
      seen[lines[i]] = true
      table.insert(entries, 1, (lines[i]:gsub("\\[\\n]", UNESCAPES)))
    end
  end
  if #lines > 2 * KEPT then
    rewrite(path, entries)
  end
  return entries, problem
end

--- Appends an entry to the file. Does nothing if the file cannot be written.
---@param path string
---@param entry string
function M.append(path, entry)
  local file = io.open(path, "a")
  if not file then
    pcall(files.make, path:match "^(.*)/")
    file = io.open(path, "a")
  end
  if file then
    file:write(escaped(entry), "\n")
    file:close()
  end
end

return M
