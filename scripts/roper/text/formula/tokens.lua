--- Splits a line of a formula into tokens {kind, text, column, gap}; `gap` is the number of blanks
--- before the token.
local scripts = require "roper.text.formula.scripts"

local M = {}

-- The kinds of signs. Every other non-ASCII character is a letter.
local KINDS <const> = {
  relation = "=≠≈≡≤≥<>∝→←⇒⇔↦∈≪≫", sign = "+-−±", operator = "·×⊗⊙⊕∘/*",
  comma = ",;:.", open = "([⟨⌊⌈", close = ")]⟩⌋⌉}", bar = "|‖", group = "{", big = "Σ∑Π∏∫",
  root = "√", _ = "_", ["^"] = "^", mark = "&", symbol = "∞∂∇…⋯°%!",
}

local kind_of = {}
for kind, signs in pairs(KINDS) do
  for _, code in utf8.codes(signs) do
    kind_of[utf8.char(code)] = kind
  end
end

-- Precomposed letters with a hat, each before its plain letter.
local HATTED <const> = "âaêeîiôoûuĉcĝgĥhĵjŝsŵwŷyẑz"

local plain_of = {}
for hatted, plain in HATTED:gmatch("(" .. utf8.charpattern .. ")(%a)") do
  plain_of[hatted] = plain
end

local HAT <const> = "\u{302}"
local ACCENT <const> = "^\xCC[\x82-\x84]" -- a combining hat, tilde or bar: U+0302 to U+0304

local SHORT_NAMES <const> = { ln = true, Re = true, Im = true }

-- The plain text of the subscript or superscript characters that begin at an index of the line, and
-- the index after them.
local function shifted(line, at, place)
  local plain, char = {}, line:match(utf8.charpattern, at)
  while scripts.plain[place][char] do
    plain[#plain + 1] = scripts.plain[place][char]
    at = at + #char
    char = line:match(utf8.charpattern, at)
  end
  return plain[1] and table.concat(plain), at
end

-- The token at an index of the line, and the index after it.
local function token_at(line, at)
  local text = line:match('^"[^"]*"', at)
  if text then
    return { kind = "text", text = text, shown = text:sub(2, -2) }, at + #text
  end
  text = line:match("^%d+%.%d+", at) or line:match("^%d+", at)
  if text then
    return { kind = "number", text = text }, at + #text
  end
  text = line:match("^%a+", at)
  if text and (#text > 2 or SHORT_NAMES[text]) then
    return { kind = "name", text = text }, at + #text
  end
  for _, place in ipairs { "sub", "sup" } do
    local plain, after = shifted(line, at, place)
    if plain then
      return { kind = place, text = plain }, after
    end
  end
  local char = line:match(utf8.charpattern, at)
  local after = at + #char
  if char == "'" or char == "′" then
    return { kind = "prime", text = "′" }, after
  elseif kind_of[char] then
    return { kind = kind_of[char], text = char }, after
  elseif not text and #char == 1 then
    return nil, after
  end
  local accent = plain_of[char] and HAT
  if not accent then
    accent = line:match(ACCENT, after)
    after = after + #(accent or "")
  end
  return { kind = "letter", text = plain_of[char] or char, accent = accent,
    shown = line:sub(at, after - 1) }, after
end

--- Splits a line into tokens.
---
--- Errors: bytes that are not UTF-8; signs that are not part of the notation.
function M.of(line)
  if not utf8.len(line) then
    error("expected UTF-8 text: " .. line, 0)
  end
  local list, at = {}, 1
  while true do
    local first = line:find("%S", at)
    if not first then
      return list
    end
    local token, after = token_at(line, first)
    local column = utf8.len(line, 1, first)
    if not token then
      local sign = line:sub(first, after - 1)
      local problem = sign == '"' and 'expected a closing " after the one'
        or ("expected a sign of the notation for formulas, found '%s'"):format(sign)
      error(("%s at column %d of: %s"):format(problem, column, line), 0)
    end
    token.column, token.gap = column, first - at
    list[#list + 1], at = token, after
  end
end

return M
