--- Nesting of Lua code that arrives line by line: open brackets, blocks, long strings and comments.
local M = {}

local DEPTH <const> = { ["("] = 1, ["{"] = 1, ["["] = 1, [")"] = -1, ["}"] = -1, ["]"] = -1,
  ["function"] = 1, ["do"] = 1, ["if"] = 1, ["repeat"] = 1, ["end"] = -1, ["until"] = -1 }

local Nesting = {}
Nesting.__index = Nesting

--- Creates the nesting of empty code.
---@return table nesting with the methods `add` and `is_open`
function M.new()
  return setmetatable({ depth = 0, closing = nil }, Nesting)
end

-- The start of the code after the token at `at`.
function Nesting:skip(line, at)
  local word = line:match("^[%w_]+", at)
  local comment = not word and line:match("^%-%-()", at)
  local level = not word and line:match("^%[(=*)%[", comment or at)
  local char = line:sub(at, at)
  if level then
    self.closing = "]" .. level .. "]"
    return (comment or at) + #level + 2
  elseif comment then
    return #line + 1
  elseif char == '"' or char == "'" then
    repeat
      at = line:find("[\\" .. char .. "]", at + 1)
      local is_escape = at and line:sub(at, at) == "\\"
      at = is_escape and at + 1 or at
    until not is_escape
    return (at or #line) + 1
  end
  self.depth = self.depth + (DEPTH[word or char] or 0)
  return at + #(word or char)
end

--- Adds a line.
---@param line string
function Nesting:add(line)
  local at = 1
  while at do
    if self.closing then
      local _, last = line:find(self.closing, at, true)
      if not last then
        return
      end
      self.closing, at = nil, last + 1
    end
    at = line:find("[%w_(){}%[%]\"'%-]", at)
    at = at and self:skip(line, at)
  end
end

--- Does the code so far need another line? True only for code that does; other errors in it are not
--- found.
---@return boolean
function Nesting:is_open()
  return self.closing ~= nil or self.depth > 0
end

return M
