--- A picture of an attention map: a row for each token of the answer, relative distance to the
--- right, the darker the more weight.
local h = require("roper.base.markup").h
local axes = require "roper.plot.axis"
local number = require "roper.study.report.number"

local M = {}

-- Weights below this are not drawn; no eye would see them.
local LEAST <const> = 0.005

-- About so many distances are written below.
local MOST_TICKS <const> = 6

-- Height of a row, in rem.
local ROW <const> = 0.95

-- A token as a reader can see it.
local function visible(token)
  return token == " " and "␣" or token
end

-- The cells of a row.
local function cells(map, row, i, farthest, list)
  for distance = farthest, 0, -1 do
    local weight = row.weights[distance]
    if weight and weight >= LEAST then
      local key = row.position - distance
      local label = ("%s on “%s” at %d, %d back, for “%s”"):format(number.fixed(weight, 3),
        visible(map.text:sub(key + 1, key + 1)), key, distance, visible(row.predicted))
      list[#list + 1] = h.rect { x = farthest - distance, y = i - 1, width = 1, height = 1,
        ["fill-opacity"] = ("%.3g"):format(math.min(1, weight)), h.title { label } }
    end
  end
end

--- The picture.
---@param map table from `roper.report.attention_map`
---@param style string class of its colour
---@return table element
function M.of(map, style)
  local farthest = 1
  for _, row in ipairs(map.rows) do
    farthest = math.max(farthest, row.position)
  end
  local drawn, left, below = {}, {}, {}
  for i, row in ipairs(map.rows) do
    cells(map, row, i, farthest, drawn)
    left[i] = h.span { style = ("top:%.2f%%"):format(100 * (i - 0.5) / #map.rows),
      visible(row.predicted) }
  end
  local x = axes.new({ { -farthest - 0.5, 0.5 } }, { integers = true })
  for _, tick in ipairs(x:ticks(math.min(MOST_TICKS, farthest))) do
    below[#below + 1] = h.span { style = ("left:%.2f%%"):format(100 * x:place(tick.value)),
      number.shown(tick.text) }
  end
  return h.div { class = "chart map",
    h.div { class = "unit", "predicted token" },
    h.div { class = "left", left },
    h.div { class = "plot cells", style = ("height:%.2frem"):format(ROW * #map.rows),
      h.svg { viewBox = ("0 0 %d %d"):format(farthest + 1, #map.rows), class = style, role = "img",
        preserveAspectRatio = "none", ["aria-label"] = "attention by relative distance", drawn } },
    h.div { class = "below", below, h.span { class = "axis", "relative distance j − i" } },
  }
end

return M
