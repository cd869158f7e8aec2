--- Canvas of Braille dots, two columns by four rows in each character.
local M = {}

local Canvas = {}
Canvas.__index = Canvas

-- Bits to add to U+2800 for the dots of a character, by row from the top, then by column.
local BITS <const> = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } }

--- Creates an empty canvas.
---@param columns integer of characters
---@param rows integer of characters
---@return table canvas with the methods dot, line, shade, mark and draw; width and height in dots
function M.new(columns, rows)
  return setmetatable({ columns = columns, rows = rows, width = 2 * columns, height = 4 * rows,
    bits = {}, colors = {}, marks = {} }, Canvas)
end

-- Returns the index of the character that contains a point, and its dot; nil outside the canvas and
-- for nan.
function Canvas:cell(x, y)
  x, y = math.floor(x + 0.5), math.floor(y + 0.5)
  if x >= 0 and y >= 0 and x < self.width and y < self.height then
    return y // 4 * self.columns + x // 2, x, y
  end
end

--- Sets the dot at a point.
---@param x number in dots, from 0 at the left
---@param y number from 0 at the top
---@param color string the new colour of the whole character
function Canvas:dot(x, y, color)
  local cell
  cell, x, y = self:cell(x, y)
  if cell then
    self.bits[cell] = (self.bits[cell] or 0) | BITS[y % 4 + 1][x % 2 + 1]
    self.colors[cell] = color
  end
end

--- Replaces the Braille character at a point by another character.
function Canvas:mark(x, y, character, color)
  local cell = self:cell(x, y)
  if cell then
    self.marks[cell], self.colors[cell] = character, color
  end
end

-- Clips the line from (x1, y1) to (x2, y2) to the canvas (Liang and Barsky 1984); nil if it is
-- outside.
function Canvas:clip(x1, y1, x2, y2)
  local from, to = 0, 1
  local dx, dy = x2 - x1, y2 - y1
  local right, bottom = self.width - 1, self.height - 1
  for _, edge in ipairs { { -dx, x1 }, { dx, right - x1 }, { -dy, y1 }, { dy, bottom - y1 } } do
    local speed, room = edge[1], edge[2]
    if speed == 0 and room < 0 then
      return nil
    elseif speed < 0 then
      from = math.max(from, room / speed)
    elseif speed > 0 then
      to = math.min(to, room / speed)
    end
  end
  if from > to then
    return nil
  end
  return x1 + from * dx, y1 + from * dy, x1 + to * dx, y1 + to * dy
end

--- Draws a straight line between two points.
---@param visit? fun(x: integer, y: integer): boolean? called for each dot; if true, omits the dot
function Canvas:line(x1, y1, x2, y2, color, visit)
  x1, y1, x2, y2 = self:clip(x1, y1, x2, y2)
  if not x1 then
    return
  end
  local steps = math.max(1, math.ceil(math.max(math.abs(x2 - x1), math.abs(y2 - y1))))
  for i = 0, steps do
    local x = math.floor(x1 + (x2 - x1) * i / steps + 0.5)
    local y = math.floor(y1 + (y2 - y1) * i / steps + 0.5)
    if not (visit and visit(x, y)) then
      self:dot(x, y, color)
    end
  end
end

--- Shades a column of an area by setting a quarter of its dots.
function Canvas:shade(x, y1, y2, color)
  local first, last = math.max(0, math.floor(math.min(y1, y2) + 0.5)),
    math.min(self.height - 1, math.floor(math.max(y1, y2) + 0.5))
  for y = first, last do
    if (x + 2 * y) % 4 == 0 then
      self:dot(x, y, color)
    end
  end
end

--- Writes the canvas to a screen, with its top left corner at a row and a column.
function Canvas:draw(screen, row, column)
  for cell = 0, self.columns * self.rows - 1 do
    local character = self.marks[cell] or self.bits[cell] and utf8.char(0x2800 + self.bits[cell])
    if character then
      screen:put(row + cell // self.columns, column + cell % self.columns, character,
        self.colors[cell])
    end
  end
end

return M
