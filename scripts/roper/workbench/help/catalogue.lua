--- Catalogue of the public names: everything that can be reached from `roper`, and the classes of
--- its objects, with their documentation comments.
local comment_of = require "roper.workbench.help.comment"
local core = require "roper.core"
local sources = require "roper.workbench.help.sources"
local tables = require "roper.base.tables"

local M = {}

---@class Entry a public function, method, class or module
---@field path string such as "roper.nn.Linear", "tensor:sum", "Linear"
---@field owner string path of its module or class; "" without one
---@field name string last part of the path
---@field kind "function"|"method"|"class"|"module"
---@field comment Comment?
---@field value any nil for a class
---@field same string? path of the function of which this method is an alias, such as roper.sum

local entries, by_path, path_of -- path_of: by function or module

local function add(entry)
  if not by_path[entry.path] then
    by_path[entry.path] = entry
    entry.owner, entry.name = entry.path:match "^(.-)[.:]?([%w_]+)$"
    entries[#entries + 1] = entry
    if entry.value ~= nil and not path_of[entry.value] then
      path_of[entry.value] = entry.path
    end
  end
end

-- The names in a table, including those loaded on first use.
local function names_of(holder)
  local metatable = getmetatable(holder)
  local names = tables.set(metatable and metatable.__names and metatable.__names() or {})
  for name in pairs(holder) do
    names[name] = type(name) == "string" and not name:find "^_" or nil
  end
  return tables.keys(names)
end

-- Is the value a table with functions?
local function is_module(value)
  for _, field in pairs(type(value) == "table" and value or {}) do
    if type(field) == "function" then
      return true
    end
  end
  return false
end

-- The file of a module, or else the file of its functions.
local function file_of(module)
  for name, loaded in pairs(package.loaded) do
    local file = loaded == module and package.searchpath(name, package.path)
    if file then
      return file
    end
  end
  for _, name in ipairs(names_of(module)) do
    local file = type(module[name]) == "function" and sources.place(module[name])
    if file then
      return file
    end
  end
  return nil
end

-- The comment of a module: above its assignment in the parent's file, or at the top of its file.
local function module_comment(name, module, above)
  for _, comment in ipairs(sources.comments(above)) do
    if comment.name == "M." .. name then
      return comment
    end
  end
  return sources.native()["roper." .. name] or sources.head(file_of(module) or above)
end

-- Adds the public members of a module and of the modules in it.
local function add_members(path, module, file)
  for _, name in ipairs(names_of(module)) do
    local value, inner = module[name], path .. "." .. name
    if type(value) == "function" then
      add { path = inner, kind = "function", value = value,
        comment = sources.native()[inner] or sources.comment_of(value) }
    elseif is_module(value) and not path_of[value] then
      add { path = inner, kind = "module", value = value,
        comment = module_comment(name, value, file) }
      add_members(inner, value, file_of(value) or file)
    end
  end
end

-- The methods of classes in C.
local function native_methods(name)
  if name == "tensor" then
    return core.tensor_metatable.methods
  end
  local metatable = debug.getregistry()["roper." .. name]
  return metatable and metatable.__index or {}
end

-- Adds a class with its methods, and the classes that it extends.
local function add_class(name)
  local class = sources.classes()[name]
  if not class or by_path[name] or sources.is_plain(name) then
    return
  end
  add { path = name, kind = "class", comment = class.comment }
  for method, comment in pairs(class.methods) do
    add { path = name .. ":" .. method, kind = "method", comment = comment,
      value = native_methods(name)[method] }
  end
  for method, value in pairs(native_methods(name)) do
    local same = path_of[value] ~= name .. ":" .. method and path_of[value] or nil
    add { path = name .. ":" .. method, kind = "method", value = value, same = same,
      comment = same and by_path[same].comment }
  end
  if class.comment.parent then
    add_class(class.comment.parent)
  end
end

local function fill()
  entries, by_path, path_of = {}, {}, {}
  local roper = require("roper.base.public").root
  add { path = "roper", kind = "module", value = roper, comment = sources.head(sources.LIBRARY) }
  add_members("roper", roper, sources.LIBRARY)
  for _, name in ipairs { "tensor", "rotary", "task" } do
    add_class(name)
  end
  local i = 1
  while entries[i] do -- add_class appends to the list
    local comment = entries[i].comment
    for _, one in ipairs(comment and sources.with_options(comment.parameters, comment.results,
      comment.fields) or {}) do
      for _, name in ipairs(sources.class_names(one.type)) do
        add_class(name)
      end
    end
    i = i + 1
  end
  table.sort(entries, function(a, b)
    return a.path < b.path
  end)
end

--- All entries, sorted by path.
---@return Entry[]
function M.entries()
  if not entries then
    fill()
  end
  return entries
end

--- The entry with a path.
---@param path string
---@return Entry?
function M.entry(path)
  M.entries()
  return by_path[path]
end

--- The entry of a function or a module.
---@param value any
---@return Entry? entry nil without documentation; a new entry for a Lua function that is not public
---   but has a comment
function M.of_value(value)
  M.entries()
  if path_of[value] then
    return by_path[path_of[value]]
  elseif type(value) ~= "function" then
    return nil
  end
  local comment = sources.comment_of(value)
  for _, entry in ipairs(comment and entries or {}) do
    if entry.comment == comment then -- a method
      return entry
    end
  end
  return comment and { path = comment.name, kind = "function", comment = comment, value = value }
end

--- The options of a function.
---@param entry Entry
---@return Parameter[] options
function M.options(entry)
  return tables.joined({}, table.unpack(tables.map(entry.comment and entry.comment.parameters or {},
    function(parameter) return sources.options(parameter.type) end)))
end

--- The methods that are aliases of a function.
---@param entry Entry
---@return Entry[]
function M.aliases(entry)
  local list = {}
  for _, other in ipairs(M.entries()) do
    list[#list + 1] = other.same == entry.path and other or nil
  end
  return list
end

--- The text of a comment without its examples, for searching.
---@param entry Entry
---@return string
function M.prose(entry)
  local comment, parts = entry.comment, {}
  if not comment then
    return ""
  end
  for _, block in ipairs(comment_of.blocks(comment)) do
    parts[#parts + 1] = block.kind ~= "example" and table.concat(block.lines, " ") or nil
  end
  for _, one in ipairs(sources.with_options(comment.parameters, comment.results,
    comment.fields)) do
    parts[#parts + 1] = one.name .. " " .. one.text
  end
  return table.concat(parts, " ")
end

--- The class of an object.
---@param value any
---@return Entry?
function M.class_of(value)
  local metatable = debug.getmetatable(value)
  local name = type(metatable) == "table" and (rawget(metatable, "__name")
    or rawget(metatable, "name"))
  return type(name) == "string" and M.entry((name:gsub("^roper%.", ""))) or nil
end

--- The members of a module, or the methods of a class and of the classes that it extends.
---@param entry Entry
---@return Entry[]
function M.members(entry)
  local list, seen = {}, {}
  while entry do
    for _, other in ipairs(M.entries()) do
      if other.owner == entry.path and not seen[other.name] then
        list[#list + 1], seen[other.name] = other, true
      end
    end
    entry = entry.kind == "class" and by_path[entry.comment.parent] or nil
  end
  return list
end

return M
