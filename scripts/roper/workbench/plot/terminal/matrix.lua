--- Draws heatmaps with blocks: in colours, or in shades of grey on a terminal without colours.
local color = require "roper.workbench.plot.color"
local cells_of = require "roper.workbench.plot.cells"
local text = require "roper.text.width"

local ROWS <const> = 24 -- lines for the cells
local FEWEST_ROWS <const>, AROUND <const> = 4, 8 -- minimum lines for the cells; lines around them
local LABELLED_ROWS <const> = 64 -- lines for the cells if each row has a name
local LARGEST <const> = 6 -- columns, and half lines, of a cell
local LONGEST_NAME <const> = 12
local SHADES <const> = { [0] = " ", "░", "▒", "▓", "█" }
local HIDDEN <const> = "·"
local BAR <const> = 20

-- Returns the number of columns that a name takes if it is written downwards.
local function name_width(names)
  local width = 1
  for _, name in ipairs(names) do
    for _, _, _, columns in text.characters(text.fit(name, LONGEST_NAME)) do
      width = math.max(width, columns)
    end
  end
  return width
end

-- Returns the number of columns and of half lines of a cell, and the maximum numbers of rows and
-- columns of cells. A character is twice as high as wide, so n columns by n half lines are a
-- square.
local function layout(rows, columns, width, lines, whole_lines)
  local across = math.max(1, math.min(LARGEST, width // columns))
  local down = math.max(1, math.min(LARGEST, 2 * lines // rows))
  across, down = math.min(across, 2 * down), math.min(down, 2 * across)
  if whole_lines or down > 1 then
    down = math.max(2, down // 2 * 2)
  end
  return across, down, math.min(rows, 2 * lines // down), math.min(columns, width // across)
end

-- Draws one character with the colours of its upper and lower half; nil for a gap.
local function put_halves(screen, row, column, upper, lower)
  if upper and lower then
    screen:put(row, column, "▀", upper, lower)
  elseif upper or lower then
    screen:put(row, column, upper and "▀" or "▄", upper or lower)
  end
end

-- Draws the cells, below and right of (top, left).
local function draw_cells(screen, top, left, cells, across, down, colored)
  local function cell(half, j)
    local row = cells.rows[half // down + 1]
    return row and cells_of.place(cells, row[j]) or 0 / 0
  end
  local function hue(place)
    return place == place and color.mapped(cells.map, place) or nil
  end
  for line = 0, (#cells.rows * down - 1) // 2 do
    for j = 1, #cells.rows[1] do
      local upper, lower = cell(2 * line, j), cell(2 * line + 1, j)
      for column = left + (j - 1) * across, left + j * across - 1 do
        if colored then
          put_halves(screen, top + line, column, hue(upper), hue(lower))
        else
          screen:put(top + line, column,
            upper == upper and SHADES[math.min(4, math.floor(upper * 5))] or HIDDEN)
        end
      end
    end
  end
  return (#cells.rows * down + 1) // 2
end

-- Draws the names of the columns, downwards, or numbers at some of them.
local function draw_columns(screen, row, left, figure, cells, across)
  if figure.columns and #cells.rows[1] == #figure.columns
    and across >= name_width(figure.columns) then
    local lines = 0
    for j, name in ipairs(figure.columns) do
      local line = 0
      for _, _, character in text.characters(text.fit(name, LONGEST_NAME)) do
        screen:put(row + line, left + (j - 1) * across + (across - 1) // 2, character)
        line = line + 1
      end
      lines = math.max(lines, line)
    end
    return row + lines
  end
  local width, free = #cells.rows[1] * across, 1
  local axis = cells_of.numbering(figure.first_column, figure.matrix:size(2))
  local digits = #tostring(figure.first_column + figure.matrix:size(2))
  for _, tick in ipairs(axis:ticks(math.max(1, width // (digits + 3)))) do
    local column = left + math.floor(axis:place(tick.value) * width) - (#tick.text - 1) // 2
    if column >= free and column + #tick.text - 1 <= screen.columns then
      screen:put(row, column, tick.text)
      free = column + #tick.text + 1
    end
  end
  return row + 1
end

-- Returns the name or number of each line, and the width of the widest.
local function row_labels(figure, count, lines)
  local labels, width = {}, 0
  local function add(line, label)
    labels[line] = label
    width = math.max(width, text.width(label))
  end
  if figure.rows and count == #figure.rows then
    for i, name in ipairs(figure.rows) do
      add(math.floor((i - 0.5) / count * lines), text.fit(name, LONGEST_NAME))
    end
  else
    local axis = cells_of.numbering(figure.first_row, figure.matrix:size(1))
    for _, tick in ipairs(axis:ticks(math.max(1, lines // 2))) do
      add(math.floor(axis:place(tick.value) * lines), tick.text)
    end
  end
  return labels, width
end

local function draw_bar(screen, row, left, figure, cells, colored)
  local low, high = ("%.3g"):format(cells.axis.low), ("%.3g"):format(cells.axis.high)
  screen:put(row, left, colored and low or low .. " [")
  local column = left + #low + (colored and 1 or 2)
  for i = 0, BAR - 1 do
    local place = i / (BAR - 1)
    screen:put(row, column + i, colored and "█" or SHADES[math.min(4, math.floor(place * 5))],
      color.mapped(cells.map, place))
  end
  local gap = cells.has_gaps and not colored and ("   %s %s"):format(HIDDEN, figure.gap) or ""
  screen:put(row, column + BAR, (colored and " " or "] ") .. high .. gap)
  return row + 1
end

return function(screen, top, figure, colored)
  local rows, columns = figure.matrix:size(1), figure.matrix:size(2)
  local is_named = figure.rows ~= nil and rows <= LABELLED_ROWS
  local room = math.max(FEWEST_ROWS, math.min(ROWS, screen.most_rows - AROUND))
  local lines = figure.height or is_named and math.max(rows, room) or room
  local _, margin = row_labels(figure, math.min(rows, lines), lines)
  local left = margin + 2
  local across, down, most_rows, most_columns = layout(rows, columns,
    math.max(1, screen.columns - left + 1), lines, is_named or not colored)
  local cells = cells_of.read(figure, most_rows, most_columns)
  top = screen:label(top, 1, figure.ylabel, screen.columns)
  local used = draw_cells(screen, top, left, cells, across, down, colored)
  for line, label in pairs((row_labels(figure, #cells.rows, used))) do
    screen:put(top + line, left - 1 - text.width(label), label)
  end
  local row = draw_columns(screen, top + used, left, figure, cells, across)
  row = screen:label(row, left, figure.xlabel, screen.columns - left + 1)
  row = figure.legend and draw_bar(screen, row, left, figure, cells, colored) or row
  return screen:label(row, left, cells.note, screen.columns - left + 1)
end
