--- Finds documentation comments by file, function and class. The comments of C functions are in a
--- definition file that `make` writes.
local arity = require "roper.options.arity"
local comment_of = require "roper.workbench.help.comment"
local diagnostics = require "roper.text.diagnostics"
local files = require "roper.system.file"
local options_of = require "roper.options.rows"
local paths = require "roper.system.paths"
local registered = require "roper.options.registered"
local tables = require "roper.base.tables"

local M = {}

local HERE <const> = paths.LIBRARY
local NATIVE <const> = paths.built "native.lua"

M.LIBRARY = HERE .. "/init.lua"
M.ROOT = HERE .. "/../.." -- of the source tree

local parsed = {} -- comments by file, for the files of the library

--- The documentation comments of a file.
---@param path string
---@return Comment[]
function M.comments(path)
  local is_library = path:sub(1, #HERE) == HERE
  local list = parsed[path] or comment_of.parse(files.read(path) or "")
  for _, comment in ipairs(list) do
    comment.file = path
  end
  parsed[path] = is_library and list or nil
  return list
end

local native

--- The comments of functions and classes in C.
---@return table<string, Comment> by_name such as "roper.sum"
function M.native()
  if not native then
    native = {}
    local text = files.read(NATIVE[1]) or files.read(NATIVE[2]) or files.read(NATIVE[3]) or ""
    for _, comment in ipairs(comment_of.parse(text)) do
      if comment.name then
        native[comment.name] = comment
      end
    end
  end
  return native
end

--- The file and the lines of a Lua function.
---@param value function
---@return string? file nil for a function in C or in typed code
---@return integer first line
---@return integer last line
function M.place(value)
  local where = debug.getinfo(arity.original(value), "S")
  return where.source:match "^@(.+)$", where.linedefined, where.lastlinedefined
end

--- The source that contains a Lua function: its file, or typed code.
---@param value function
---@return string? text nil for a function in C, or if the source is not available
---@return string name of the file or of the typed code
function M.text(value)
  local kind, name = debug.getinfo(arity.original(value), "S").source:match "^([@=])(.+)$"
  return kind == "@" and files.read(name) or kind == "=" and diagnostics.sources[name] or nil, name
end

--- The file of a module that returns a table with this function as `make`.
---@param value function
---@return string? file
function M.maker_file(value)
  value = arity.original(value)
  for name, loaded in pairs(package.loaded) do
    if type(loaded) == "table" and rawget(loaded, "make") == value then
      return package.searchpath(name, package.path)
    end
  end
  return nil
end

--- The comment of a Lua function: above it, at the top of its file if it has a `maker_file`, or
--- from its registration.
---@param value function
---@return Comment?
function M.comment_of(value)
  local lua, documented = registered.comment(value), nil
  for _, comment in ipairs(lua and comment_of.parse(lua) or {}) do
    if comment.class then
      M.classes()[comment.class] = { comment = comment, methods = {} }
    else
      documented = comment
    end
  end
  if documented then
    return documented
  end
  local made_in = M.maker_file(value)
  if made_in then
    return M.head(made_in)
  end
  local file, line = M.place(value)
  for _, comment in ipairs(file and M.comments(file) or {}) do
    if comment.line == line then
      return comment
    end
  end
  return nil
end

--- The comment at the top of a file.
---@param path string
---@return Comment?
function M.head(path)
  local first = M.comments(path)[1]
  return first and not first.name and first or nil
end

local function lua_files(path, list)
  for _, name in ipairs(files.names(path)) do
    if files.stat(path .. "/" .. name).type == "directory" then
      lua_files(path .. "/" .. name, list)
    elseif name:find "%.lua$" then
      list[#list + 1] = path .. "/" .. name
    end
  end
  table.sort(list)
  return list
end

---@class DocumentedClass
---@field comment Comment
---@field methods table<string, Comment>

local classes ---@type table<string, DocumentedClass>

--- All documented classes.
---@return table<string, DocumentedClass> by_name
function M.classes()
  if classes then
    return classes
  end
  local all = {}
  for _, comment in pairs(M.native()) do
    all[#all + 1] = comment
  end
  for _, file in ipairs(lua_files(HERE, {})) do
    local comments = M.comments(file)
    table.move(comments, 1, #comments, #all + 1, all)
    if files.read(file):find "options_of%.define%(" then -- loading a file registers its rows
      local name = file:sub(#HERE + 2):gsub("%.lua$", ""):gsub("/", ".")
      require("roper." .. name:gsub("%.init$", ""))
    end
  end
  all = tables.joined(all, comment_of.parse(options_of.comments()))
  classes = {}
  for _, comment in ipairs(all) do
    if comment.class then
      classes[comment.class] = { comment = comment, methods = {} }
    end
  end
  for _, comment in ipairs(all) do -- a method may be in another file than its class
    local owner, method = (comment.name or ""):match "^([%w_]+):([%w_]+)$"
    if owner and classes[owner] then
      classes[owner].methods[method] = comment
    end
  end
  return classes
end

--- The names of classes in a type, without duplicates.
---@param kind string
---@return string[]
function M.class_names(kind)
  local names, seen = {}, {}
  for name in kind:gmatch "[%a_][%w_.]*" do
    if M.classes()[name] and not seen[name] then
      names[#names + 1], seen[name] = name, true
    end
  end
  return names
end

-- Iterates over a class and the classes that it extends.
local function lineage(name)
  return function(_, class)
    return M.classes()[class and class.comment.parent or not class and name]
  end
end

--- The fields of a class and of the classes that it extends.
---@param name string
---@return Parameter[] fields its own fields first
function M.fields(name)
  local list, seen = {}, {}
  for class in lineage(name) do
    for _, field in ipairs(class.comment.fields) do
      list[#list + 1] = not seen[field.name] and field or nil
      seen[field.name] = true
    end
  end
  return list
end

--- Is the class a table of options or other fields, without methods?
---@param name string
---@return boolean
function M.is_plain(name)
  for class in lineage(name) do
    if next(class.methods) then
      return false
    end
  end
  return true
end

--- Parameters, each followed by its options.
---@param ... Parameter[] lists of parameters
---@return Parameter[]
function M.with_options(...)
  local all = {}
  for _, parameter in ipairs(tables.joined(...)) do
    all[#all + 1] = parameter
    all = tables.joined(all, M.options(parameter.type))
  end
  return all
end

--- The options in a table of a type: the fields of the plain classes that it names.
---@param kind string
---@return Parameter[]
function M.options(kind)
  local list = {}
  for _, class in ipairs(M.class_names(kind)) do
    local fields = M.is_plain(class) and M.fields(class) or {}
    table.move(fields, 1, #fields, #list + 1, list)
  end
  return list
end

return M
