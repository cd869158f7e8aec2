--- Prose of lessons: text with `code`, inline formulas, `$R_{i-n} v_i$`, and papers,
--- `[Su et al. 2021](arXiv:2104.09864)`.
local html_page = require "roper.base.html_page"
local h = require("roper.base.markup").h
local mathml = require "roper.base.formula.mathml"
local formulas = require "roper.base.formula.terminal"

local M = {}

-- Patterns of the pieces that are not plain text, by kind.
local FORMS <const> = {
  code = "()`([^`]*)`()",
  formula = "()%$([^%s$][^$]*)%$()",
  paper = "()(%[[^%]]+%]%(arXiv:[^)]*%))()",
}

-- The first such piece at or after an index.
local function special(text, at)
  local piece
  for kind, form in pairs(FORMS) do
    local first, inner, after = text:match(form, at)
    if first and (not piece or first < piece.first) then
      piece = { kind = kind, text = inner, first = first, after = after }
    end
  end
  return piece
end

local function paper(piece)
  local text, number = piece.text:match "^%[(.*)%]%(arXiv:(.*)%)$"
  if not number:find "^%d%d%d%d%.%d%d%d%d%d?$" then
    error("expected the number of a paper such as arXiv:2104.09864, got arXiv:" .. number, 0)
  end
  piece.text, piece.number = text, number
end

--- Splits prose into pieces of the kinds text, code, formula and paper.
---
--- Errors: a paper without a number.
---@param text string
---@return {kind: string, text: string, number: string?}[] pieces
function M.pieces(text)
  local list, at = {}, 1
  repeat
    local piece = special(text, at)
    local before = text:sub(at, piece and piece.first - 1)
    if before ~= "" then
      list[#list + 1] = { kind = "text", text = before }
    end
    if piece then
      if piece.kind == "paper" then
        paper(piece)
      elseif piece.kind == "formula" then
        piece.text = piece.text:gsub("%s+", " ")
      end
      list[#list + 1], at = piece, piece.after
    end
  until not piece
  return list
end

local PLAIN <const> = {
  text = function(piece) return piece.text end,
  code = function(piece) return "`" .. piece.text .. "`" end,
  formula = function(piece) return (formulas.line(piece.text):gsub(" ", "\u{A0}")) end,
  paper = function(piece) return ("%s, arXiv:%s"):format(piece.text, piece.number) end,
}

--- Prose for a terminal. Code stays in backticks; formulas contain no-break spaces.
---
--- Errors: a formula that does not follow the notation; a paper without a number.
---@param text string
---@return string
function M.plain(text)
  local parts = {}
  for i, piece in ipairs(M.pieces(text)) do
    parts[i] = PLAIN[piece.kind](piece)
  end
  return table.concat(parts)
end

--- Checks that a text can be shown.
---
--- Errors: those of `read`, with `where` in front.
---@param where string names the text in messages
---@param text string
---@param read? fun(text: string) = plain; converts the text
function M.check(where, text, read)
  local ok, message = pcall(read or M.plain, text)
  if not ok then
    error(("%s: %s"):format(where, message), 0)
  end
end

--- Prose as one line of plain text, for titles and table cells.
---
--- Errors: as `plain`.
---@param text string
---@return string
function M.title(text)
  return (M.plain(text):gsub("[`\n]", { ["`"] = "", ["\n"] = " " }):gsub("\u{A0}", " "))
end

local SHORT <const> = 24 -- characters up to which pages do not break a formula

-- A formula in text. A short one is kept together with the characters that touch it, such as a
-- bracket before and a comma after.
local function formula(nodes, piece, after)
  if utf8.len(piece.text) > SHORT then
    return mathml.line(piece.text), after
  end
  local last, before = #nodes, nil
  if type(nodes[last]) == "string" then
    nodes[last], before = nodes[last]:match "^(.-)([^ \n]*)$"
  end
  local touching, rest = after:match "^([^ \n]*)(.*)$"
  return h.span { class = "whole", before, mathml.line(piece.text, true), touching }, rest
end

--- Prose for a page.
---@param text string
---@param pages table<string, any> its keys are the names of the lessons to link to
---@return any[] nodes
function M.nodes(text, pages)
  local nodes, list = {}, M.pieces(text)
  for i, piece in ipairs(list) do
    if piece.kind == "text" then
      nodes[i] = html_page.typeset(piece.text, i == 1)
    elseif piece.kind == "formula" then
      local follows = list[i + 1]
      local is_text = follows ~= nil and follows.kind == "text"
      local rest
      nodes[i], rest = formula(nodes, piece, is_text and follows.text or "")
      if is_text then
        follows.text = rest
      end
    elseif piece.kind == "paper" then
      nodes[i] = h.a { href = "https://arxiv.org/abs/" .. piece.number, piece.text }
    else
      local code = h.code { piece.text }
      nodes[i] = pages[piece.text] and h.a { href = piece.text .. ".html", code } or code
    end
  end
  return nodes
end

--- The duration of a lesson and the lessons that it builds on.
---@param lesson table
---@return string prose such as "15 minutes, after `rotation`"; empty if the lesson has neither
function M.demands(lesson)
  local needs = {}
  for i, name in ipairs(lesson.needs) do
    needs[i] = "`" .. name .. "`"
  end
  local parts = { lesson.minutes and ("%d minutes"):format(lesson.minutes) }
  parts[#parts + 1] = needs[1] and "after " .. table.concat(needs, ", ")
  return (table.concat(parts, ", "):gsub("^%l", string.upper))
end

return M
