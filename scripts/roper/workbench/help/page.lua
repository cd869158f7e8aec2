--- Documentation as it looks in the terminal.
local catalogue = require "roper.workbench.help.catalogue"
local comment_of = require "roper.workbench.help.comment"
local fill = require("roper.base.format.columns").fill
local sources = require "roper.workbench.help.sources"
local terminal = require "roper.base.terminal"

local M = {}

local WIDEST <const>, NARROWEST <const> = 80, 40 -- columns
local LONGEST_NAME <const> = 24 -- that descriptions are aligned after
local DEEPEST <const> = 4 -- columns that options of options are indented by

local function columns()
  return math.max(NARROWEST, math.min(WIDEST, terminal.columns(io.stdout)))
end

local function length(text)
  return utf8.len(text) or #text
end

-- Words in lines that fit, the first after `lead` and the others after blanks as wide as `hang`.
local function wrap(lead, text, hang)
  return fill(text, columns(), lead, hang)
end

-- A line that goes on, with "…" instead of a last word that leaves no room for it.
local function cut(line)
  while length(line) + 2 > columns() do
    line = line:gsub("%s+%S+$", "")
  end
  return line:gsub("[,;:]$", "") .. " …"
end

local Page = {}
Page.__index = Page

function Page:add(lines)
  table.move(lines, 1, #lines, #self.lines + 1, self.lines)
end

function Page:title(text)
  self:add { "", terminal.styled(io.stdout, "bold", text) }
end

-- Names in a column, their descriptions beside them; cut to one line where `is_short`.
function Page:list(rows, is_short)
  local widest = 0
  for _, row in ipairs(rows) do
    local width = length(row[1])
    widest = width <= LONGEST_NAME and math.max(widest, width) or widest
  end
  for _, row in ipairs(rows) do
    local lead = "  " .. row[1] .. (" "):rep(math.max(widest - length(row[1]), 0) + 2)
    if length(row[1]) > widest then
      self:add { "  " .. row[1] }
      lead = (" "):rep(widest + 4)
    end
    local lines = wrap(lead, row[2], widest + 4)
    self:add(is_short and { lines[2] and cut(lines[1]) or lines[1] } or lines)
  end
end

-- "tensor [n, n], optional: the rest"; a table whose fields are listed below needs no name.
local function description(parameter, is_listed)
  local shape, text = parameter.text:match "^(%b[])[,:;]?%s*(.*)$"
  text = text or parameter.text
  local kind = parameter.type
  kind = is_listed and sources.classes()[kind] and "table" or kind
  if shape then
    kind = kind .. " " .. shape
  elseif text:find "^of " and not parameter.optional then -- "tensor of floats"
    kind, text = kind .. " " .. text, ""
  end
  if parameter.default then
    kind = ("%s = %s"):format(kind, parameter.default)
  elseif parameter.optional then
    kind = kind .. ", optional"
  end
  return (text ~= "" and kind .. ": " .. text or kind):gsub("`", "")
end

-- A row for each argument, and below an option table one for each option; of a type that was
-- listed already, or lies too deep, the name alone, which `?` takes.
local function add_rows(rows, parameters, margin, listed)
  for _, parameter in ipairs(parameters) do
    local options = not listed[parameter.type] and #margin < DEEPEST
      and sources.options(parameter.type) or {}
    rows[#rows + 1] = { margin .. (parameter.name ~= "" and parameter.name or "→"),
      description(parameter, #options > 0) }
    listed[parameter.type] = true
    add_rows(rows, options, margin .. "  ", listed)
  end
  return rows
end

--- How a function is called: "roper.sum(x, axis?, keep?)".
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

-- Prose, formulas and examples; errors and examples come last, after arguments and results.
function Page:blocks(blocks, kinds)
  for _, block in ipairs(blocks) do
    if kinds[block.kind] then
      if block.kind == "errors" then
        self:title "Errors"
        self:add(wrap("  ", block.lines[1]:gsub("`", ""), 2))
      elseif block.kind == "example" then
        self:title "Example"
      else
        self:add { "" }
      end
      if block.kind == "prose" then
        self:add(wrap("", block.lines[1]:gsub("`", ""), 0))
      elseif block.kind ~= "errors" then
        for _, line in ipairs(block.lines) do
          self:add { (block.kind == "formula" and "    " or "  ") .. line }
        end
      end
    end
  end
end

function Page:parameters(title, parameters)
  if parameters[1] then
    self:title(title)
    self.listed = self.listed or {}
    self:list(add_rows({}, parameters, "", self.listed), false)
  end
end

function Page:action(entry)
  local comment = entry.comment
  local blocks = comment_of.blocks(comment)
  for _, one in ipairs { entry, table.unpack(catalogue.aliases(entry)) } do
    for _, line in ipairs(wrap("", M.signature(one), 4)) do
      self:add { terminal.styled(io.stdout, "bold", line) }
    end
  end
  self:blocks(blocks, { prose = true, formula = true })
  self:parameters("Arguments", table.move(comment.parameters, entry.same and 2 or 1,
    #comment.parameters, 1, {}))
  self:parameters(#comment.results > 1 and "Results" or "Result", comment.results)
  self:blocks(blocks, { errors = true })
  self:blocks(blocks, { example = true })
end

local function summary(entry)
  return entry.comment and comment_of.summary(entry.comment):gsub("`", "") or ""
end

function Page:overview(entry)
  self:add { terminal.styled(io.stdout, "bold", entry.path) }
  if entry.comment then
    local blocks = comment_of.blocks(entry.comment)
    self:blocks(blocks, { prose = true, formula = true })
    self:parameters("Fields", entry.comment.fields)
    self:blocks(blocks, { example = true })
  end
  for _, group in ipairs { { "Modules", "module" }, { "Functions", "function" },
    { "Methods", "method" } } do
    local rows = {}
    for _, member in ipairs(catalogue.members(entry)) do
      rows[#rows + 1] = member.kind == group[2]
        and { member.path:match "[%w_]+$", summary(member) } or nil
    end
    if rows[1] then
      self:title(group[1])
      self:list(rows, true)
    end
  end
end

--- The page of an entry.
---@param entry Entry
---@return string
function M.entry(entry)
  local page = setmetatable({ lines = {} }, Page)
  if (entry.kind == "function" or entry.kind == "method") and entry.comment then
    page:action(entry)
  else
    page:overview(entry)
  end
  return table.concat(page.lines, "\n") .. "\n"
end

--- A list of entries, each with what it is in a line.
---@param head string
---@param entries Entry[]
---@return string
function M.list(head, entries)
  local page, rows = setmetatable({ lines = { head } }, Page), {}
  for i, entry in ipairs(entries) do
    rows[i] = { entry.path, summary(entry) }
  end
  page:list(rows, true)
  return table.concat(page.lines, "\n") .. "\n"
end

return M
