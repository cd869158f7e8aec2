--- The documentation of functions that C implements. It stands in block comments of the bindings
--- and of the rows of operations, above the function or its row in a table, in the form of
--- comment.lua without the dashes:
---
---     /*
---     ** function roper.eye(n, dtype)
---     ** The unit matrix.
---     **
---     **     > roper.eye(1)
---     **     float32 [1, 1]
---     **     1
---     ** @param n integer
---     ** @return tensor [n, n]
---     */
---
--- A comment that starts with `@class` tells of a class. `make` turns all of them into a file of
--- definitions that LuaLS and `help` read.
local files = require "roper.base.file"
local printable = require "roper.base.printable"

local M = {}

-- The lines inside a block comment, without its stars, and where its code starts; nil where the
-- line starts none.
local function block_at(lines, first)
  if not lines[first]:find "^%s*/%*%s*$" then
    return nil
  end
  local block, i = {}, first + 1
  while lines[i] and not lines[i]:find "%*/%s*$" do
    block[#block + 1] = lines[i]:match "^%s*%*%*%s?(.*)$" or ""
    i = i + 1
  end
  return block, i + 1
end

-- Add the definition of a documented function or class.
local function define(out, classes, block, place)
  local head = block[1] or ""
  local class = head:match "^@class%s+([%w_.]+)"
  local path = head:match "^function%s+([%w_.:]+)%("
  if not class and not path then
    return
  end
  local is_prose = true
  for i = 2, #block do
    if class and is_prose and block[i]:find "^@" then
      out[#out + 1] = "---" .. head
    end
    is_prose = is_prose and not block[i]:find "^@"
    out[#out + 1] = block[i]:find "^@" and "---" .. block[i]
      or ("--- " .. block[i]):gsub("%s+$", "")
  end
  if class and is_prose then
    out[#out + 1] = "---" .. head
  end
  if path then
    out[#out + 1] = "---@source " .. place
    out[#out + 1] = head .. " end"
  elseif classes[class] then
    out[#out + 1] = (class:find "%." and "%s = {}" or "local %s = {}"):format(class)
  end
  out[#out + 1] = ""
end

-- The names before a dot or a colon in the documented functions of a source.
local function note_classes(classes, source)
  for path in source:gmatch "%*%*%s?function%s+([%w_.:]+)[.:][%w_]+%(" do
    classes[path] = true
  end
end

--- The definitions of what C sources document.
---@param sources table[] {name =, text =} each
---@return string lua
function M.definitions(sources)
  local classes = {}
  for _, source in ipairs(sources) do
    note_classes(classes, source.text)
  end
  local out = { "---@meta", "-- Made by make from the comments of the bindings.", "",
    "---@class roper", "local roper = {}", "" }
  for _, wanted in ipairs { "@class", "function" } do -- classes before their methods
    for _, source in ipairs(sources) do
      local lines = printable.lines(source.text)
      for i = 1, #lines do
        local block, code = block_at(lines, i)
        if block and (block[1] or ""):find(wanted, 1, true) == 1 then
          define(out, classes, block, ("%s:%d"):format(source.name, code))
        end
      end
    end
  end
  return table.concat(out, "\n")
end

--- Write the definitions of the C sources of folders.
---@param folders string[] such as "bindings"
---@param path string
function M.write(folders, path)
  local names = {}
  for _, name in ipairs(folders) do
    for _, file in ipairs(files.names(name)) do
      names[#names + 1] = file:match "%.[ch]$" and name .. "/" .. file or nil
    end
  end
  table.sort(names)
  local sources = {}
  for i, name in ipairs(names) do
    sources[i] = { name = name, text = files.read(name) }
  end
  files.write(path, M.definitions(sources))
end

return M
