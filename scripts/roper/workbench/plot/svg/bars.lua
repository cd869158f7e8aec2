--- Draws bars from 0, side by side, as SVG.
local h = require("roper.text.markup").h
local marks = require "roper.workbench.plot.svg.mark"
local places = require "roper.workbench.plot.svg.place"

local GROUP <const> = 0.8 -- share of the distance between names that the bars fill
local TICKS <const> = 5

return function(figure)
  local y_ticks, x_ticks, names = places.ticks(figure.y, TICKS, true), {}, {}
  local step = 1 / #figure.names
  for i, name in ipairs(figure.names) do
    x_ticks[i] = { at = (i - 0.5) * step, text = name }
  end
  local function up(value)
    return 1 - math.min(math.max(figure.y:place(value), 0), 1)
  end
  local each = GROUP * step / #figure.series
  local bars = {}
  for j, series in ipairs(figure.series) do
    names[#names + 1] = figure.legend and series.label
      and { text = series.label, index = series.index, at = 0 } or nil
    for i, value in ipairs(series.y) do
      local left = (i - 0.5) * step + (j - 1 - #figure.series / 2) * each
      local zero, tip = up(0), up(value)
      bars[#bars + 1] = value == value and h.rect { class = "bar " .. marks.class(series.index),
        x = places.percent(left + 0.04 * each), y = places.percent(math.min(zero, tip)),
        width = places.percent(0.92 * each), height = places.percent(math.abs(zero - tip)) }
    end
  end
  local function body(width, height)
    local ranges = {}
    for j, series in ipairs(figure.series) do
      for i, low in ipairs(series.low or {}) do
        local high = series.high[i]
        if low == low and high == high then
          local x = ((i - 0.5) * step + (j - 0.5 - #figure.series / 2) * each) * width
          local cap = math.min(6, each * width / 4)
          ranges[#ranges + 1] = ("M%.1f %.1fh%.1fm%.1f 0V%.1fm%.1f 0h%.1f"):format(x - cap,
            height * up(low), 2 * cap, -cap, height * up(high), -cap, 2 * cap)
        end
      end
    end
    local function layer(...)
      return h.svg { viewBox = ("0 0 %.6g %.6g"):format(width, height), ... }
    end
    return { layer(places.rules(y_ticks, width, height)), bars,
      layer(h.path { class = "range", d = table.concat(ranges) }, h.path { class = "range",
        d = ("M0 %.1fH%.1f"):format(height * up(0), width) }) }
  end
  return { x = x_ticks, y = y_ticks, names = names, body = body }
end
