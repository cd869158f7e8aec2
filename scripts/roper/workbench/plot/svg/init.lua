--- Renders charts as SVG: as separate pictures, or as parts of a page that fill the available width
--- while the text keeps its size. Both follow the reader's light or dark mode.
---
--- The module for each kind of figure returns a drawing, a table with the fields x and y: lists of
--- ticks {at, text}, with `at` a share of the width, or of the height from the top; names: texts
--- {text, at, index?} at the right; body: a function that returns the elements for a plot of a
--- given size in units; beside: ticks of a colour bar; aspect: width divided by height, if it is
--- fixed; note.
local marks = require "roper.workbench.plot.svg.mark"
local markup = require "roper.text.markup"
local places = require "roper.workbench.plot.svg.place"
local text = require "roper.text.width"
local h = markup.h

local M = {}

local WIDTH <const>, HEIGHT <const>, MATRIX_HEIGHT <const> = 560, 400, 480 -- pixels
local TAGGED_WIDTH <const> = 460 -- for square plots with names inside
local EM <const>, LETTER <const> = places.EM, places.LETTER
local LONGEST_TICK <const> = 24
local NAME_GAP <const> = 1.3 -- em between names, if there is space
local SIDE <const> = 0.8 -- em beside a picture
local UNITS <const> = 1000 -- width and height of a plot that stretches
local PAGE_ROOM <const> = 24 -- em; width of a page on a phone

--- Returns the style sheet of charts.
---@return table css
function M.style()
  return markup.asset "workbench/plot/svg/chart.css"
end

local function drawing_of(figure)
  return require("roper.workbench.plot.svg." .. figure.kind)(figure)
end

local function width_of(list, field)
  local width = 0
  for _, entry in ipairs(list) do
    width = math.max(width, LETTER * text.width(entry[field or "text"]))
  end
  return width
end

-- Returns the margins around a plot in em; `room` is the total width.
local function margins_of(figure, drawing, room)
  for _, list in ipairs { drawing.x, drawing.y } do
    for _, tick in ipairs(list) do
      tick.text = text.fit(tick.text, LONGEST_TICK)
    end
  end
  for _, name in ipairs(drawing.names) do
    name.shown = text.fit(name.text, math.floor(0.4 * room / LETTER))
  end
  local below = width_of(drawing.x)
  local m = { left = width_of(drawing.y) + 1, top = figure.ylabel ~= "" and 1.8 or 0.7,
    right = #drawing.names > 0 and width_of(drawing.names, "shown") + 2.4
      or drawing.beside and width_of(drawing.beside) + 3 or math.max(1, below / 2) }
  m.is_turned = (figure.names or figure.columns) and below > LETTER
    and #drawing.x * (below + LETTER) > room - m.left - m.right
  m.below = m.is_turned and below + 0.6 or 1.5
  m.bottom = m.below + (figure.xlabel ~= "" and 1.5 or 0.3)
  return m
end

-- Moves names so that they do not overlap: first pushes them apart, then back inside the plot.
local function spread(names, gap)
  table.sort(names, function(a, b)
    return a.at < b.at or a.at == b.at and (a.index or 0) < (b.index or 0)
  end)
  local floor, ceiling = 0, 1
  gap = math.min(gap, 1 / #names)
  for _, name in ipairs(names) do
    name.at = math.max(name.at, floor)
    floor = name.at + gap
  end
  for i = #names, 1, -1 do
    names[i].at = math.min(names[i].at, ceiling)
    ceiling = names[i].at - gap
  end
end

-- Returns the font size at which `count` lines fit into a length of `em`; nil for the full size.
local function letter_size(count, em)
  return em and em < count and places.percent(em / count) or nil
end

-- Returns the texts around a plot. `across` and `down` are its size in em, if known.
local function surroundings(figure, drawing, margins, gap, across, down)
  local list = {}
  for i, tick in ipairs(drawing.x) do
    local fields = { class = "tick", ["text-anchor"] = margins.is_turned and "end" or "middle",
      dy = margins.is_turned and ".35em" or "1.2em", x = margins.is_turned and "-.4em",
      ["font-size"] = letter_size(#drawing.x, across),
      transform = margins.is_turned and "rotate(-90)", tick.text }
    list[i] = places.at(tick.at, 1, { h.text(fields) })
  end
  for _, tick in ipairs(drawing.y) do
    list[#list + 1] = h.text { class = "tick", ["text-anchor"] = "end", x = "-.6em",
      ["font-size"] = letter_size(#drawing.y, down), y = places.percent(tick.at), dy = ".35em",
      tick.text }
  end
  if figure.ylabel ~= "" then
    list[#list + 1] = h.text { class = "label", x = ("%.2fem"):format(-margins.left),
      y = "-.9em", figure.ylabel }
  end
  if figure.xlabel ~= "" then
    list[#list + 1] = h.text { class = "label", x = "100%", y = "100%", ["text-anchor"] = "end",
      dy = ("%.2fem"):format(margins.below + 1.1), figure.xlabel }
  end
  spread(drawing.names, gap)
  for _, name in ipairs(drawing.names) do
    list[#list + 1] = places.at(1, name.at, { class = "name",
      name.index and h.g { class = marks.class(name.index),
        marks.path(name.index, "translate(8 -5)") }
        or h.path { class = "level", d = "M6 0H18" },
      h.text { x = 26, dy = ".35em", ["font-size"] = letter_size(#drawing.names, down),
        name.shown ~= name.text and h.title { name.text }, name.shown } })
  end
  return list
end

--- Renders a chart for a page that includes `style` and sets the height of `.plot`.
---@param figure table with title, xlabel, ylabel
---@param height string? if it is known
---@return table element
function M.fluid(figure, height)
  local drawing = drawing_of(figure)
  local m = margins_of(figure, drawing, PAGE_ROOM)
  local is_curves = figure.kind == "curves"
  return h.svg { class = "chart plot " .. figure.kind, role = "img",
    ["aria-label"] = figure.title, ["data-step"] = is_curves and figure.xlabel,
    ["data-x"] = is_curves and ("%.9g %.9g"):format(figure.x.low, figure.x.high),
    ["data-log"] = is_curves and figure.x.log and "true",
    ["data-y"] = is_curves and ("%.9g %.9g"):format(figure.y.low, figure.y.high),
    style = ("margin:%.2fem %.2fem %.2fem %.2fem;width:calc(100%% - %.2fem)%s"):format(m.top,
      m.right, m.bottom, m.left, m.left + m.right, height and ";height:" .. height or ""),
    drawing.body(UNITS, UNITS), surroundings(figure, drawing, m, 0.065) }
end

--- Renders a chart as a picture.
---@return string svg
function M.render(figure)
  local drawing = drawing_of(figure)
  local width = figure.width or figure.is_tagged and TAGGED_WIDTH or WIDTH
  local height = figure.height or figure.kind == "matrix" and MATRIX_HEIGHT or HEIGHT
  local m = margins_of(figure, drawing, width / EM)
  local note = drawing.note or figure.note
  local top = EM * (m.top + (figure.title ~= "" and 2 or 0))
  local left = EM * (m.left + SIDE)
  local across = math.max(1, width - left - EM * m.right)
  local down = math.max(1, height - top - EM * (m.bottom + (note and 1.4 or 0)))
  local aspect = drawing.aspect
  if aspect then
    local narrower = math.min(across, aspect * down)
    left, across, down = left + (across - narrower) / 2, narrower, narrower / aspect
  end
  local fit = math.floor(width / EM / LETTER) - 2
  return '<?xml version="1.0" encoding="utf-8"?>\n' .. markup.render(h.svg {
    xmlns = "http://www.w3.org/2000/svg", class = "chart " .. figure.kind, role = "img",
    width = width, height = height, viewBox = ("0 0 %d %d"):format(width, height),
    ["font-size"] = EM,
    h.style { M.style() },
    h.rect { class = "paper", width = "100%", height = "100%" },
    figure.title ~= "" and h.text { class = "title", x = SIDE .. "em", y = "1.6em",
      text.fit(figure.title, fit) },
    h.svg { x = ("%.1f"):format(left), y = ("%.1f"):format(top),
      width = ("%.1f"):format(across), height = ("%.1f"):format(down),
      drawing.body(across, down), surroundings(figure, drawing, m, NAME_GAP * EM / down,
        across / EM, down / EM) },
    note and h.text { class = "note", x = "1em", y = "100%", dy = "-.7em", text.fit(note,
      fit * 5 // 4) },
  }) .. "\n"
end

return M
