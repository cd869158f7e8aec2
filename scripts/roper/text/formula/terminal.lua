--- Formulas for the terminal: indices and powers as Unicode characters, matrices and fractions in
--- two dimensions.
local parse = require "roper.text.formula.parse"
local scripts = require "roper.text.formula.scripts"
local tables = require "roper.base.tables"
local texts = require "roper.text.width"

local M = {}

-- Pieces of tall brackets: top, middle, bottom.
local TALL <const> = { ["("] = { "⎛", "⎜", "⎝" }, [")"] = { "⎞", "⎟", "⎠" },
  ["["] = { "⎡", "⎢", "⎣" }, ["]"] = { "⎤", "⎥", "⎦" }, ["|"] = { "│", "│", "│" } }

-- A box: lines padded to equal width. `base` is the line that is aligned with the surrounding
-- formula.
local function box(lines, base)
  local width = 0
  for _, line in ipairs(lines) do
    width = math.max(width, texts.width(line))
  end
  for i, line in ipairs(lines[2] and lines or {}) do
    lines[i] = texts.pad(line, width)
  end
  return { lines = lines, base = base or 1, width = width }
end

-- Joins boxes side by side, with their base lines at the same height.
local function beside(boxes)
  local above, below, lines = 0, 0, {}
  for _, one in ipairs(boxes) do
    above, below = math.max(above, one.base - 1), math.max(below, #one.lines - one.base)
  end
  for i = 1, above + 1 + below do
    local parts = {}
    for j, one in ipairs(boxes) do
      parts[j] = one.lines[i - above - 1 + one.base] or (" "):rep(one.width)
    end
    lines[i] = table.concat(parts)
  end
  return box(lines, above + 1)
end

local function text_box(text)
  return box { text }
end

-- A sign as lines of the given height.
local function tall(sign, height)
  local pieces = height > 1 and TALL[sign] or { sign, sign, sign }
  local lines = {}
  for i = 1, height do
    lines[i] = pieces[i == 1 and 1 or i == height and 3 or 2]
  end
  return lines
end

local function fenced(open, body, close)
  return beside { box(tall(open, #body.lines), body.base), body,
    box(tall(close, #body.lines), body.base) }
end

local LAYOUTS <const> = {} -- by kind of node; other nodes are texts

-- The box of a node, such as a row of nodes; `is_flat`: in one line.
local function layout(node, is_flat)
  local special = LAYOUTS[node.kind]
  return special and special(node, is_flat) or text_box(node.shown or node.text)
end

local function flat(nodes)
  return layout(nodes, true).lines[1]
end

-- An index or a power, in Unicode characters if all of them exist.
local function script(nodes, place)
  local plain = flat(nodes)
  local text = plain:gsub(" ", ""):gsub(utf8.charpattern, function(char)
    return scripts[place][char] or "?"
  end)
  if not text:find("?", 1, true) then
    return text
  end
  local form = texts.width(plain) == 1 and "%s%s" or place == "sub" and "%s{%s}" or "%s(%s)"
  return form:format(place == "sub" and "_" or "^", plain)
end

-- Nodes in one line, in parentheses if there are several.
local function part(nodes)
  return #nodes > 1 and "(" .. flat(nodes) .. ")" or flat(nodes)
end

function LAYOUTS.fraction(node, is_flat)
  if is_flat then
    return text_box(part(node.over) .. " / " .. part(node.under))
  end
  local over, under = layout(node.over), layout(node.under)
  local width = math.max(over.width, under.width) + 2
  local lines = tables.map(tables.joined(over.lines, { ("─"):rep(width) }, under.lines),
    function(line) return texts.pad(line, width, "c") end)
  return box(lines, #over.lines + 1)
end

function LAYOUTS.matrix(node, is_flat)
  local rows = tables.map(node.rows, function(cells) return tables.map(cells, flat) end)
  if is_flat then
    return text_box("[" .. table.concat(tables.map(rows, function(cells)
      return table.concat(cells, ", ")
    end), "; ") .. "]")
  end
  local lines = tables.map(texts.rows(rows, "r"), function(line) return " " .. line .. " " end)
  return fenced("[", box(lines, (#lines + 1) // 2), "]")
end

-- A base with its index and power. If the base is several lines high, the power is beside the first
-- line and the index beside the last.
function LAYOUTS.script(node, is_flat)
  local base = layout(node.base, is_flat)
  local sub = node.sub and script(node.sub, "sub") or ""
  local sup = node.sup and script(node.sup, "sup") or ""
  if #base.lines == 1 then
    return beside { base, text_box(sub .. sup) }
  end
  local lines = tall("", #base.lines)
  lines[1], lines[#lines] = sup, sub
  return beside { base, box(lines, base.base) }
end

function LAYOUTS.fence(node, is_flat)
  return fenced(node.open, layout(node.body, is_flat), node.close)
end

function LAYOUTS.root(node)
  return text_box("√" .. part(node.body))
end

local WIDE_GAP <const> = 4 -- columns between the formulas of a line

function LAYOUTS.row(nodes, is_flat)
  local boxes = {}
  for i, node in ipairs(nodes) do
    local gap = i > 1 and node.gap or 0
    boxes[#boxes + 1] = text_box((" "):rep(gap > 1 and WIDE_GAP or gap))
    boxes[#boxes + 1] = layout(node, is_flat)
  end
  return beside(boxes)
end

--- An inline formula, in one line.
---
--- Errors: the text does not follow the notation.
function M.line(text)
  return table.concat(tables.map(parse.lines(text), function(rows)
    return table.concat(tables.map(rows, flat), " ")
  end), "; ")
end

--- A displayed formula.
---
--- Errors: the text does not follow the notation.
---@return string lines
function M.display(text)
  local lines, width = parse.lines(text), 0
  for _, rows in ipairs(lines) do
    for i, nodes in ipairs(rows) do
      rows[i] = layout(nodes)
    end
    width = math.max(width, rows[2] and rows[1].width + 1 or 0)
  end
  local is_tall = false
  for i, rows in ipairs(lines) do
    local left, right = table.unpack(rows)
    local space = right and (" "):rep(width - 1 - left.width)
    local block = right and beside { text_box(space), left, text_box " ", right } or left
    is_tall = is_tall or #block.lines > 1
    lines[i] = table.concat(block.lines, "\n")
  end
  return (table.concat(lines, is_tall and "\n\n" or "\n"):gsub(" +%f[\n\0]", ""))
end

return M
