--- Escapes untrusted text (files, arguments, names) for terminals: invalid UTF-8, control
--- characters and characters that change the direction of text. Also splits lines,
--- writes counts and quotes words for a shell.
local M = {}

-- Invisible code points above ASCII that affect the text around them: C1 controls, line and
-- paragraph separators, bidirectional controls.
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

--- Text with invisible characters and invalid bytes replaced.
---@param text string any bytes
---@param of_character fun(code: integer): string replaces a control or invisible character
---@param of_byte fun(byte: integer): string replaces a byte that is not UTF-8
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

--- Text on one line, with Lua's escape sequences: \n, \x1B, \u{202E}.
---@param text string any bytes
---@return string
function M.line(text)
  return M.replaced(text, escaped, escaped_byte)
end

--- Like `line`, but newlines and tabs are not escaped.
---@param text string any bytes
---@return string
function M.text(text)
  return (text:gsub("[^\n\t]+", M.line))
end

--- The lines of a text, without their ends (LF or CRLF).
---@param text string
---@return string[]
function M.lines(text)
  local lines = {}
  for line in (text .. "\n"):gmatch "(.-)\r?\n" do
    lines[#lines + 1] = line
  end
  return lines
end

--- A count with a noun: "1 run", "2 runs".
---@param count integer
---@param noun string
---@return string
function M.count(count, noun)
  return ("%d %s%s"):format(count, noun, count == 1 and "" or "s")
end

--- Text quoted as one word for a shell.
---@param text string
---@return string
function M.word(text)
  return text:find "^[%w_./:=,+-]+$" and text or "'" .. text:gsub("'", "'\\''") .. "'"
end

return M
