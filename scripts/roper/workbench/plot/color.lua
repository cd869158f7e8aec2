--- Colours of plots in files and on terminals, which colour-blind people can distinguish.
local M = {}

--- Colours of series, in this order: Okabe and Ito's palette without yellow, which is invisible on
--- white, and with grey for black, which is invisible on a dark terminal.
M.SERIES = { "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#777777" }

--- Colour maps of heatmaps, from the smallest to the largest value: Matplotlib's viridis and, for
--- data of both signs, ColorBrewer's RdBu, from blue through white to red.
M.MAPS = {
  viridis = { "#440154", "#482475", "#414487", "#355F8D", "#2A788E", "#21918C", "#22A884",
    "#44BF70", "#7AD151", "#BDDF26", "#FDE725" },
  diverging = { "#053061", "#2166AC", "#4393C3", "#92C5DE", "#D1E5F0", "#F7F7F7", "#FDDBC7",
    "#F4A582", "#D6604D", "#B2182B", "#67001F" },
}

--- Colour of gaps for each map: a grey that differs clearly from the colours of the map.
M.GAPS = { viridis = "#EEEEEE", diverging = "#999999" }

--- Returns the colour of series number `index`, from 1.
function M.series(index)
  return M.SERIES[(index - 1) % #M.SERIES + 1]
end

-- Returns red, green and blue, 0 to 255, of "#RRGGBB".
local function channels(color)
  local r, g, b = color:match "^#(%x%x)(%x%x)(%x%x)$"
  return tonumber(r, 16), tonumber(g, 16), tonumber(b, 16)
end

--- Returns the colour at a coordinate of a map.
---@param map string[] one of MAPS
---@param place number from 0 to 1
function M.mapped(map, place)
  local at = 1 + place * (#map - 1)
  local i = math.min(math.floor(at), #map - 1)
  local part = at - i
  local r1, g1, b1 = channels(map[i])
  local r2, g2, b2 = channels(map[i + 1])
  local function mix(a, b)
    return math.floor(a + (b - a) * part + 0.5)
  end
  return ("#%02X%02X%02X"):format(mix(r1, r2), mix(g1, g2), mix(b1, b2))
end

-- Returns the index of the nearest among the 216 colours of xterm's cube and its 24 greys.
local function indexed(r, g, b)
  local function level(c) -- of 0, 95, 135, 175, 215, 255
    return c < 48 and 0 or c < 115 and 1 or (c - 35) // 40
  end
  local function distance(r2, g2, b2)
    return (r - r2) ^ 2 + (g - g2) ^ 2 + (b - b2) ^ 2
  end
  local function value(l)
    return l == 0 and 0 or 55 + 40 * l
  end
  local lr, lg, lb = level(r), level(g), level(b)
  local grey = math.max(0, math.min(23, ((r + g + b) // 3 - 3) // 10))
  if distance(8 + 10 * grey, 8 + 10 * grey, 8 + 10 * grey)
    < distance(value(lr), value(lg), value(lb)) then
    return 232 + grey
  end
  return 16 + 36 * lr + 6 * lg + lb
end

--- Returns the control sequence that sets a colour of the terminal: a 24-bit colour if COLORTERM is
--- "truecolor" or "24bit", otherwise one of the 256 colours of xterm.
---@param color string "#RRGGBB"
---@param ground "foreground"|"background"
function M.sequence(color, ground)
  local r, g, b = channels(color)
  local target = ground == "foreground" and 38 or 48
  local announced = require("roper.system.environment").get "COLORTERM"
  if announced == "truecolor" or announced == "24bit" then
    return ("\27[%d;2;%d;%d;%dm"):format(target, r, g, b)
  end
  return ("\27[%d;5;%dm"):format(target, indexed(r, g, b))
end

return M
