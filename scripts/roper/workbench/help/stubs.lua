--- Writes definition files for LuaLS, with which editors complete names and check types:
--- `native.lua` for functions in C, `roper.lua` for the others, `session.lua` for the globals of a
--- session.
local catalogue = require "roper.workbench.help.catalogue"
local files = require "roper.base.file"
local sources = require "roper.workbench.help.sources"
local tables = require "roper.base.tables"

local M = {}

local HEAD <const> = "-- Made by make from the documentation comments.\n"
local SESSION <const> = ([[---@meta
]] .. HEAD .. [[
roper = require %q
plot = roper.plot
help = roper.help
apropos = roper.apropos
]]):format "roper"

-- Adds the lines of a comment, without the first parameter if a method is an alias of a function.
local function add_comment(out, comment, is_method)
  local is_first, is_dropped = true, false
  for _, line in ipairs(comment.raw or {}) do
    if line:find "^@" then
      is_dropped = is_method and is_first and line:find "^@param" ~= nil
      is_first = is_first and not line:find "^@param"
    end
    if not is_dropped and not line:find "^@class" then
      out[#out + 1] = "---" .. line
    end
  end
end

-- Adds a class without methods and the classes that it extends, each once.
local function add_plain(out, name, done)
  local class = sources.classes()[name]
  if not class or done[name] or not sources.is_plain(name) or sources.native()[name] then
    return
  end
  done[name] = true
  add_plain(out, class.comment.parent, done)
  for _, field in ipairs(class.comment.fields) do
    for _, inner in ipairs(sources.class_names(field.type)) do
      add_plain(out, inner, done)
    end
  end
  for _, line in ipairs(class.comment.raw) do
    out[#out + 1] = "---" .. line
  end
  out[#out + 1] = ""
end

local function add_function(out, entry, done)
  local comment = entry.comment or { parameters = {}, results = {}, arguments = { "..." } }
  for _, parameter in ipairs(tables.joined(comment.parameters, comment.results)) do
    for _, name in ipairs(sources.class_names(parameter.type)) do
      add_plain(out, name, done)
    end
  end
  local arguments = table.move(comment.arguments, entry.same and 2 or 1, #comment.arguments, 1, {})
  add_comment(out, comment, entry.same ~= nil)
  if comment.source and entry.same then
    out[#out] = "---@source " .. comment.source
  end
  out[#out + 1] = ("function %s(%s) end"):format(entry.path, table.concat(arguments, ", "))
  out[#out + 1] = ""
end

-- Is it defined in native.lua?
local function is_native(entry)
  return sources.native()[entry.path] ~= nil
end

local function add_class(out, entry)
  out[#out + 1] = "---@class " .. entry.path
    .. (entry.comment.parent and ": " .. entry.comment.parent or "")
  if not is_native(entry) then
    add_comment(out, entry.comment)
  end
  out[#out + 1] = ("local %s = {}"):format(entry.path)
  out[#out + 1] = ""
end

--- The definitions of all public names that are not in native.lua.
---@return string lua
function M.definitions()
  local out, done = { "---@meta roper", HEAD, "---@class roper", "---@field version string",
    "local roper = {}", "" }, {}
  for _, entry in ipairs(catalogue.entries()) do
    if entry.kind == "module" and entry.path ~= "roper" then
      out[#out + 1] = "---@class " .. entry.path
      out[#out + 1] = entry.path .. " = {}"
      out[#out + 1] = ""
    elseif entry.kind == "class" then
      add_class(out, entry)
    end
  end
  for _, entry in ipairs(catalogue.entries()) do
    if (entry.kind == "function" or entry.kind == "method") and not is_native(entry) then
      add_function(out, entry, done)
    end
  end
  out[#out + 1] = "return roper\n"
  return table.concat(out, "\n")
end

--- Writes the definition files from the sources in the working directory.
---@param path string a folder
function M.write(path)
  files.make(path)
  require("roper.workbench.help.native").write({ "bindings", "core/kernels/operation", "tasks" },
    path .. "/native.lua")
  files.write(path .. "/session.lua", SESSION)
  files.write(path .. "/roper.lua", M.definitions())
end

return M
