--- Regular expressions of published tokenizers. They are written for Oniguruma; this translates
--- them to PCRE2, and refuses what the two understand differently.
local core = require "roper.core"

local M = {}

-- The white space of Unicode, which \s means in Oniguruma: first and last character of each range.
local BLANK <const> = { { 0x9, 0xD }, { 0x20, 0x20 }, { 0x85, 0x85 }, { 0xA0, 0xA0 },
  { 0x1680, 0x1680 }, { 0x2000, 0x200A }, { 0x2028, 0x2029 }, { 0x202F, 0x202F },
  { 0x205F, 0x205F }, { 0x3000, 0x3000 } }

-- The ranges of a class as PCRE2 writes them, and those of its complement.
local function ranges()
  local inside, outside, next_one = {}, {}, 0
  local function add(list, first, last)
    list[#list + 1] = ("\\x{%X}-\\x{%X}"):format(first, last)
  end
  for _, range in ipairs(BLANK) do
    add(inside, range[1], range[2])
    add(outside, next_one, range[1] - 1)
    next_one = range[2] + 1
  end
  add(outside, next_one, 0xD7FF) -- surrogates are no characters
  add(outside, 0xE000, 0x10FFFF)
  return table.concat(inside), table.concat(outside)
end

local INSIDE <const>, OUTSIDE <const> = ranges()

-- Escapes with one meaning in both, and those that are translated.
local SAME <const> = { r = true, n = true, t = true, f = true }
local CHANGED <const> = { d = "\\p{Nd}", D = "\\P{Nd}", v = "\\x0B" }

-- Translates the escape at `at`; returns the text and the offset after it.
local function escape(text, at, in_class, refuse)
  local char = text:sub(at + 1, at + 1)
  if char == "s" or char == "S" then
    local list = char == "s" and INSIDE or OUTSIDE
    return in_class and list or "[" .. list .. "]", at + 2
  elseif CHANGED[char] or SAME[char] then
    return CHANGED[char] or "\\" .. char, at + 2
  elseif char == "p" or char == "P" then
    local name, after = text:match("^{%^?(%u%l?)}()", at + 2)
    name = name or text:match("^{%^?(%u%l[%a_]+)}", at + 2) -- of a script
    after = after or text:match("^{%^?%u%l[%a_]+}()", at + 2)
    return name and text:sub(at, after - 1) or refuse(at, 2), after
  elseif char == "u" then
    local digits, after = text:match("^(%x%x%x%x)()", at + 2)
    return digits and ("\\x{%s}"):format(digits) or refuse(at, 2), after
  elseif char:find "%p" then
    return "\\" .. char, at + 2
  end
  refuse(at, 2)
end

-- Translates the class at `at`.
local function class(text, at, refuse)
  local parts, first = { text:match("^%[%^?", at) }, at
  at = at + #parts[1]
  if text:sub(at, at) == "]" then
    refuse(first, at - first + 1)
  end
  while text:sub(at, at) ~= "]" do
    local char, part = text:sub(at, at), nil
    if char == "" or char == "[" or text:sub(at, at + 1) == "&&" then
      refuse(first, at - first + 1)
    elseif char == "\\" then
      part, at = escape(text, at, true, refuse)
    else
      part, at = char, at + 1
    end
    parts[#parts + 1] = part
  end
  return table.concat(parts) .. "]", at + 1
end

-- The beginnings of groups with one meaning in both.
local GROUPS <const> = { "^%(%?:", "^%(%?i:", "^%(%?!", "^%(%?=", "^%(%?<!", "^%(%?<=", "^%(%?>" }

-- Translates what begins at `at`, outside of classes.
local function part_at(text, at, refuse)
  local char = text:sub(at, at)
  if char == "\\" then
    return escape(text, at, false, refuse)
  elseif char == "[" then
    return class(text, at, refuse)
  elseif char == "^" or char == "$" then -- of a line there, of the text here
    refuse(at, 1)
  elseif char == "{" then
    local count = text:match("^{%d+,?%d*}", at)
    if not count or text:sub(at + #count, at + #count) == "+" then
      refuse(at, count and #count + 1 or 1)
    end
    return count, at + #count
  elseif text:find("^%([?*]", at) then
    for _, group in ipairs(GROUPS) do
      local found = text:match(group, at)
      if found then
        return found, at + #found
      end
    end
    refuse(at, 4)
  end
  return char, at + 1
end

--- Translates a regular expression of Oniguruma to PCRE2.
---
--- Errors: a construct that the two understand differently.
---@param text string
---@param where string the start of messages
---@return string text
function M.translated(text, where)
  local parts, at = {}, 1
  local function refuse(from, count)
    error(("%s: expected a pattern that PCRE2 understands as Oniguruma does, got %s in %s"):format(
      where, text:sub(from, from + count - 1), text), 0)
  end
  while at <= #text do
    parts[#parts + 1], at = part_at(text, at, refuse)
  end
  return table.concat(parts)
end

--- Compiles a regular expression of Oniguruma.
---
--- Errors: roper was built without PCRE2; the text is no regular expression, or uses a construct
--- that the two understand differently.
---@param text string
---@param where string the start of messages
---@return userdata pattern with the method `split`
function M.compile(text, where)
  if not core.pattern then
    error(where .. ": expected roper with PCRE2, which splits texts by patterns; install "
      .. "libpcre2-dev and build again", 0)
  end
  local ok, pattern = pcall(core.pattern, M.translated(text, where))
  return ok and pattern or error(("%s: %s, in %s"):format(where, pattern, text), 0)
end

return M
