--- JavaScript modules, joined to one script for pages that load no other file.
local files = require "roper.system.file"
local markup = require "roper.text.markup"
local paths = require "roper.system.paths"

local M = {}

-- The path of a module that another module imports.
local function imported(path, name)
  path = path:match "^(.-)[^/]*$" .. name:gsub("^%./", "")
  local count
  repeat
    path, count = path:gsub("[^/]+/%.%./", "", 1)
  until count == 0
  return path
end

-- Appends a module after those that it imports, each in a scope of its own.
local function add(path, parts, seen)
  if seen[path] then
    return
  end
  seen[path] = true
  local source = assert(files.read(paths.LIBRARY .. "/" .. path), path)
  source = source:gsub('import %b{} from "([^"]+)";\n', function(name)
    add(imported(path, name), parts, seen)
    return ""
  end)
  local names = {}
  source = ("\n" .. source):gsub("\nexport (%l[%l ]*) ([%w_]+)", function(kind, name)
    names[#names + 1] = name
    return ("\n%s %s"):format(kind, name)
  end)
  local exported = table.concat(names, ", ")
  parts[#parts + 1] = names[1]
    and ("const { %s } = (() => {%sreturn { %s };\n})();\n"):format(exported, source, exported)
    or ("(() => {%s})();\n"):format(source)
end

-- A line of code without the blanks that have no meaning. Lines with templates, regular
-- expressions or escapes stay as they are.
local function dense(line)
  return line:find "[\\'`/]" and line or (line:gsub('([^"]*)("?[^"]*"?)', function(code, text)
    return code:gsub(" ?([=*<>?:,;(){}|&![%]]) ?", "%1") .. text
  end))
end

--- A script that runs a module and those that it imports. Imports have the form
--- `import { a, b } from "./NAME.mjs";`; what a module exports is declared as `export const`,
--- `export function` or `export class`. All exported names must differ. No template has a line
--- break in its text.
---@param ... string names of modules, relative to the library's folder
---@return table script for an element `script`
function M.joined(...)
  local parts, seen = {}, {}
  for _, name in ipairs { ... } do
    add(name, parts, seen)
  end
  local text = table.concat(parts):gsub("\n%s*//[^\n]*", ""):gsub("\n%s+", "\n")
    :gsub("[^\n]+", dense) -- for small pages
  return markup.verbatim(('(() => {\n"use strict";\n%s})();\n'):format(text))
end

return M
