--- Parser of documentation comments. They are comments of LuaLS, lines with `---` above a function,
--- in this form:
---
---     --- A sentence that describes the function. More paragraphs, one with "Errors: ...".
---     ---
---     ---     a formula, indented by four spaces
---     ---
---     ---     > an.example()
---     ---     the output of the session
---     ---@param name? type = default; description, shapes in brackets
---     ---@return type name description
---
--- The options of a function are rows of `options.define`, which gives comments of the same form.
--- Other tables have a class with a `---@field` line for each field, in the form of `---@param`.
local escape = require "roper.base.escape"

local M = {}

---@class Parameter an argument, an option or a result
---@field name string "" for a result without a name
---@field type string without a final "?"
---@field optional boolean
---@field default string? as Lua
---@field text string

---@class Comment
---@field name string? of the documented function or class: "M.eye", "Linear:forward"
---@field arguments string[]? of a function, or of the function that the file makes
---@field class string? name of the class that is documented
---@field parent string? name of the class that it extends
---@field parameters Parameter[]
---@field fields Parameter[]
---@field results Parameter[]
---@field text string[] lines of prose, formulas and examples
---@field source string? file and line of the implementation in C
---@field file string? that contains the comment
---@field raw string[] the lines without dashes
---@field line integer of the documented function

-- Splits a text into the type at its start and the rest. A type has spaces only inside brackets and
-- quotes, and after the colon and the commas of a function's results.
local function split_type(text)
  local depth, quoted, i = 0, false, 1
  while i <= #text do
    local c = text:sub(i, i)
    if c == '"' then
      quoted = not quoted
    elseif not quoted and c:find "[%(%[{<]" then
      depth = depth + 1
    elseif not quoted and c:find "[%)%]}>]" then
      depth = depth - 1
    elseif c == " " and depth <= 0 and not quoted then
      local before = text:sub(1, i - 1)
      if not before:find ":$" and not before:find "^fun%b():.*,$" then
        break
      end
    end
    i = i + 1
  end
  return text:sub(1, i - 1), text:sub(i + 1)
end

-- Parses "type = default; text". A "?" after the name or the type makes the parameter optional; a
-- "?" at the end of a function type belongs to its result.
local function parameter(name, rest)
  local kind, text = split_type(rest)
  local is_open = kind:find "%?$" ~= nil and not kind:find "^fun%b():"
  local bare = name:gsub("%?$", "")
  local default = text:match "^= ([^;]*)"
  return {
    name = bare,
    type = is_open and kind:sub(1, -2) or kind,
    optional = bare ~= name or is_open,
    default = default,
    text = default and text:gsub("^= [^;]*;?%s*", "") or text,
  }
end

local tags = {}

-- A parser of tags "name type ..." that adds to a list of the comment.
local function adds_to(list)
  return function(comment, rest)
    local name, more = rest:match "^(%S+)%s+(.*)$"
    if name then
      table.insert(comment[list], parameter(name, more))
    end
  end
end

tags.param, tags.field = adds_to "parameters", adds_to "fields"

tags["return"] = function(comment, rest)
  local kind, text = split_type(rest)
  local name, meaning = text:match "^([%a_][%w_]*)%s*(.*)$"
  if not name then
    name, meaning = text:match "^(%.%.%.)%s*(.*)$"
  end
  table.insert(comment.results, parameter(name or "", kind .. " " .. (meaning or text)))
end

function tags.class(comment, rest)
  local name, more = rest:match "^([%w_.]+)(.*)$"
  local parent, text = (more or ""):match "^:%s*([%w_.]+)(.*)$"
  text = (text or more or ""):match "^%s*(.*)$"
  comment.class, comment.name, comment.parent = name, name, parent
  if text ~= "" then
    table.insert(comment.text, text)
  end
end

function tags.source(comment, rest)
  comment.source = rest
end

-- Parses the lines of a comment, without dashes; `line` is that of the documented function.
local function read(lines, line)
  local comment = { parameters = {}, fields = {}, results = {}, text = {}, raw = lines,
    line = line }
  local found = {} -- tags with their texts
  for _, text in ipairs(lines) do
    local name, rest = text:match "^@(%a+)%s*(.*)$"
    local last = found[#found]
    if name then
      found[#found + 1] = { name = name, text = rest }
    elseif last then
      last.text = last.text .. " " .. text:match "^%s*(.*)$"
    else
      table.insert(comment.text, (text:gsub("^ ", "")))
    end
  end
  for _, tag in ipairs(found) do
    if tags[tag.name] then
      tags[tag.name](comment, tag.text)
    end
  end
  while comment.text[#comment.text] == "" do
    table.remove(comment.text)
  end
  for i, one in ipairs(comment.parameters) do
    comment.arguments = comment.arguments or {}
    comment.arguments[i] = one.name
  end
  return comment
end

-- The name and the arguments of the function that starts at a line, or the name of the variable
-- that is assigned there.
local function signature(lines, line)
  local code = table.concat(lines, " ", line, math.min(line + 3, #lines))
  for _, form in ipairs { "function%s+([%w_.:]+)%s*", "local%s+function%s+([%w_]+)%s*",
    "([%w_.]+)%s*=%s*function%s*" } do
    local name, arguments = code:match("^%s*" .. form .. "%((.-)%)")
    if name then
      local list = {}
      for argument in arguments:gmatch "[%w_.]+" do
        list[#list + 1] = argument
      end
      return name, list
    end
  end
  return code:match "^%s*([%w_.]+)%s*=%f[^=]"
end

--- The documentation comments of a file, in order.
---@param source string its text
---@return Comment[] comments the first is that of the file itself, if it has one
function M.parse(source)
  local lines, comments, block = escape.lines(source), {}, {}
  for i, line in ipairs(lines) do
    local text = line:match "^%s*%-%-%-(.*)$"
    if text then
      block[#block + 1] = text
    elseif #block > 0 then
      local comment = read(block, i)
      local name, arguments = signature(lines, i)
      comment.name = comment.class or name
      comment.arguments = arguments or comment.arguments
      comments[#comments + 1] = comment
      block = {}
    end
  end
  return comments
end

--- The first sentence of a comment.
---@param comment Comment
---@return string
function M.summary(comment)
  local words = {}
  for _, line in ipairs(comment.text) do
    if line == "" or line:find "^    " then
      break
    end
    words[#words + 1] = line
  end
  local text = table.concat(words, " ")
  return text:match "^(.-%.)%s+[%u`]" or text
end

---@class Block
---@field kind "prose"|"errors"|"formula"|"example"
---@field lines string[] of a formula or an example; for prose, one line with the whole text

-- The kind of a line after a line of kind `last`. All indented lines after the start of an example
-- belong to it.
local function kind_of(line, last)
  if line:find "^    " then
    return (last == "example" or line:find "^    >") and "example" or "formula"
  elseif line:find "^Errors:" then
    return "errors"
  end
  return last == "errors" and last or "prose"
end

--- Splits the text of a comment into paragraphs, formulas and examples.
---@param comment Comment
---@return Block[]
function M.blocks(comment)
  local blocks, current, gap = {}, nil, false
  for _, line in ipairs(comment.text) do
    local kind = line ~= "" and kind_of(line, current and (not gap or current.kind == "example")
      and current.kind)
    if not kind then
      gap = true
    elseif current and kind == current.kind and (not gap or kind == "example") then
      local is_prose = kind == "prose" or kind == "errors"
      if is_prose then
        current.lines[1] = current.lines[1] .. " " .. line
      else
        current.lines[#current.lines + 1] = gap and "" or nil
        table.insert(current.lines, (line:gsub("^    ", "")))
      end
      gap = false
    else
      local text = line:gsub("^    ", ""):gsub("^Errors:%s*", "")
      current, gap = { kind = kind, lines = { text } }, false
      blocks[#blocks + 1] = current
    end
  end
  return blocks
end

return M
