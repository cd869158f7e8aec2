--- Documents as text for a terminal.
local document = require "roper.text.document"
local escape = require "roper.base.escape"
local formulas = require "roper.text.formula.terminal"
local layout = require "roper.text.document.table"
local tables = require "roper.base.tables"
local terminal = require "roper.text.terminal"
local text = require "roper.text.width"

local M = {}

local WIDEST <const> = 80 -- columns of prose
local LONGEST_NAME <const> = 24 -- columns; longer names are on a line of their own
local SPACE <const> = "\u{A0}" -- lines do not break at it; it becomes a space

local STYLES <const> = { strong = "bold", dim = "dim", good = "green", bad = "red" }

local Renderer = {}
Renderer.__index = Renderer

-- Styles each word, so that lines can break between them.
function Renderer:styled(style, words)
  return style and (words:gsub("[^%s]+", function(word)
    return terminal.styled(self.stream, style, word)
  end)) or words
end

-- Renders an inline node of each kind: function(renderer, node) returns text, in which only a BREAK
-- is a newline.
local inlines = {}

-- Inline text. A run of white space becomes one space.
function Renderer:inline(node)
  if type(node) ~= "table" then
    return node and (escape.text(tostring(node)):gsub("%s+", " ")) or ""
  elseif node.kind then
    return inlines[node.kind](self, node)
  end
  return table.concat(tables.map(tables.entries(node), function(one)
    return self:inline(one)
  end))
end

-- Prevents lines from beginning or ending with - or =.
local function glued(words)
  return (words:gsub("%s+([-=])%s+", SPACE .. "%1" .. SPACE))
end

function inlines.prose(self, node)
  return table.concat(tables.map(node, function(one)
    return type(one) == "string" and glued(self:inline(one)) or self:inline(one)
  end))
end

function inlines.code(self, node)
  return self:styled("cyan", glued(self:inline(node.text)))
end

function inlines.link(self, node)
  return self:inline(node.text) .. (node.note and ", " .. self:inline(node.note) or "")
end

function inlines.math(_, node)
  return (formulas.line(node.text):gsub(" ", SPACE))
end

function inlines.styled(self, node)
  return self:styled(STYLES[node.style], self:inline(node.text))
end

inlines["break"] = function()
  return "\n"
end

-- Wraps inline text; the first line is after `lead`, the others after `hang` spaces.
function Renderer:wrap(node, lead, hang)
  local lines = {}
  for line in (self:inline(node) .. "\n"):gmatch "([^\n]*)\n" do
    local first = lines[1] and (" "):rep(hang or 0) or lead
    lines = tables.joined(lines, text.wrap(line, self.width, first, hang))
  end
  return (table.concat(lines, "\n"):gsub(SPACE, " "))
end

local function indented(lines, by)
  return (("\n" .. lines):gsub("\n([^\n])", "\n" .. (" "):rep(by) .. "%1"):sub(2))
end

-- Renders a block of each kind: function(renderer, node) returns lines.
local blocks = {}

function blocks.heading(self, node)
  return self:styled("bold", self:wrap(node.text))
end

function blocks.paragraph(self, node)
  return self:wrap(node.text)
end

function blocks.formula(self, node)
  return (indented(formulas.display(node.text), 4):gsub("[^\n]+", function(line)
    return terminal.styled(self.stream, "cyan", line)
  end))
end

-- Lines of code. Lines that are too long are wrapped and indented.
function Renderer:code(lines)
  return (escape.text(lines):gsub("[^\n]+", function(line)
    local margin = line:match "^ *"
    return text.width(line) > self.width
      and table.concat(text.wrap(line, self.width, margin, #margin + 4), "\n") or nil
  end))
end

function blocks.listing(self, node)
  return self:code(indented(node.text, 2))
end

function blocks.transcript(self, node)
  return indented(table.concat(tables.map(node.pieces, function(piece)
    local source = terminal.styled(self.stream, "bold",
      self:code("> " .. piece.source:gsub("\n", "\n  ")))
    return source .. (piece.output and "\n" .. escape.text(piece.output) or "")
  end), "\n"), node.indent)
end

function blocks.check(self, node)
  local mark = self:styled(node.holds and "green" or "red", node.holds and "✓" or "✗")
  local detail = node.detail and { " " .. SPACE .. SPACE, document.styled("dim", node.detail) }
  return self:wrap({ node.text, detail }, "  " .. mark .. " ", 4)
end

function blocks.table(self, node)
  local function cells(row)
    local made = {}
    for i = 1, math.max(#row, node.head and #node.head or 0) do
      made[i] = type(row[i]) == "string" and escape.line(row[i])
        or self:inline(row[i]):gsub("\n", " ")
    end
    return made
  end
  local head, indent = node.head and cells(node.head), (" "):rep(node.indent or 2)
  local rows = tables.joined({ head }, tables.map(node.rows, cells))
  local lines, count, dropped = layout.fit(rows, head, node, self.widest - #indent)
  for i, line in ipairs(lines) do
    lines[i] = indent .. (i <= count and terminal.styled(self.stream, "bold", line) or line)
  end
  if node.caption then
    table.insert(lines, 1, self:wrap(node.caption))
  end
  lines[#lines + 1] = dropped[1] and self:wrap({ "not shown, for lack of room: ", table.concat(
    tables.map(dropped, function(i) return head and head[i] or "column " .. i end), ", ") },
    indent, #indent)
  return (table.concat(lines, "\n"):gsub(SPACE, " "))
end

function blocks.figure(self, node)
  local picture = node.draw "text"
  return picture:gsub("\n$", "") .. (node.caption and "\n" .. self:wrap(node.caption) or "")
end

function blocks.details(self, node)
  local is_check = type(node.summary) == "table" and node.summary.kind == "check"
  local summary = is_check and blocks.check(self, node.summary) or self:wrap(node.summary)
  if self.is_folded then
    return summary
  end
  local margin = is_check and 4 or 2
  local inner = setmetatable({ stream = self.stream, width = self.width - margin,
    widest = self.widest - margin }, Renderer)
  local body = inner:tree(node.body)
  return summary .. (body ~= "" and "\n" .. indented(body, margin) or "")
end

function blocks.list(self, node)
  return table.concat(tables.map(node.items, function(item, i)
    local mark = node.marks == "-" and "- " or node.marks == "1" and ("%d. "):format(i)
      or string.char(("a"):byte() + i - 1) .. ") "
    return self:wrap(item, "  " .. mark, 2 + #mark)
  end), "\n")
end

-- The rows of definitions as {name, description}, each followed by its nested rows.
local function flattened(self, rows, margin)
  return tables.joined(table.unpack(tables.map(rows, function(row)
    return tables.joined({ { margin .. self:inline(row[1]), row[2] } },
      row[3] and flattened(self, row[3], margin .. "  ") or {})
  end)))
end

function blocks.definitions(self, node)
  local rows, widest, lines = flattened(self, node.rows, "  "), 2, {}
  for _, row in ipairs(rows) do
    local width = text.width(row[1])
    widest = width <= LONGEST_NAME and math.max(widest, width) or widest
  end
  for _, row in ipairs(rows) do
    local is_long = text.width(row[1]) > widest
    lines[#lines + 1] = is_long and row[1] or nil
    local lead = text.pad(is_long and "" or row[1], widest + 2)
    lines[#lines + 1] = node.is_short and text.fit(lead .. self:inline(row[2]), self.width)
      or self:wrap(row[2], lead, widest + 2)
  end
  return (table.concat(lines, "\n"):gsub(SPACE, " "))
end

-- Kinds of blocks, each with the kinds that it follows without an empty line.
local TIGHT <const> = { check = { check = true, listing = true }, list = { paragraph = true },
  definitions = { heading = true }, transcript = { heading = true } }

local function kind_of(node)
  local summary = node.kind == "details" and node.summary
  return type(summary) == "table" and summary.kind or node.kind
end

-- Adds the blocks of a tree to parts.
function Renderer:add(tree, parts)
  if type(tree) ~= "table" then
    tree = document.paragraph(tree)
  end
  if blocks[tree.kind] then
    local lines = blocks[tree.kind](self, tree)
    local follows = TIGHT[kind_of(tree)] or {}
    parts[#parts + 1] = parts[1] and (follows[parts.last] and "\n" or "\n\n") .. lines or lines
    parts.last = kind_of(tree)
  elseif not getmetatable(tree) then
    for _, one in ipairs(tables.entries(tree)) do
      self:add(one, parts)
    end
  end
  return parts
end

function Renderer:tree(tree)
  return table.concat(self:add(tree, {}))
end

--- A tree as text. Prose is at most 80 columns wide.
---@param tree any
---@param options? {stream: file*?, width: integer?, is_folded: boolean?} stream: where it will be
---   written, which determines colours and width; standard output by default. width: of prose and
---   tables, by default that of the terminal; without a terminal, tables can have any width.
---   is_folded: whether details are shown by their summary alone
---@return string lines each ends in a line feed; empty for an empty tree
function M.render(tree, options)
  options = options or {}
  local stream = options.stream or io.stdout
  local is_terminal = terminal.is_terminal(stream)
  local self = setmetatable({ stream = stream, is_folded = options.is_folded,
    width = math.min(options.width or terminal.columns(stream), WIDEST),
    widest = options.width or is_terminal and terminal.columns(stream) or math.huge }, Renderer)
  local lines = self:tree(tree)
  return lines == "" and "" or lines .. "\n"
end

--- Inline text on one line, without styles.
---@param node any
---@return string
function M.line(node)
  local self = setmetatable({ stream = false }, Renderer)
  return (self:inline(node):gsub(SPACE, " "):gsub("\n", " "))
end

return M
