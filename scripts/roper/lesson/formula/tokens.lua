--- A line of a formula as tokens {kind, text, column, gap}: `gap` counts the blanks before one.
local scripts = require "roper.lesson.formula.scripts"

local M = {}

-- What each sign is; every other character beyond ASCII is a letter or a symbol.
local KINDS <const> = {
  relation = "=≠≈≡≤≥<>∝→←⇒⇔↦∈≪≫", sign = "+-−±", operator = "·×⊗⊙⊕∘/*",
  comma = ",;:.", open = "([⟨⌊⌈", close = ")]⟩⌋⌉}", bar = "|‖", group = "{", big = "Σ∑Π∏∫",
  root = "√", script = "_^", mark = "&", symbol = "∞∂∇…⋯°%!",
}

local kind_of = {}
for kind, signs in pairs(KINDS) do
  for _, code in utf8.codes(signs) do
    kind_of[utf8.char(code)] = kind
  end
end

-- Where letters are beyond ASCII: from, to.
local LETTERS <const> = { { 0xC0, 0x24F }, { 0x370, 0x3FF }, { 0x1E00, 0x1EFF }, { 0x2100, 0x214F },
  { 0x1D400, 0x1D7FF } }

-- Letters that Unicode has with their accent in one.
local ACCENTED <const> = { "\u{302}âaêeîiôoûuĉcĝgĥhĵjŝsŵwŷyẑz", "\u{303}ãaẽeĩiñnõoũuṽvỹy",
  "\u{304}āaēeīiōoūu" }

local accented = {} -- letter to {plain letter, combining accent}
for _, text in ipairs(ACCENTED) do
  local accent = text:match(utf8.charpattern)
  for whole, plain in text:sub(#accent + 1):gmatch("(" .. utf8.charpattern .. ")(%a)") do
    accented[whole] = { plain, accent }
  end
end

local SHORT_NAMES <const> = { ln = true, Re = true, Im = true }

local function is_letter(char)
  local code = utf8.codepoint(char)
  for _, range in ipairs(LETTERS) do
    if code >= range[1] and code <= range[2] then
      return true
    end
  end
  return false
end

-- Characters below or above the line from a place on, as the plain text they stand for.
local function shifted(line, at, place)
  local plain = {}
  for char in line:sub(at):gmatch(utf8.charpattern) do
    if not scripts.plain[place][char] then
      break
    end
    plain[#plain + 1] = scripts.plain[place][char]
    at = at + #char
  end
  return plain[1] and table.concat(plain), at
end

-- The token at a place of the line, and the place after it.
local function token_at(line, at)
  local text = line:match('^"[^"]*"', at)
  if text then
    return { kind = "text", text = text:sub(2, -2) }, at + #text
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
  if char == "'" or char == "′" then
    return { kind = "sup", text = "′" }, at + #char
  elseif kind_of[char] then
    return { kind = kind_of[char], text = char }, at + #char
  elseif text or accented[char] or is_letter(char) then
    local plain, accent = table.unpack(accented[char] or { char })
    accent = accent or line:match("^\u{302}", at + #char) or line:match("^\u{303}", at + #char)
      or line:match("^\u{304}", at + #char)
    local after = at + #char + (accent and not accented[char] and #accent or 0)
    local shown = line:sub(at, after - 1)
    return { kind = "letter", text = plain, accent = accent, shown = shown }, after
  end
  return #char > 1 and { kind = "symbol", text = char } or nil, at + #char
end

--- The tokens of a line.
---
--- Errors: bytes that are not UTF-8; signs that the notation does not have.
---@param line string
---@return table[]
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
      local problem = sign == '"' and 'expected another " after that'
        or ("expected a sign of the notation of formulas, found '%s'"):format(sign)
      error(("%s at column %d of: %s"):format(problem, column, line), 0)
    end
    token.column, token.gap = column, first - at
    list[#list + 1], at = token, after
  end
end

return M
