--- Figure of the score of two vectors of ones by distance: a curve, and a point on it.
local axes = require "roper.workbench.plot.axis"
local options_of = require "roper.options.rows"
local parts = require "roper.workbench.lesson.play.parts"
local svg = require "roper.workbench.plot.svg"
local h = require("roper.text.markup").h

local M = {}

-- With fewer pairs, the score could fall below the axis.
local PAIR_COUNTS <const> = { smallest = 16, largest = 512 }

M.rows = options_of.define("LessonDistance", {
  parent = "LessonPlay",
  { "pairs", PAIR_COUNTS, 32, "half the features of the two vectors of ones", type = "integer" },
  { "farthest", "size", 200, "largest distance" },
})

M.lists = {}

function M.draw(o)
  local function axis(low, high)
    return axes.new({ { low, high } }, { range = { low, high } })
  end
  return { parts.task "Move the distance, then change the base.",
    parts.controls { parts.slider("distance", "distance", { min = 0, max = o.farthest,
      value = 20 }) },
    h.div { class = "pic", svg.fluid { kind = "curves", title = "score by distance",
      xlabel = "distance", ylabel = "score", x = axis(0, o.farthest),
      y = axis(-o.pairs, 2 * o.pairs), series = {
        { index = 1, x = { 0, o.farthest }, y = { 0, 0 }, show = "curve" },
        { index = 2, x = { 0 }, y = { 0 }, show = "point" } } } },
    parts.controls { parts.base_slider(), parts.slider("fraction", "fraction", { min = 0, max = 1,
      step = 1 / o.pairs, value = 1, digits = 3 }) },
    h.p { class = "check", "The score at distance ", parts.number("distance", 0, h.b), ": ",
      h.output { ["data-show"] = "score" } } }
end

return M
