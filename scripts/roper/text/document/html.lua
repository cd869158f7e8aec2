--- Documents as HTML.
local files = require "roper.system.file"
local markup = require "roper.text.markup"
local mathml = require "roper.text.formula.mathml"
local paths = require "roper.system.paths"
local tables = require "roper.base.tables"
local text = require "roper.text.width"
local h = markup.h

local M = {}

local INSET <const> = 4 -- of lines of code, if the style does not say otherwise
local SHORT <const> = 24 -- characters up to which a formula in text is not broken

local TAGS <const> = { strong = "b", emphasis = "em", name = "bdi" }

local Renderer = {}
Renderer.__index = Renderer

-- Typographic minus signs; no line breaks around minus and equals signs.
local function typeset(words, is_first)
  local signs = { ["-"] = "\u{A0}−\u{A0}", ["="] = "\u{A0}=\u{A0}" }
  words = (is_first and " " or "") .. words
  words = words:gsub("%f[%S]%-(%w)", "−%1"):gsub("%(%-", "(−"):gsub("(%de)%-(%d)", "%1−%2")
    :gsub("%s([-=])%s+", signs)
  return is_first and words:sub(2) or words
end

-- A formula in text. `before` are the nodes before it, `after` is the text after it. A short
-- formula is kept together with the characters that touch it, such as a bracket before it and a
-- comma after it. Returns its nodes and the rest of `after`.
local function math_in(before, source, after)
  if utf8.len(source) > SHORT then
    return mathml.line(source), after
  end
  local last, touching = #before, nil
  if type(before[last]) == "string" then
    before[last], touching = before[last]:match "^(.-)([^ \n]*)$"
  end
  local follows, rest = after:match "^([^ \n]*)(.*)$"
  return h.span { class = "whole", touching, mathml.line(source, true), follows }, rest
end

-- Renders an inline node of each kind: function(renderer, node) returns nodes.
local inlines = {}

function Renderer:inline(node)
  if type(node) ~= "table" or getmetatable(node) then
    return node
  elseif node.kind then
    return inlines[node.kind](self, node)
  end
  return tables.map(tables.entries(node), function(one) return self:inline(one) end)
end

function inlines.prose(self, node)
  local made, parts = {}, table.move(node, 1, #node, 1, {})
  for i, part in ipairs(parts) do
    if type(part) == "string" then
      made[i] = typeset(part, i == 1)
    elseif part.kind == "math" then
      local has_text = type(parts[i + 1]) == "string"
      local rest
      made[i], rest = math_in(made, part.text, has_text and parts[i + 1] or "")
      parts[i + 1] = has_text and rest or parts[i + 1]
    else
      made[i] = self:inline(part)
    end
  end
  return made
end

function inlines.code(self, node)
  local code, href = h.code { node.text }, node.href or self.href and self.href(node.text)
  return href and h.a { href = href, code } or code
end

function inlines.link(self, node)
  return h.a { href = node.href, self:inline(node.text) }
end

function inlines.math(_, node)
  return mathml.line(node.text)
end

function inlines.styled(self, node)
  local tag = TAGS[node.style]
  return h[tag or "span"] { class = not tag and node.style, self:inline(node.text) }
end

inlines["break"] = function()
  return h.br {}
end

-- Lines of code. If a line is too long for the page, its continuation is indented.
local function code_lines(lines)
  local list = {}
  for line in (lines .. "\n"):gmatch "[^\n]*\n" do
    local inset = #line:match "^[> ]*" + 2
    list[#list + 1] = h.span { class = "line", line,
      style = inset ~= INSET and ("--inset:%dch"):format(inset) }
  end
  return list
end

function Renderer:checked(node)
  return { h.b { class = node.holds and "good" or "bad", node.holds and "✓" or "✗" }, " ",
    self:inline(node.text), node.detail and { " ", h.span { self:inline(node.detail) } } }
end

-- Renders a block of each kind: function(renderer, node) returns nodes.
local blocks = {}

function blocks.heading(self, node)
  return h["h" .. node.level] { self:inline(node.text) }
end

function blocks.paragraph(self, node)
  return h.p { class = node.class, self:inline(node.text) }
end

function blocks.formula(_, node)
  return mathml.display(node.text)
end

function blocks.listing(_, node)
  return h.pre { class = node.class, code_lines(node.text) }
end

function blocks.transcript(_, node)
  local sources = tables.map(node.pieces, function(piece) return piece.source end)
  return h.pre { class = "code", ["data-source"] = table.concat(sources, "\n"),
    tables.map(node.pieces, function(piece)
      return { h.b { code_lines("> " .. piece.source:gsub("\n", "\n  ")) },
        piece.output and h.samp { code_lines(piece.output) } }
    end) }
end

function blocks.check(self, node)
  return h.p { class = node.class, ["data-source"] = node.source, self:checked(node) }
end

-- A row of a table. The first cell of a row names it.
function Renderer:row(node, cells, is_head)
  local made = {}
  for i = 1, math.max(#cells, node.head and #node.head or 0) do
    local is_name = i == 1 and not is_head
    local side = text.side(node.sides, i)
    made[i] = h[(is_head or is_name) and "th" or "td"] { class = side == "r" and "n" or "text",
      scope = is_head and "col" or is_name and "row", self:inline(cells[i]) }
  end
  return h.tr { made }
end

function blocks.table(self, node)
  return { node.caption and h.p { class = "caption", self:inline(node.caption) },
    h.div { class = "scroll", tabindex = "0", role = "region",
      ["aria-label"] = type(node.caption) == "string" and node.caption or node.class or "table",
      h.table { class = node.class, node.head and h.thead { self:row(node, node.head, true) },
        h.tbody { tables.map(node.rows, function(cells) return self:row(node, cells) end) } } } }
end

-- The text of page nodes, escaped.
local function plain(nodes)
  return (markup.render(nodes):gsub("<[^>]*>", ""):gsub("%s+", " "))
end

-- The caption also names the picture for screen readers.
function blocks.figure(self, node)
  local picture = node.draw "svg"
  if type(picture) == "string" then
    local name = node.caption and (' aria-label="%s"'):format(plain(self:inline(node.caption)))
    picture = markup.verbatim((picture:gsub("^<%?xml.-%?>%s*", "")
      :gsub("^(<svg)(.->)", function(tag, rest)
        return tag .. (name and not rest:find(" aria-label=", 1, true) and name or "") .. rest
      end, 1)))
  end
  return h.figure { ["data-source"] = node.source, h.div { class = "pic", picture },
    node.caption and h.figcaption { self:inline(node.caption) } }
end

function blocks.details(self, node)
  local is_check = type(node.summary) == "table" and node.summary.kind == "check"
  return h.details { class = node.class,
    h.summary { is_check and self:checked(node.summary) or self:inline(node.summary) },
    self:nodes(node.body) }
end

function blocks.list(self, node)
  return h[node.marks == "-" and "ul" or "ol"] { class = node.class,
    tables.map(node.items, function(item) return h.li { self:inline(item) } end) }
end

function blocks.definitions(self, node)
  local function list(rows)
    return h.dl { tables.map(rows, function(row)
      return { h.dt { self:inline(row[1]) }, h.dd { self:inline(row[2]), row[3] and list(row[3]) } }
    end) }
  end
  return list(node.rows)
end

function Renderer:nodes(tree)
  if type(tree) ~= "table" then
    return tree and h.p { tree }
  elseif getmetatable(tree) then
    return tree
  elseif tree.kind then
    return blocks[tree.kind] and blocks[tree.kind](self, tree) or self:inline(tree)
  end
  return tables.map(tables.entries(tree), function(one) return self:nodes(one) end)
end

--- A tree as nodes of `text/markup`, for a part of a page.
---@param tree any
---@param href? fun(code: string): string? address for code that has none of its own
---@return any nodes
function M.nodes(tree, href)
  return setmetatable({ href = href }, Renderer):nodes(tree)
end

--- Inline text as nodes of `text/markup`.
---@param node any
---@param href? fun(code: string): string? as for `nodes`
---@return any nodes
function M.inline(node, href)
  return setmetatable({ href = href }, Renderer):inline(node)
end

-- The fonts of pages, if `make fonts` has written them.
local function fonts()
  for _, path in ipairs(paths.built "fonts.css") do
    local css = files.read(path)
    if css then
      return markup.verbatim(css)
    end
  end
end

--- A whole page in the common style.
---@param title string
---@param tree any
---@param options? {style: any, href: fun(code: string): string?, is_guarded: boolean?} style: CSS
---   after the common style; href: as for `nodes`; is_guarded: whether the page may load nothing
---   and run only its own scripts
---@return string html
function M.page(title, tree, options)
  options = options or {}
  return markup.document(title, { fonts(), markup.asset "text/style.css",
    markup.asset "text/article.css", options.style },
    M.nodes(tree, options.href), options.is_guarded)
end

return M
