--- Parses formulas in linear notation. The nodes of a row are
--- {kind, text} for a letter (perhaps with an accent), number, name, text, relation, sign (that
--- may be a prefix), operator, comma, symbol, prime or big (a sum or product);
--- {kind = "script", base, sub, sup}, {kind = "fence", open, body, close}, {kind = "root", body},
--- {kind = "fraction", over, under}, {kind = "matrix", rows} and, in braces, {kind = "row"}.
--- Each has its `gap`, the blanks before it.
local tokens = require "roper.text.formula.tokens"

local M = {}

local CLOSING <const> = { ["("] = ")", ["["] = "]", ["⟨"] = "⟩", ["⌊"] = "⌋", ["⌈"] = "⌉" }

-- After these, + and - are prefixes of the next node.
local BEFORE_PREFIX <const> = { relation = true, sign = true, operator = true, comma = true }

local MARKS <const> = { ["&"] = true } -- signs that end a row outside of groups

local ONE_MARK <const> = "& outside of groups, once in a line"

local CELL_ENDS <const> = { [","] = true, [";"] = true }

-- The place of the index or power that a token of this kind begins or is.
local PLACES <const> = { ["_"] = "sub", ["^"] = "sup", sub = "sub", sup = "sup", prime = "sup" }

local IN_SCRIPT <const> = { letter = true, number = true, name = true }
local ALONE_IN_SCRIPT <const> = { text = true, symbol = true, operator = true, sign = true }

local Reader = {}
Reader.__index = Reader

local function reader(line)
  return setmetatable({ line = line, tokens = tokens.of(line), at = 1 }, Reader)
end

function Reader:peek()
  return self.tokens[self.at]
end

-- Consumes the next token and returns it.
function Reader:next()
  self.at = self.at + 1
  return self.tokens[self.at - 1]
end

function Reader:fail(expected)
  local token = self:peek()
  error(("expected %s, found %s at column %d of: %s"):format(expected,
    token and ("'%s'"):format(token.shown or token.text) or "the end",
    token and token.column or utf8.len(self.line) + 1, self.line), 0)
end

-- Consumes the sign that closes an opening one; it must come next.
function Reader:close(open, close)
  local token = self:peek()
  if not token or token.text ~= close then
    self:fail(("'%s' to close the '%s' at column %d"):format(close, open.text, open.column))
  end
  self:next()
end

-- The row between an opening sign and the one that closes it.
function Reader:enclosed(open, close)
  local body = self:row { [close] = true }
  self:close(open, close)
  return body
end

-- The argument of `_`, `^` or √: a group, a run of letters and digits, or one sign.
function Reader:script(of)
  local token = self:peek()
  local kind = token and token.kind
  if kind == "group" then
    return self:enclosed(self:next(), "}")
  elseif kind == "open" and token.text == "(" then
    return self:enclosed(self:next(), ")")
  elseif ALONE_IN_SCRIPT[kind] then
    return { kind = "row", self:next() }
  elseif not IN_SCRIPT[kind] then
    self:fail(("a letter, a number or a group {...} after '%s'"):format(of))
  end
  local row = { kind = "row" }
  repeat
    row[#row + 1] = self:next()
    token = self:peek()
  until not token or not IN_SCRIPT[token.kind] or token.gap > 0
  return row
end

-- [a, b; c, d] is a matrix if it contains a semicolon, and a row in brackets otherwise.
function Reader:bracket(open)
  local rows, flat = { {} }, { kind = "row" }
  local is_matrix = false
  while true do
    local cell = self:row(CELL_ENDS)
    table.insert(rows[#rows], cell)
    table.move(cell, 1, #cell, #flat + 1, flat)
    local token = self:peek()
    if not token or not CELL_ENDS[token.text] then
      break
    elseif token.text == ";" then
      is_matrix, rows[#rows + 1] = true, {}
    end
    flat[#flat + 1] = self:next()
  end
  for i, row in ipairs(rows) do
    if #row ~= #rows[1] then
      self:fail(("%d cells in row %d of the matrix, not %d"):format(#rows[1], i, #row))
    end
  end
  self:close(open, "]")
  return is_matrix and { kind = "matrix", rows = rows }
    or { kind = "fence", open = "[", body = flat, close = "]" }
end

-- A group, or a fraction if / and another group follow.
function Reader:group()
  local body = self:enclosed(self:next(), "}")
  local slash, after = self:peek(), self.tokens[self.at + 1]
  if slash and slash.text == "/" and after and after.kind == "group" then
    self:next()
    return { kind = "fraction", over = body, under = self:enclosed(self:next(), "}") }
  end
  return body
end

function Reader:atom()
  local token = self:peek()
  if token.kind == "group" then
    return self:group()
  elseif token.kind == "mark" then
    self:fail(ONE_MARK)
  elseif PLACES[token.kind] then
    self:fail "a letter or a group before the index or power"
  end
  self:next()
  if token.text == "[" then
    return self:bracket(token)
  elseif token.kind == "open" or token.kind == "bar" then
    local close = CLOSING[token.text] or token.text
    return { kind = "fence", open = token.text, body = self:enclosed(token, close), close = close }
  elseif token.kind == "root" then
    return { kind = "root", body = self:script "√" }
  end
  return token
end

-- An atom with its indices and powers.
function Reader:scripted()
  local gap = self:peek().gap
  local base, scripts = self:atom(), {}
  while self:peek() do
    local token = self:peek()
    local place = PLACES[token.kind]
    if not place then
      break
    elseif scripts[place] then
      self:fail(place == "sub" and "one index" or "one power")
    end
    self:next()
    scripts[place] = token.kind == token.text and self:script(token.text)
      or token.kind == "prime" and { kind = "row", token } or reader(token.text):row {}
  end
  local node = next(scripts)
    and { kind = "script", base = base, sub = scripts.sub, sup = scripts.sup } or base
  node.gap = gap
  return node
end

-- The nodes up to the end, a closing sign, or one of the signs in `ends`.
function Reader:row(ends)
  local row = { kind = "row" }
  while self:peek() and self:peek().kind ~= "close" and not ends[self:peek().text] do
    local before, node = row[#row], self:scripted()
    node.gap = ends == MARKS and node.gap or math.min(node.gap, 1) -- wide gaps separate formulas
    if node.kind == "sign" then
      node.is_prefix = not before or BEFORE_PREFIX[before.kind] or false
    end
    row[#row + 1] = node
  end
  return row
end

-- The rows of a line: one, or two if it contains an `&`.
function Reader:rows()
  local rows = { self:row(MARKS) }
  if self:peek() and self:peek().kind == "mark" then
    self:next()
    rows[2] = self:row(MARKS)
  end
  if self:peek() then
    self:fail(self:peek().kind == "mark" and ONE_MARK or "an opening bracket before this one")
  end
  return rows
end

-- The lines of a text. A line with an open bracket continues in the next.
local function whole_lines(text)
  local list, open = {}, nil
  for line in text:gmatch "[^\n]*%S[^\n]*" do
    open = open and open .. " " .. line or line
    local signs = open:gsub('"[^"]*"', "")
    local _, begun = signs:gsub("[%[({]", "")
    local _, ended = signs:gsub("[%])}]", "")
    if begun <= ended then
      list[#list + 1], open = open, nil
    end
  end
  list[#list + 1] = open
  return list
end

--- Parses the lines of a formula. Each has one row, or two if it is aligned at an `&`.
---
--- Errors: text that does not follow the notation. The message says what was expected and where.
---@return table[][] lines
function M.lines(text)
  local lines = {}
  for i, line in ipairs(whole_lines(text)) do
    lines[i] = reader(line):rows()
  end
  return lines
end

return M
