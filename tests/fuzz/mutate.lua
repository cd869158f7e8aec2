-- Random changes of a text.

local M = {}

local SCRAPS <const> = { "", " ", "\n", "\t", "\0", "\1", "\27[2J", "\xff", "\xc3", "é",
  "\u{10FFFF}", "0", "-1", "1e999", "-0.0", "nan", "9223372036854775807", "9223372036854775808",
  "0x", "1e308",
  "{", "}", "{}", "[", "]", "(", ")", "'", '"', "\\", "%", "$", "_", "^", "=", ",", ":", ";", "+",
  "null", "true", "--", "<", "&", "//", "..", ("x"):rep(200) }
local LONGEST <const> = 20000 -- bytes of a repeated part

local function pick(list)
  return list[math.random(#list)]
end

-- Two offsets around a part of a text, mostly a short one.
local function part(text)
  local first = math.random(#text + 1)
  local most = math.random(4) == 1 and #text or math.min(#text, first + 8)
  return first, math.random(first - 1, math.max(first - 1, most))
end

local CHANGES <const> = {
  function(text, first, last) return text:sub(1, first - 1) .. text:sub(last + 1) end,
  function(text, first, last) return text:sub(1, last) .. text:sub(first) end,
  function(text, first) return text:sub(1, first - 1) end,
  function(text, first, last)
    return text:sub(1, first - 1) .. pick(SCRAPS) .. text:sub(last + 1)
  end,
  function(text, first) return text:sub(1, first - 1) .. pick(SCRAPS) .. text:sub(first) end,
  function(text, first)
    return text:sub(1, first - 1) .. string.char(math.random(0, 255)) .. text:sub(first + 1)
  end,
  function(text, first, last, corpus)
    local other = pick(corpus)
    local from, to = part(other)
    return text:sub(1, first - 1) .. other:sub(from, to) .. text:sub(last + 1)
  end,
  function(text, first, last)
    if math.random(20) > 1 then
      return text
    end
    local repeated = text:sub(first, last)
    return text:sub(1, last) .. repeated:rep(math.min(LONGEST, LONGEST // math.max(#repeated, 1)))
      .. text:sub(last + 1)
  end,
}

--- A text of the corpus with one to four changes, rarely none.
---@param corpus string[]
---@return string
function M.text(corpus)
  local text = pick(corpus)
  for _ = 1, math.random(10) == 1 and 0 or math.random(4) do
    local first, last = part(text)
    text = pick(CHANGES)(text, first, last, corpus)
  end
  return text
end

-- The offsets of the strings in quotes, the numbers and the words true, false and null of a text.
local function values_in(text)
  local found, at = {}, 1
  while at do
    local first, last = text:find('^"[^"\\\n]*"', at)
    first, last = first or text:find("^%-?%d[%w.+-]*", at), last or select(2, text:find(
      "^%-?%d[%w.+-]*", at))
    if not first then
      first, last = text:find("^%l+", at)
      local word = first and text:sub(first, last)
      first = (word == "true" or word == "false" or word == "null") and first or nil
    end
    if first then
      found[#found + 1] = { first, last }
    end
    at = text:find('["%w-]', (last or at) + 1)
  end
  return found
end

--- A text of the corpus of which one to three values are replaced: mostly by other literals, or
--- changed if they are strings.
---@param corpus string[]
---@param literals string[]
---@return string
function M.values(corpus, literals)
  local text = pick(corpus)
  for _ = 1, math.random(3) do
    local found = values_in(text)
    local place = #found > 0 and pick(found) or { 1, 0 }
    local value = text:sub(place[1], place[2])
    local is_text = value:sub(1, 1) == '"' and math.random(3) == 1
    local new = is_text and ('"%s"'):format(M.text({ value:sub(2, -2) }):gsub('[%c"\\]', ""))
      or pick(literals)
    text = text:sub(1, place[1] - 1) .. new .. text:sub(place[2] + 1)
  end
  return text
end

return M
