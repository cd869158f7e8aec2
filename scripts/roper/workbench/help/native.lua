--- Extracts the documentation of functions in C. It is in block comments above the function or its
--- row in a table, in the form of comment.lua without dashes:
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
--- A last line `@like roper.zeros` is replaced by the errors and the tags of that function. A
--- comment that starts with `@class` documents a class. `make` writes all of them to a definition
--- file for LuaLS and `help`.
local files = require "roper.base.file"
local escape = require "roper.base.escape"

local M = {}

-- The lines inside the block comment that begins at a line, without stars, and the line of the code
-- after it. Nil if no comment begins there.
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

-- The documented functions and classes of the sources: their lines, path or class, and the place of
-- the code.
local function blocks_of(sources)
  local blocks = {}
  for _, source in ipairs(sources) do
    local lines = escape.lines(source.text)
    for i = 1, #lines do
      local block, code = block_at(lines, i)
      local head = block and block[1] or ""
      local class, path = head:match "^@class%s+([%w_.]+)", head:match "^function%s+([%w_.:]+)%("
      if class or path then
        blocks[#blocks + 1] = { lines = block, class = class, path = path,
          place = ("%s:%d"):format(source.name, code) }
      end
    end
  end
  return blocks
end

-- Replaces a last line `@like path` by the errors and the tags of that function.
local function complete(block, by_path)
  local lines = block.lines
  local path = lines[#lines]:match "^@like%s+(%S+)$"
  if not path then
    return
  end
  local like = by_path[path] or error(("%s: @like %s: no such function"):format(block.place, path))
  local example, part = 1, nil
  complete(like, by_path)
  table.remove(lines)
  while lines[example] and not lines[example]:find "^    >" do
    example = example + 1
  end
  for _, line in ipairs(like.lines) do
    part = line:find "^Errors:" and "errors" or line:find "^@" and "tags" or part
    if part == "tags" then
      lines[#lines + 1] = line
    elseif part == "errors" then
      table.insert(lines, example, line)
      example, part = example + 1, line ~= "" and part or nil
    end
  end
end

-- Adds the definition of a function or class.
local function define(out, classes, block)
  local lines, class = block.lines, block.class
  local is_prose = true
  for i = 2, #lines do
    if class and is_prose and lines[i]:find "^@" then
      out[#out + 1] = "---" .. lines[1]
    end
    is_prose = is_prose and not lines[i]:find "^@"
    out[#out + 1] = lines[i]:find "^@" and "---" .. lines[i]
      or ("--- " .. lines[i]):gsub("%s+$", "")
  end
  if class and is_prose then
    out[#out + 1] = "---" .. lines[1]
  end
  if block.path then
    out[#out + 1] = "---@source " .. block.place
    out[#out + 1] = lines[1] .. " end"
  elseif classes[class] then
    out[#out + 1] = (class:find "%." and "%s = {}" or "local %s = {}"):format(class)
  end
  out[#out + 1] = ""
end

--- The definitions of the functions and classes that C sources document.
---@param sources table[] tables with `name` and `text`
---@return string lua
function M.definitions(sources)
  local blocks, by_path, classes = blocks_of(sources), {}, {}
  for _, block in ipairs(blocks) do
    if block.path then
      by_path[block.path], classes[block.path:match "^(.*)[.:]"] = block, true
    end
  end
  local out = { "---@meta", "-- Made by make from the comments of the bindings.", "",
    "---@class roper", "local roper = {}", "" }
  for _, wanted in ipairs { "class", "path" } do -- classes before their methods
    for _, block in ipairs(blocks) do
      if block[wanted] then
        complete(block, by_path)
        define(out, classes, block)
      end
    end
  end
  return table.concat(out, "\n")
end

--- Writes the definitions of the C sources in folders.
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
