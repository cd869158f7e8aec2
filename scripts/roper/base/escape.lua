--- Text from elsewhere (files, arguments, names), made so that a terminal shows it and does nothing
--- else: UTF-8 without control characters and without those that turn the direction of reading.
local M = {}

-- Code points from U+0080 on that show nothing and change what stands around them: C1 controls,
-- ends of lines and paragraphs, bidirectional controls.
local HIDDEN <const> = { { 0x80, 0x9F }, { 0x61C, 0x61C }, { 0x200E, 0x200F }, { 0x2028, 0x202E },
  { 0x2066, 0x2069 } }

local function is_hidden(code)
  for _, range in ipairs(HIDDEN) do
    if code >= range[1] and code <= range[2] then
      return true
    end
  end
  return false
end

--- Text with something else in place of what is none.
---@param text string any bytes
---@param of_character fun(code: integer): string in place of a character that does not show
---@param of_byte fun(byte: integer): string in place of a byte that is no UTF-8
---@return string
function M.replaced(text, of_character, of_byte)
  if not text:find "[%c\x80-\xFF]" then
    return text
  end
  local parts, at = {}, 1
  while true do
    local _, bad = utf8.len(text, at)
    local good = text:sub(at, bad and bad - 1):gsub("%c", function(control)
      return of_character(control:byte())
    end):gsub("[\xC2-\xF4][\x80-\xBF]+", function(character)
      local code = utf8.codepoint(character)
      return is_hidden(code) and of_character(code) or nil
    end)
    parts[#parts + 1] = good
    if not bad then
      return table.concat(parts)
    end
    parts[#parts + 1] = of_byte(text:byte(bad))
    at = bad + 1
  end
end

local NAMES <const> = { [9] = "\\t", [10] = "\\n", [13] = "\\r" }

local function escaped(code)
  return NAMES[code] or (code < 0x80 and "\\x%02X" or "\\u{%X}"):format(code)
end

local function escaped_byte(byte)
  return ("\\x%02X"):format(byte)
end

--- Text on one line, with what does not show written as in Lua strings: \n, \x1B, \u{202E}.
---@param text string any bytes
---@return string
function M.line(text)
  return M.replaced(text, escaped, escaped_byte)
end

--- The same, but for line ends and tabs, which stay.
---@param text string any bytes
---@return string
function M.text(text)
  return (text:gsub("[^\n\t]+", M.line))
end

--- The lines of a text, without what ends them.
---@param text string
---@return string[]
function M.lines(text)
  local lines = {}
  for line in (text .. "\n"):gmatch "(.-)\r?\n" do
    lines[#lines + 1] = line
  end
  return lines
end

--- A whole count of things: "1 run", "2 runs".
---@param count integer
---@param noun string
---@return string
function M.count(count, noun)
  return ("%d %s%s"):format(count, noun, count == 1 and "" or "s")
end

--- Text as one word of a shell's line.
---@param text string
---@return string
function M.word(text)
  return text:find "^[%w_./:=,+-]+$" and text or "'" .. text:gsub("'", "'\\''") .. "'"
end

return M
