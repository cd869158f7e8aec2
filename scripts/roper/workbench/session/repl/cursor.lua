--- Determines the context at the end of incomplete Lua code, for completion: a string, an option
--- table, a comment, or other code.
local M = {}

---@class Cursor
---@field kind "string"|"options"|"comment"|"code"
---@field text string? of a string: its content so far
---@field quote string? of a string: its closing quote
---@field caller string? of options: the function, as written
---@field table string? of options: the content of the table so far

local CLOSING <const> = { [")"] = "(", ["]"] = "[", ["}"] = "{" }

-- The end of the comment or long string that begins at `from`: nil if it is open, 0 if none begins.
local function after_long(text, from)
  local comment = text:match("^%-%-()", from)
  local level = text:match("^%[(=*)%[", comment or from)
  if level then
    return select(2, text:find("]" .. level .. "]", from, true))
  elseif comment then
    return (text:find("\n", from, true))
  end
  return 0
end

-- The end of the quoted string that begins at `from`; nil if it is open.
local function closing_quote(text, from)
  local quote, at = text:sub(from, from), from + 1
  while at <= #text do
    local char = text:sub(at, at)
    if char == quote or char == "\n" then
      return at
    end
    at = at + (char == "\\" and 2 or 1)
  end
  return nil
end

-- The function that receives the innermost table, if the name of an option may follow.
local function caller_of(text, brackets)
  local inner, outer = brackets[#brackets], brackets[#brackets - 1]
  local takes_name = inner and text:sub(inner.at):find "[{,;]%s*[%a_]?[%w_]*$"
  if not takes_name or inner.char ~= "{" then
    return nil
  end
  local before = text:sub(1, inner.at - 1)
  local caller = before:match "([%a_][%w_.:]*)%s*$"
  if not caller and outer and outer.char == "(" and before:find "[(,]%s*$" then
    caller = text:sub(1, outer.at - 1):match "([%a_][%w_.:]*)%s*$"
  end
  return caller
end

--- The context at the end of a text.
---@param text string
---@return Cursor
function M.at_end(text)
  local brackets, at = {}, 1
  while at <= #text do
    local char, last = text:sub(at, at), after_long(text, at)
    if last ~= 0 then
      if not last then
        return { kind = "comment" }
      end
      at = last
    elseif char == '"' or char == "'" then
      last = closing_quote(text, at)
      if not last then
        return { kind = "string", text = text:sub(at + 1), quote = char }
      end
      at = last
    elseif char == "(" or char == "[" or char == "{" then
      brackets[#brackets + 1] = { char = char, at = at }
    elseif CLOSING[char] and brackets[#brackets] and brackets[#brackets].char == CLOSING[char] then
      brackets[#brackets] = nil
    end
    at = at + 1
  end
  local caller = caller_of(text, brackets)
  if caller then
    return { kind = "options", caller = caller, table = text:sub(brackets[#brackets].at + 1) }
  end
  return { kind = "code" }
end

return M
