--- Finds the line of a lesson's file that a message is about. The file is read as text, because
--- Lua does not keep the lines of table fields.
local M = {}

-- Words that open a block of statements, and those that close one.
local BLOCKS <const> = { ["function"] = 1, ["if"] = 1, ["do"] = 1, ["repeat"] = 1, ["end"] = -1,
  ["until"] = -1 }
local BRACKETS <const> = { ["("] = 1, ["["] = 1, ["{"] = 1, [")"] = -1, ["]"] = -1, ["}"] = -1 }
local ENDS <const> = { [","] = true, [";"] = true, ["}"] = true }

-- The last offset of a string or comment in long brackets. `equals`: the equals signs in them.
local function end_of_long(text, equals, from)
  return select(2, text:find("]" .. equals .. "]", from, true)) or #text
end

-- The offset of the quote that ends a string.
local function end_of_quoted(text, quote, from)
  local at = from
  while at < #text and text:sub(at, at) ~= quote do
    at = at + (text:sub(at, at) == "\\" and 2 or 1)
  end
  return at
end

-- The tokens of a Lua text: {text, at}. Strings also have `content`, the offset of their first
-- character.
local function tokens_of(text)
  local list, at = {}, text:match "^#[^\n]*()" or 1
  while at <= #text do
    local equals, inside = text:match("^%[(=*)%[\n?()", at)
    local comment_equals, comment_inside = text:match("^%-%-%[(=*)%[()", at)
    local quote, word = text:match("^[\"']", at), text:match("^[%w_]+", at)
    local last
    if comment_equals then
      last = end_of_long(text, comment_equals, comment_inside)
    elseif text:find("^%-%-", at) or text:find("^%s", at) then
      last = text:match("^%-%-[^\n]*()", at) or text:match("^%s+()", at)
      last = last - 1
    elseif equals or quote then
      last = equals and end_of_long(text, equals, inside) or end_of_quoted(text, quote, at + 1)
      list[#list + 1] = { text = "string", at = at, content = inside or at + 1 }
    else
      list[#list + 1] = { text = word or text:sub(at, at), at = at }
      last = at + #list[#list].text - 1
    end
    at = last + 1
  end
  return list
end

local Reader = {}
Reader.__index = Reader

-- The text of the next token, or of one after it; nil at the end.
function Reader:text(offset)
  local token = self.tokens[self.next + (offset or 0)]
  return token and token.text
end

-- Reads a value and the rest of its expression. Returns its place: `at`, its offset or that of the
-- content of a string; and the places of its `fields`, if it is a table constructor.
function Reader:value()
  local token, depth = self.tokens[self.next], 0
  local place = { at = token.content or token.at,
    fields = token.text == "{" and self:fields() or {} }
  while self:text() and (depth > 0 or not ENDS[self:text()]) do
    depth = depth + (BLOCKS[self:text()] or BRACKETS[self:text()] or 0)
    self.next = self.next + 1
  end
  return place
end

-- Reads a table constructor. Returns the place of each field by its name or index, with `start`,
-- the offset of the field.
function Reader:fields()
  local fields, count = {}, 0
  self.next = self.next + 1
  while self:text() and self:text() ~= "}" do
    local name, start = self:text(), self.tokens[self.next].at
    if self:text(1) == "=" and self:text(2) ~= "=" then
      self.next = self.next + 2
    else
      count = count + 1
      name = count
    end
    fields[name] = self:text() and self:value() or {}
    fields[name].start = start
    self.next = self.next + (self:text() ~= "}" and 1 or 0)
  end
  self.next = self.next + 1
  return fields
end

--- Finds the table that is passed to `roper.lesson` in the text of a file.
---@param path string of the file, for messages
---@param text string its content
---@return table source for `located`
function M.read(path, text)
  local reader = setmetatable({ tokens = tokens_of(text), next = 1 }, Reader)
  while reader:text() do
    local skipped = reader:text() == "lesson" and (reader:text(1) == "{" and 1
      or reader:text(1) == "(" and reader:text(2) == "{" and 2)
    if skipped then
      reader.next = reader.next + skipped
      local root = reader:text() and reader:value() or nil
      return { path = path, text = text, root = root }
    end
    reader.next = reader.next + 1
  end
  return { path = path, text = text }
end

-- The place of the field that a part of a message names: "text", "step 2", "hint 1", "option text".
-- Nil if the table at `place` has no such field.
local function field_at(place, part)
  local fields, option = place.fields, part:match "option ([%w_]+)"
  local list, index = part:match "^(%a+) (%d+)$"
  local entries = list and (fields[list .. "s"] or fields[list])
  return entries and entries.fields[tonumber(index)] or fields[option or part]
    or fields[tonumber(option)]
end

--- Adds the file and the line to a message about a lesson. Messages name the field first: "lesson:
--- step 2, text: …", "step 2, code:3: …" for the third line of code.
---@param source table? from `read`
---@param message string
---@return string message "FILE:LINE: …", "FILE: …" if the line is not known; unchanged without a
---   source, or if it begins with the file
function M.located(source, message)
  if not source or message:sub(1, #source.path) == source.path then
    return message
  end
  local place = source.root
  if not place then
    return ("%s: %s"):format(source.path, message)
  end
  local function line_at(offset)
    return select(2, source.text:sub(1, offset - 1):gsub("\n", "")) + 1
  end
  local line = line_at(place.at)
  for at, part, after in (message .. ":"):gmatch "()([^:,]*)[:,] ?()" do
    local found = field_at(place, part)
    if found then
      place, line = found, line_at(found.start)
    elseif part:find "^%d+$" then -- a line of code
      local above = line_at((place.fields[1] or place).at) - 1
      line = above + tonumber(part)
      message = message:sub(1, at - 2) .. ": " .. message:sub(after):gsub("at line (%d+)",
        function(number) return "at line " .. above + tonumber(number) end)
      break
    elseif part ~= "lesson" and not part:find " question$" then
      break
    end
  end
  return ("%s:%d: %s"):format(source.path, line, message)
end

return M
