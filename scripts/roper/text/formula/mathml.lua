--- Formulas for pages, as MathML. Browsers do not break lines inside a `math` element, so a formula
--- consists of several, split before relation signs and before + and -.
local h = require("roper.text.markup").h
local parse = require "roper.text.formula.parse"
local tables = require "roper.base.tables"

local M = {}

local ACCENTS <const> = { ["\u{302}"] = "^", ["\u{303}"] = "~", ["\u{304}"] = "¯" }
local SIGNS <const> = { ["-"] = "−", ["Σ"] = "∑", ["Π"] = "∏", ["*"] = "∗" }

-- Letters of quantities, which have a colour of their own on pages.
local QUANTITIES <const> = { q = true, k = true, v = true, o = true }

local function operator(node)
  return h.mo { SIGNS[node.text] or node.text }
end

local ELEMENTS <const> = { relation = operator, operator = operator, comma = operator,
  symbol = operator, big = operator }

-- The element of a node, such as a row of nodes.
local function element(node)
  return ELEMENTS[node.kind](node)
end

function ELEMENTS.letter(node)
  local class = QUANTITIES[node.text] and node.text
  return node.accent and h.mover { accent = "true", class = class, h.mi { node.text },
    h.mo { stretchy = "false", ACCENTS[node.accent] } } or h.mi { class = class, node.text }
end

ELEMENTS.name = ELEMENTS.letter

function ELEMENTS.number(node)
  return h.mn { node.text }
end

function ELEMENTS.text(node)
  return h.mtext { (node.shown:gsub(" ", "\u{A0}")) }
end

function ELEMENTS.sign(node)
  return h.mo { form = node.is_prefix and "prefix" or "infix", SIGNS[node.text] or node.text }
end

-- A prime is already high in every font; as a superscript it would be too small in some.
local function primed(node)
  local base = h.mrow { element(node.base), h.mo { lspace = "0", rspace = "0", "′" } }
  return node.sub and h.msub { base, element(node.sub) } or base
end

function ELEMENTS.script(node)
  if node.sup and node.sup[1] and node.sup[1].kind == "prime" then
    return primed(node)
  end
  local is_big = node.base.kind == "big"
  local tag = is_big and "munder" or "msub"
  if node.sub and node.sup then
    tag = is_big and "munderover" or "msubsup"
  elseif node.sup then
    tag = is_big and "mover" or "msup"
  end
  return h[tag] { element(node.base), node.sub and element(node.sub),
    node.sup and element(node.sup) }
end

-- Does a node contain a matrix or a fraction?
local function is_tall(node)
  for _, inner in ipairs(node) do
    if is_tall(inner) then
      return true
    end
  end
  local inner = node.body or node.base
  return node.kind == "matrix" or node.kind == "fraction" or inner ~= nil and is_tall(inner)
end

local function fenced(open, body, close, is_stretched)
  local function side(form, sign)
    return h.mo { form = form, stretchy = tostring(is_stretched), sign }
  end
  return h.mrow { side("prefix", open), body, side("postfix", close) }
end

function ELEMENTS.fence(node)
  return fenced(node.open, element(node.body), node.close, is_tall(node.body))
end

function ELEMENTS.matrix(node)
  return fenced("[", h.mtable { tables.map(node.rows, function(cells)
    return h.mtr { tables.map(cells, function(cell) return h.mtd { element(cell) } end) }
  end) }, "]", true)
end

function ELEMENTS.root(node)
  return h.msqrt { element(node.body) }
end

function ELEMENTS.fraction(node)
  return h.mfrac { element(node.over), element(node.under) }
end

-- Kinds of nodes around which MathML puts space.
local SPACED <const> = { relation = true, sign = true, operator = true, comma = true }

local function is_spaced(node)
  return SPACED[node.kind] or node.kind == "big"
    or node.kind == "script" and node.base.kind == "big"
end

-- The elements of nodes `first` to `last`. A blank between two nodes without space of their own
-- becomes a thin space, or a wider one beside words.
local function elements(nodes, first, last)
  local list = {}
  for i = first, last do
    local node, before = nodes[i], i > first and nodes[i - 1]
    if before and node.gap and node.gap > 0 and not SPACED[node.kind] and not is_spaced(before) then
      local is_word = node.kind == "text" or before.kind == "text"
      list[#list + 1] = h.mspace { width = is_word and ".3em" or ".17em" }
    end
    list[#list + 1] = element(node)
  end
  return list
end

function ELEMENTS.row(nodes)
  local list = elements(nodes, 1, #nodes)
  return #list == 1 and list[1] or h.mrow { list }
end

-- Splits the nodes of a row into `math` elements between which a line may break.
local function pieces(nodes, style, is_whole)
  local list, first = {}, 1
  for i = 2, #nodes + 1 do
    local kind = i <= #nodes and nodes[i].kind
    local begins = kind == "relation" or kind == "sign" and not nodes[i].is_prefix
    if not kind or begins and not is_whole then
      list[#list + 1] = { first > 1 and h.wbr {},
        h.math { displaystyle = style, elements(nodes, first, i - 1) } }
      first = i
    end
  end
  return list
end

--- An inline formula.
---
--- Errors: the text does not follow the notation.
---@param is_whole boolean? whether to prevent line breaks
---@return any[] nodes
function M.line(text, is_whole)
  return tables.map(parse.lines(text), function(rows)
    return tables.map(rows, function(nodes) return pieces(nodes, nil, is_whole) end)
  end)
end

-- Splits the nodes of a row at wide blanks.
local function clauses(nodes)
  local list = { {} }
  for i, node in ipairs(nodes) do
    if i > 1 and node.gap > 1 then
      list[#list + 1] = {}
    end
    table.insert(list[#list], node)
  end
  return list
end

-- A row of a displayed formula. If it is too long, it breaks between its clauses first.
local function display_row(nodes)
  local parts = clauses(nodes)
  return h.span { tables.map(parts, function(part, i)
    return { i > 1 and h.wbr {}, h.span { class = #parts > 1 and "clause",
      pieces(part, "true") } }
  end) }
end

--- A displayed formula. Each line of an aligned formula has two cells.
---
--- Errors: the text does not follow the notation.
---@return table element
function M.display(text)
  local lines, is_aligned = parse.lines(text), false
  for i, rows in ipairs(lines) do
    is_aligned = is_aligned or rows[2] ~= nil
    lines[i] = h.div { tables.map(rows, display_row) }
  end
  return h.div { class = is_aligned and "formula aligned" or "formula", lines }
end

return M
