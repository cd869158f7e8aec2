--- Draws heatmaps as SVG.
local cells_of = require "roper.workbench.plot.cells"
local color = require "roper.workbench.plot.color"
local h = require("roper.text.markup").h
local places = require "roper.workbench.plot.svg.place"
local tables = require "roper.base.tables"

local MOST_CELLS <const> = 512 -- on an axis
local MOST_NAMES <const> = 64
local TICKS <const> = 8
local SHADES <const> = 256
local BAR <const> = 64 -- shades of the colour bar
local LEAST <const> = 0.005 -- smallest strength that is visible

-- Returns cells in the colours of a map: one path for all cells of each colour.
local function in_colors(rows, cells)
  local function shade_of(value)
    local at = cells_of.place(cells, value)
    return at == at and math.floor(at * SHADES + 0.5)
  end
  local colors, paths = {}, {}
  for i, row in ipairs(rows) do
    local j = 1
    while row[j] do
      local shade, last = shade_of(row[j]), j
      while shade and row[last + 1] and shade_of(row[last + 1]) == shade do
        last = last + 1
      end
      if shade and not paths[shade] then
        paths[shade] = {}
        colors[#colors + 1] = shade
      end
      if shade then
        table.insert(paths[shade], ("M%d %dh%dv1H%dz"):format(j - 1, i - 1, last - j + 1, j - 1))
      end
      j = last + 1
    end
  end
  for k, shade in ipairs(colors) do
    colors[k] = h.path { fill = color.mapped(cells.map, shade / SHADES),
      d = table.concat(paths[shade]) }
  end
  return colors
end

-- Returns cells in one colour, stronger for larger values, each with a tooltip from `tell`.
local function in_strength(rows, tell)
  local rects = {}
  for i, row in ipairs(rows) do
    for j, value in ipairs(row) do
      rects[#rects + 1] = value >= LEAST and h.rect { x = j - 1, y = i - 1, width = 1, height = 1,
        ["fill-opacity"] = ("%.3g"):format(math.min(1, value)), h.title { tell(i, j, value) } }
        or nil
    end
  end
  return rects
end

local function grid_of(columns, rows, fields)
  fields.viewBox, fields.preserveAspectRatio = ("0 0 %d %d"):format(columns, rows), "none"
  fields["shape-rendering"] = "crispEdges"
  return h.svg(fields)
end

local function color_bar(cells)
  local shades, texts = {}, {}
  for i = 1, BAR do
    shades[i] = { cells.axis.high + (cells.axis.low - cells.axis.high) * (i - 0.5) / BAR }
  end
  local ticks = places.ticks(cells.axis, TICKS // 2, true)
  for i, tick in ipairs(ticks) do
    texts[i] = h.text { class = "tick", x = "2.4em", y = places.percent(tick.at), dy = ".35em",
      tick.text }
  end
  return places.at(1, 0, { grid_of(1, BAR, { x = "1em", width = "1em",
    in_colors(shades, cells) }), texts }), ticks
end

-- Returns ticks with the given names if there is space, otherwise with numbers.
local function ticks_of(names, first, count)
  if not names or #names > MOST_NAMES then
    return places.ticks(cells_of.numbering(first, count), math.min(TICKS, count))
  end
  return tables.map(names, function(name, i) return { at = (i - 0.5) / count, text = name } end)
end

return function(figure)
  local rows, columns = figure.matrix:size(1), figure.matrix:size(2)
  local is_told = figure.tell ~= nil
  local cells = is_told and { rows = figure.matrix:totable() }
    or cells_of.read(figure, MOST_CELLS, MOST_CELLS)
  local bar, bar_ticks
  if figure.legend and not is_told then
    bar, bar_ticks = color_bar(cells)
  end
  local function body()
    return { not is_told and h.rect { class = cells.palette, fill = cells.gap_color,
      width = "100%", height = "100%" },
      grid_of(#cells.rows[1], #cells.rows, { class = figure.class,
        is_told and in_strength(cells.rows, figure.tell) or in_colors(cells.rows, cells) }), bar }
  end
  local aspect = columns / rows
  return { x = ticks_of(figure.columns, figure.first_column, columns),
    y = ticks_of(figure.rows, figure.first_row, rows), names = {}, beside = bar_ticks, body = body,
    note = cells.note, aspect = aspect >= 0.5 and aspect <= 2 and aspect or nil }
end
