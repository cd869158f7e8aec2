--- Documentation as it looks in the terminal.
local catalogue = require "roper.help.catalogue"
local comment_of = require "roper.help.comment"
local sources = require "roper.help.sources"
local terminal = require "roper.terminal"

local M = {}

local WIDEST <const>, NARROWEST <const> = 80, 40 -- columns
local LONGEST_NAME <const> = 24 -- that descriptions are aligned after

local function columns()
  return math.max(NARROWEST, math.min(WIDEST, terminal.columns(io.stdout)))
end

local function length(text)
  return utf8.len(text) or #text
end

-- Words in lines that fit, the first after `lead` and the others after blanks as wide as `hang`.
local function wrap(lead, text, hang)
  local lines, line, is_empty = {}, lead, true
  for word in text:gmatch "%S+" do
    if not is_empty and length(line) + 1 + length(word) > columns() then
      lines[#lines + 1] = line
      line, is_empty = (" "):rep(hang), true
    end
    line = line .. (is_empty and "" or " ") .. word
    is_empty = false
  end
  lines[#lines + 1] = line
  return lines
end

local Page = {}
Page.__index = Page

function Page:add(lines)
  table.move(lines, 1, #lines, #self.lines + 1, self.lines)
end

function Page:title(text)
  self:add { "", terminal.styled(io.stdout, "bold", text) }
end

-- Names in a column, their descriptions beside them.
function Page:list(rows)
  local widest = 0
  for _, row in ipairs(rows) do
    local width = length(row[1])
    widest = width <= LONGEST_NAME and math.max(widest, width) or widest
  end
  for _, row in ipairs(rows) do
    local pad = math.max(widest - length(row[1]), 0)
    if length(row[1]) > widest then
      self:add { "  " .. row[1] }
      self:add(wrap((" "):rep(widest + 4), row[2], widest + 4))
    else
      self:add(wrap("  " .. row[1] .. (" "):rep(pad + 2), row[2], widest + 4))
    end
  end
end

-- "tensor [n, n], optional: the rest"
local function description(parameter)
  local shape, text = parameter.text:match "^(%b[])[,:;]?%s*(.*)$"
  text = text or parameter.text
  local kind = parameter.type
  if sources.classes()[kind] and sources.is_plain(kind) then
    kind = "table"
  end
  if shape then
    kind = kind .. " " .. shape
  end
  if parameter.default then
    kind = ("%s = %s"):format(kind, parameter.default)
  elseif parameter.optional then
    kind = kind .. ", optional"
  end
  return (text ~= "" and kind .. ": " .. text or kind):gsub("`", "")
end

-- A row for each argument, and below an option table one for each option.
local function parameter_rows(parameters, is_method)
  local rows = {}
  for i, parameter in ipairs(parameters) do
    if not (is_method and i == 1) then
      rows[#rows + 1] = { parameter.name ~= "" and parameter.name or "→", description(parameter) }
      for _, class in ipairs(sources.class_names(parameter.type)) do
        for _, field in ipairs(sources.is_plain(class) and sources.fields(class) or {}) do
          rows[#rows + 1] = { "  " .. field.name, description(field) }
        end
      end
    end
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

function Page:parameters(title, parameters, is_method)
  local rows = parameter_rows(parameters, is_method)
  if rows[1] then
    self:title(title)
    self:list(rows)
  end
end

-- Other ways to call a function: as a method of its first argument.
local function aliases(entry)
  local list = {}
  for _, other in ipairs(catalogue.entries()) do
    if other.same == entry.path then
      list[#list + 1] = M.signature(other)
    end
  end
  return list
end

function Page:action(entry)
  local comment = entry.comment
  local blocks = comment_of.blocks(comment)
  self:add(wrap("", terminal.styled(io.stdout, "bold", M.signature(entry)), 4))
  for _, alias in ipairs(aliases(entry)) do
    self:add { terminal.styled(io.stdout, "bold", alias) }
  end
  self:blocks(blocks, { prose = true, formula = true })
  self:parameters("Arguments", comment.parameters, entry.same)
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
  self:title(entry.kind == "class" and "Methods" or "Contents")
  self:list(M.rows(catalogue.members(entry), true))
end

--- Entries as rows of a list: their name and what they are in a sentence.
---@param entries Entry[]
---@param is_short boolean the last name alone
---@return string[][]
function M.rows(entries, is_short)
  local rows = {}
  for i, entry in ipairs(entries) do
    rows[i] = { is_short and entry.path:match "[%w_]+$" or entry.path, summary(entry) }
  end
  return rows
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

--- A list of entries with what they are.
---@param head string
---@param entries Entry[]
---@return string
function M.list(head, entries)
  local page = setmetatable({ lines = { head } }, Page)
  page:list(M.rows(entries, false))
  return table.concat(page.lines, "\n") .. "\n"
end

return M
