--- The files of --load that made a run: their names and hashes in its configuration, and copies of
--- them in its folder.
local escape = require "roper.base.escape"
local files = require "roper.system.file"
local load_option = require "roper.options.load_option"
local parse = load_option.parse
local tables = require "roper.base.tables"

local M = {}

--- Name of the folder with the copies, in the folder of a run.
M.FOLDER = "loaded"

--- Returns the names and hashes of the files that are loaded, with those of their modules.
---@return string? text nil without files
function M.now()
  return load_option.text()
end

--- Returns the names in a text that describes loaded files, without modules.
---@param text string? such as "near.lua 5a1fb5d27b6c2f10"
---@return string names such as "near.lua"; "no files" for nil
function M.names(text)
  local names = tables.map(tables.keys(parse(text)), function(name)
    return not name:find "^module " and name or nil
  end)
  return names[1] and table.concat(names, ", ") or "no files"
end

--- Returns true if two texts describe files of the same names.
function M.same_names(a, b)
  return M.names(a) == M.names(b)
end

--- Returns the options that load a run's copies of its files.
---@param folder string of the run
---@param text string? that describes its loaded files
---@return string options each with a space in front; "" without copies
function M.copies(folder, text)
  local options = {}
  for _, name in ipairs(tables.keys(parse(text))) do
    local path = ("%s/%s/%s"):format(folder, M.FOLDER, name)
    options[#options + 1] = not name:find "^module " and files.stat(path)
      and " --load " .. escape.word(escape.line(path)) or nil
  end
  return table.concat(options)
end

--- Returns how the loaded files differ from those that made a run.
---@param folder string of the run
---@param text string? that describes the files of the run
---@return string? difference nil if there is none
---@return boolean is_edited true if a file is loaded with another content
function M.difference(folder, text)
  local wanted, now = parse(text), parse(load_option.text())
  local list, is_edited = {}, false
  for _, name in ipairs(tables.keys(wanted, now)) do
    local was, is = wanted[name], now[name]
    if was ~= is then
      list[#list + 1] = not was and ("without %s"):format(name)
        or ("with %s %s, %s"):format(name, was, is and "now " .. is or "not loaded now")
      is_edited = is_edited or was ~= nil and is ~= nil
    end
  end
  if not list[1] then
    return nil, false
  end
  local copies = M.copies(folder, text)
  return ("made %s%s"):format(escape.line(table.concat(list, "; ")),
    copies ~= "" and "; the run keeps a copy:" .. copies or ""), is_edited
end

--- Raises an error unless the loaded files are those that made a run.
---@param run Run
function M.require(run)
  local difference = M.difference(run.folder, run.config.loaded)
  if difference then
    error(("%s: %s; resume it with the same files, or start a new run"):format(
      escape.line(run.folder), difference), 0)
  end
end

--- Writes copies of the loaded files into the folder of a run.
---@param folder string
function M.keep(folder)
  for _, file in ipairs(load_option.files()) do
    local path = ("%s/%s/%s"):format(folder, M.FOLDER, file.name)
    files.make(path:match "^(.*)/")
    if not files.create(path, file.text) and files.read(path) ~= file.text then
      files.write(("%s.%s"):format(path, file.hash), file.text)
    end
  end
end

return M
