--- Places labels beside arrows where they overlap as little as possible.
local h = require("roper.text.markup").h
local marks = require "roper.workbench.plot.svg.mark"
local places = require "roper.workbench.plot.svg.place"
local text = require "roper.text.width"

local M = {}

local HEIGHT <const> = 1.1 -- em of a text
local LONGEST <const> = 0.5 -- maximum length of a text, as a share of the plot's width
local GAP <const> = 0.45 -- em between an arrow and its text
local SHARES <const> = { 0.5, 0.65, 0.35, 0.8, 0.2 } -- candidate points between tail and tip
local SAMPLES <const> = 24 -- points of a line; each one that a text covers costs 1
local COVERED <const>, OUTSIDE <const> = 40, 100 -- cost of covering a text, and of crossing an edge

-- Returns points along all lines.
local function samples_of(figure, place)
  local list = {}
  for _, series in ipairs(figure.series) do
    for i = 2, #series.x do
      local x1, y1 = place(series.x[i - 1], series.y[i - 1])
      local x2, y2 = place(series.x[i], series.y[i])
      local count = #series.x > 2 and 1 or SAMPLES
      for k = 0, count do
        list[#list + 1] = { x1 + (x2 - x1) * k / count, y1 + (y2 - y1) * k / count }
      end
    end
  end
  return list
end

-- Returns the cost of a text in a box {x, y, half its width, half its height}: of the points and
-- texts that it covers, and of crossing an edge of the plot.
local function cost(box, samples, boxes, width, height)
  local x, y, w, h2 = table.unpack(box)
  local sum = (x - w < 0 or x + w > width or y - h2 < 0 or y + h2 > height) and OUTSIDE or 0
  for _, at in ipairs(samples) do
    sum = sum + (math.abs(at[1] - x) < w and math.abs(at[2] - y) < h2 and 1 or 0)
  end
  for _, other in ipairs(boxes) do
    sum = sum + (math.abs(other[1] - x) < w + other[3] and math.abs(other[2] - y) < h2 + other[4]
      and COVERED or 0)
  end
  return sum
end

-- Returns candidate points for a text of a given size, beside an arrow and beyond its tip.
local function choices(x1, y1, x2, y2, w, half)
  local angle = math.atan(y2 - y1, x2 - x1)
  local dx, dy = math.cos(angle), math.sin(angle)
  local gap, list = GAP * places.EM, {}
  local aside, ahead = math.abs(dy) * w + math.abs(dx) * half + gap,
    math.abs(dx) * w + math.abs(dy) * half + gap
  for _, share in ipairs(SHARES) do
    for _, side in ipairs { -1, 1 } do
      list[#list + 1] = { x1 + share * (x2 - x1) - side * dy * aside,
        y1 + share * (y2 - y1) + side * dx * aside, w, half }
    end
  end
  table.insert(list, 3, { x2 + dx * ahead, y2 + dy * ahead, w, half })
  return list
end

--- Returns the labels of arrows as SVG.
---@param place fun(x: number, y: number): number, number
---@param width number of the plot
function M.draw(figure, place, width, height)
  local samples, boxes, texts = samples_of(figure, place), {}, {}
  local letter = places.LETTER * places.EM
  for _, series in ipairs(figure.series) do
    if series.label then
      local x1, y1 = place(series.x[1], series.y[1])
      local x2, y2 = place(series.x[2], series.y[2])
      local label = text.fit(series.label, math.floor(LONGEST * width / letter))
      local least, best = math.huge, nil
      for _, box in ipairs(choices(x1, y1, x2, y2, letter * text.width(label) / 2,
          HEIGHT * places.EM / 2)) do
        local sum = cost(box, samples, boxes, width, height)
        if sum < least then
          least, best = sum, box
        end
      end
      boxes[#boxes + 1] = best
      texts[#texts + 1] = h.g { class = series.turned and "now late" or not series.dashed and "now",
        h.text { class = "tag " .. marks.classes(series),
        x = ("%.1f"):format(best[1]), y = ("%.1f"):format(best[2]), dy = ".35em",
        ["text-anchor"] = "middle", label ~= series.label and h.title { series.label }, label } }
    end
  end
  return texts
end

return M
