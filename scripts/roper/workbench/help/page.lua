--- Builds the help pages of public names as documents, for the terminal and for the reference.
local catalogue = require "roper.workbench.help.catalogue"
local comment_of = require "roper.workbench.help.comment"
local d = require "roper.text.document"
local sources = require "roper.workbench.help.sources"
local tables = require "roper.base.tables"

local M = {}

local DEEPEST <const> = 5 -- levels of nested options

--- Does an entry have its own page in the reference?
---@param entry Entry
---@return boolean
function M.has_page(entry)
  return entry.kind == "module" or entry.kind == "class"
end

--- The address of an entry in the reference.
---@param entry Entry
---@return string address relative to the pages: "roper.nn.html#Linear", "tensor.html"
function M.address(entry)
  return M.has_page(entry) and entry.path .. ".html"
    or ("%s.html#%s"):format(entry.owner, entry.name)
end

--- The form of a call: "roper.sum(x, axis?, keep?)".
---@param entry Entry
---@return string
function M.signature(entry)
  local optional, arguments = {}, {}
  for _, parameter in ipairs(entry.comment.parameters) do
    optional[parameter.name] = parameter.optional
  end
  for i, name in ipairs(entry.comment.arguments or {}) do
    if not (i == 1 and entry.same) then
      arguments[#arguments + 1] = name == "..." and "…" or name .. (optional[name] and "?" or "")
    end
  end
  return ("%s(%s)"):format(entry.path, table.concat(arguments, ", "))
end

local function prose(text)
  return d.prose(text, "code")
end

--- The first sentence of the documentation of an entry.
---@param entry Entry
---@return table? inline
function M.summary(entry)
  return entry.comment and prose(comment_of.summary(entry.comment))
end

--- Names with the first sentence of their documentation.
---@param title any heading
---@param entries Entry[]
---@param is_member boolean? whether to show only the last part of each path
---@return table|false tree false without entries
function M.list(title, entries, is_member)
  return entries[1] ~= nil and { d.heading(title, 3), d.definitions(tables.map(entries,
    function(entry)
      return { d.code(is_member and entry.name or entry.path, M.address(entry)),
        M.summary(entry) }
    end), true) }
end

local WIDEST <const> = 48 -- characters of a type that stays in one line

local function linked(kind)
  local parts = {}
  kind = #kind > WIDEST and kind:gsub("|", " | ") or kind
  for between, word in kind:gmatch "([^%a_]*)([%w_.]*)" do
    local entry = catalogue.entry(word)
    parts[#parts + 1] = { between, entry and entry.kind == "class"
      and d.link(word, M.address(entry)) or word }
  end
  return parts
end

-- Is a type a class, or one of several?
local function is_class(kind)
  for name in kind:gmatch "[^|]+" do
    if not sources.classes()[name] then
      return false
    end
  end
  return true
end

-- The type, default and meaning of a parameter: "tensor [n, n], optional: the rest". The classes of
-- options that are listed below are shown as "table".
local function description(parameter, is_listed)
  local shape, text = parameter.text:match "^(%b[])[,:;]?%s*(.*)$"
  text = text or parameter.text
  local is_kind = text:find "^of " and not parameter.optional -- "tensor of floats"
  return { is_listed and is_class(parameter.type) and "table" or linked(parameter.type),
    shape and " " .. shape, parameter.default and { " = ", d.code(parameter.default) }
      or parameter.optional and ", optional", text ~= "" and { is_kind and " " or ": ",
      prose(text) } }
end

-- A row for each parameter, with the options in it. The options of a class are listed once.
local function rows(parameters, listed, depth)
  return tables.map(parameters, function(parameter)
    local options = not listed[parameter.type] and depth < DEEPEST
      and sources.options(parameter.type) or {}
    listed[parameter.type] = true
    return { parameter.name ~= "" and d.code(parameter.name) or "→",
      description(parameter, options[1] ~= nil), options[1] and rows(options, listed, depth + 1) }
  end)
end

local function parameters(title, list, listed)
  return list[1] and { d.heading(title, 3), d.definitions(rows(list, listed, 1)) }
end

--- A parameter or an option as a document.
---@param parameter Parameter
---@return table document
function M.parameter(parameter)
  return d.definitions(rows({ parameter }, {}, 1))
end

-- The lines of an example as pieces of a transcript.
local function pieces(lines)
  local list = {}
  for _, line in ipairs(lines) do
    local mark, source = line:match "^(>>?) ?(.*)$"
    local last = list[#list]
    if mark == ">" then
      list[#list + 1] = { source = source }
    elseif mark then
      last.source = last.source .. "\n" .. source
    else
      last.output = (last.output and last.output .. "\n" or "") .. line
    end
  end
  return list
end

local forms = {}

function forms.prose(lines)
  return d.paragraph(prose(lines[1]))
end

function forms.errors(lines)
  return d.paragraph { d.styled("strong", "Errors: "), prose(lines[1]) }
end

function forms.formula(lines)
  return d.listing(table.concat(lines, "\n"), "formula")
end

function forms.example(lines)
  return { d.heading("Example", 3), d.transcript(pieces(lines), 2) }
end

local function blocks(comment, ...)
  local kinds = tables.set { ... }
  return tables.map(comment_of.blocks(comment), function(block)
    return kinds[block.kind] and forms[block.kind](block.lines)
  end)
end

local function action(entry)
  local comment, listed = entry.comment, {}
  local aliases = entry.same and { catalogue.entry(entry.same) } or catalogue.aliases(entry)
  local arguments = comment.parameters
  return { d.heading(d.code(M.signature(entry)), 2),
    aliases[1] and d.paragraph { "Also ", tables.map(aliases, function(alias, i)
      return { i > 1 and ", ", d.code(M.signature(alias), M.address(alias)) }
    end) },
    blocks(comment, "prose", "formula"),
    parameters("Arguments", table.move(arguments, entry.same and 2 or 1, #arguments, 1, {}),
      listed),
    parameters(comment.results[2] and "Results" or "Result", comment.results, listed),
    blocks(comment, "errors"), blocks(comment, "example") }
end

-- The page of a module or class, and its own members.
local function overview(entry)
  local comment = entry.comment or { fields = {}, text = {} }
  local own, modules, inherited = {}, {}, {}
  for _, member in ipairs(catalogue.members(entry)) do
    local is_own = member.path:sub(1, #entry.path) == entry.path
    table.insert(M.has_page(member) and modules or is_own and own or inherited, member)
  end
  return { d.heading(entry.path), blocks(comment, "prose", "formula"),
    parameters("Fields", comment.fields, {}), blocks(comment, "example"),
    M.list("Modules", modules, true),
    M.list(entry.kind == "class" and "Methods" or "Functions", own, true),
    M.list("Methods of " .. (comment.parent or ""), inherited, true) }, own
end

--- The page of an entry.
---@param entry Entry
---@return table tree
---@return Entry[]? members own functions or methods of a module or class
function M.entry(entry)
  local is_action = (entry.kind == "function" or entry.kind == "method") and entry.comment
  return (is_action and action or overview)(entry)
end

return M
