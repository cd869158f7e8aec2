--- Shows text one screenful at a time. Text that does not fit on the terminal waits until the next
--- call of `show`.
local terminal = require "roper.text.terminal"
local width = require("roper.text.width").width

local M = {}

local FEWEST <const> = 4 -- rows of the smallest page

local Screenful = {}
Screenful.__index = Screenful

--- Creates an empty screen.
---@return table screenful with the methods `add`, `show`, `turn`, `drop`, `is_waiting`
function M.new()
  return setmetatable({ lines = {}, used = 0 }, Screenful)
end

--- Adds text after the text that waits.
---@param text string complete lines
function Screenful:add(text)
  for line in text:gmatch "([^\n]*)\n" do
    self.lines[#self.lines + 1] = line
  end
end

--- Whether text waits to be shown.
---@return boolean
function Screenful:is_waiting()
  return self.lines[1] ~= nil
end

--- Discards the text that waits.
function Screenful:drop()
  self.lines = {}
end

--- Starts a new page. Call it when the user typed a line.
function Screenful:turn()
  self.used = 0
end

-- The number of lines that fit on a page of `rows` rows, of which `used` are filled. If not all
-- fit, the page ends before an empty line, provided that the paragraph after it fits on a page or
-- half the page is full.
local function fitting(heights, lines, used, rows)
  local at, start, below = used, nil, nil -- start: the last empty line, with `below` rows above it
  for i, line in ipairs(lines) do
    if line == "" then
      start, below = i, at
    end
    at = at + heights[i]
    if at > rows then
      local last = i
      while lines[last + 1] and lines[last + 1] ~= "" do
        last = last + 1
        at = at + heights[last]
      end
      return start and (at - below - 1 <= rows or 2 * below >= rows) and start - 1 or i - 1
    end
  end
  return #lines
end

--- Writes the lines that fit on the page.
function Screenful:show()
  local rows = math.max(FEWEST, terminal.rows(io.stdout) - 1) -- the prompt has one
  if self.used == 0 and self.lines[1] == "" then
    table.remove(self.lines, 1)
  end
  local columns, heights = terminal.columns(io.stdout), {}
  for i, line in ipairs(self.lines) do
    heights[i] = math.max(1, math.ceil(width(line) / columns))
  end
  local count = fitting(heights, self.lines, self.used, rows)
  if self.used == 0 then
    count = math.max(count, math.min(1, #self.lines)) -- a line may need more rows than the screen
  end
  for i = 1, count do
    io.stdout:write(self.lines[i], "\n")
    self.used = self.used + heights[i]
  end
  self.lines = table.move(self.lines, count + 1, #self.lines, 1, {})
  io.stdout:flush()
end

return M
