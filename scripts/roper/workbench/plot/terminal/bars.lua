--- Draws horizontal bars to the right of their names, with blocks of eighths of a character.
local color = require "roper.workbench.plot.color"
local draw_legend = require "roper.workbench.plot.terminal.legend"
local text = require "roper.text.width"

local EIGHTHS <const> = { [0] = "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" }
local LONGEST_NAME <const> = 24

-- Returns the text at the end of a bar: its value and, if it has one, its range.
local function value_text(series, i)
  local value = series.y[i]
  if value ~= value then
    return "nan"
  elseif series.low and series.low[i] == series.low[i] and series.high[i] == series.high[i] then
    return ("%.4g (%.4g to %.4g)"):format(value, series.low[i], series.high[i])
  end
  return ("%.4g"):format(value)
end

-- Returns the width of the widest text that `each` returns for the bars.
local function widest(figure, each)
  local width = 0
  for _, series in ipairs(figure.series) do
    for i = 1, #figure.names do
      width = math.max(width, text.width(each(series, i)))
    end
  end
  return width
end

-- Draws one bar from the column of 0: to the right in eighths of a character, to the left in
-- halves.
local function draw_bar(screen, row, left, columns, axis, value, hue)
  local zero = math.min(math.max(axis:place(0), 0), 1) * columns
  local tip = math.min(math.max(axis:place(value), 0), 1) * columns
  local start = math.floor(zero + 0.5)
  if tip >= zero then
    local eighths = math.floor((tip - start) * 8 + 0.5)
    screen:put(row, left + start, ("█"):rep(eighths // 8) .. EIGHTHS[eighths % 8], hue)
  else
    local halves = math.floor((start - tip) * 2 + 0.5)
    screen:put(row, left + start - (halves + 1) // 2,
      (halves % 2 == 1 and "▐" or "") .. ("█"):rep(halves // 2), hue)
  end
end

return function(screen, top, figure, colored)
  local names = widest(figure, function(_, i) return text.fit(figure.names[i], LONGEST_NAME) end)
  local values = widest(figure, value_text)
  local is_marked = not colored and #figure.series > 1
  local left = names + (is_marked and 4 or 3)
  local columns = math.max(4, screen.columns - left - values - 1)
  local row = screen:label(top, left, figure.ylabel, screen.columns - left)
  for i, name in ipairs(figure.names) do
    for j, series in ipairs(figure.series) do
      local label = j == 1 and text.fit(name, LONGEST_NAME) or ""
      screen:put(row, names - text.width(label) + 1, label)
      screen:put(row, names + 2, (is_marked and tostring(series.index % 10) or "") .. "│")
      if series.y[i] == series.y[i] then
        draw_bar(screen, row, left, columns, figure.y, series.y[i], color.series(series.index))
      end
      screen:put(row, left + columns + 1, value_text(series, i))
      row = row + 1
    end
    if #figure.series > 1 and i < #figure.names then
      row = row + 1
    end
  end
  row = screen:label(row, left, figure.xlabel, screen.columns - left)
  return draw_legend(screen, row, left, figure, function(series)
    return is_marked and tostring(series.index % 10) or "█"
  end)
end
