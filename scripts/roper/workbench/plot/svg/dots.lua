--- Draws dot plots as SVG: a row for each name, a dot for each number, and a stroke at the mean.
--- The dots of a lane, such as those of the runs with one seed, have the same height within each
--- row and can be joined by lines. A dot without a number is drawn open at the right border, below
--- the text `figure.beyond`.
local h = require("roper.text.markup").h
local marks = require "roper.workbench.plot.svg.mark"
local places = require "roper.workbench.plot.svg.place"

local TICKS <const> = 5
local SPREAD <const> = 0.6 -- share of a row's height that its lanes take
local BEYOND <const> = 0.82 -- share of the width that the axis takes, if there are dots beyond it

-- Returns lines through all rows that join the dots of each lane.
local function joins(figure, place)
  local parts = {}
  for lane = 1, figure.lanes do
    local is_open = false
    for i, row in ipairs(figure.rows) do
      for _, dot in ipairs(row.dots) do
        if dot.lane == lane then
          parts[#parts + 1] = (is_open and "L%.1f %.1f" or "M%.1f %.1f"):format(
            place(i, dot.value, lane))
          is_open = true
        end
      end
    end
  end
  return h.path { class = "join", d = table.concat(parts) }
end

return function(figure)
  local x_ticks, y_ticks, count = places.ticks(figure.x, TICKS), {}, #figure.rows
  local share = 1
  for i, row in ipairs(figure.rows) do
    y_ticks[i] = { at = (i - 0.5) / count, text = row.name }
    for _, dot in ipairs(row.dots) do
      share = dot.value and share or BEYOND
    end
  end
  for _, tick in ipairs(x_ticks) do
    tick.at = share * tick.at
  end
  x_ticks[#x_ticks + 1] = share < 1 and { at = 1, text = figure.beyond, is_apart = true } or nil
  local function body(width, height)
    local function place(row, value, lane)
      local down = row - 0.5 + SPREAD * ((lane - 0.5) / figure.lanes - 0.5)
      return width * (value and share * figure.x:place(value) or 1), height * down / count
    end
    local grid, rows = {}, {}
    for i, tick in ipairs(x_ticks) do
      grid[i] = not tick.is_apart and h.path { class = "grid",
        d = ("M%.1f 0v%.1f"):format(width * tick.at, height) }
    end
    for i, row in ipairs(figure.rows) do
      local dots = { class = marks.class(row.index) }
      for _, dot in ipairs(row.dots) do
        local d = ("M%.1f %.1fh0"):format(place(i, dot.value, dot.lane))
        dots[#dots + 1] = h.path { class = "dot", h.title { dot.title }, d = d }
        dots[#dots + 1] = not dot.value and h.path { class = "dot hole", h.title { dot.title },
          d = d } or nil
      end
      dots[#dots + 1] = row.mean and h.path { class = "mean", d = ("M%.1f %.1fv%.1f"):format(
        width * share * figure.x:place(row.mean), height * (i - 0.9) / count,
        0.8 * height / count) }
      rows[i] = h.g(dots)
    end
    return h.svg { viewBox = ("0 0 %.6g %.6g"):format(width, height), preserveAspectRatio = "none",
      grid, figure.is_joined and joins(figure, place), rows }
  end
  return { x = x_ticks, y = y_ticks, names = {}, body = body }
end
