--- Figure of rotating arrows, one for each pair. Several are labeled by their index t, from 0.
local options_of = require "roper.options.rows"
local parts = require "roper.workbench.lesson.play.parts"
local h = require("roper.text.markup").h

local M = {}

M.rows = options_of.define("LessonRotation", {
  parent = "LessonPlay",
  { "vectors", "table", nil, "the pairs that are rotated. The frequency of a single pair can be "
    .. "set, those of several follow from a base", type = "number[][]" },
  { "position", "size", 1, "initial position" },
  { "farthest", "size", 100, "largest position" },
})

M.lists = { vectors = parts.PAIRS }

function M.draw(o)
  local count, head = #o.vectors, { "θ", "m θ", "degrees", "x′", "y′" }
  local arrows, rows = {}, {}
  for i = 1, count do
    local t = count > 1 and tostring(i - 1)
    arrows[i] = { "start" .. i, "x", "was" }
    arrows[count + i] = { "arrow" .. i, "x", false, t }
    rows[i] = h.tr { t and h.td { t }, parts.number("theta" .. i, 4),
      parts.number("turn" .. i, 3), parts.number("degrees" .. i, 0), parts.number("x" .. i, 3),
      parts.number("y" .. i, 3) }
  end
  if count > 1 then
    table.insert(head, 1, "t")
  end
  return { parts.task(count > 1 and "Move the position: each arrow turns at its own frequency."
      or "Move the position: the arrow turns by its frequency."),
    parts.controls { parts.slider("position", "position m", { min = 0, max = o.farthest,
      value = o.position }) },
    parts.picture { parts.plane("Rotated by position", parts.reach_of(o.vectors), arrows) },
    parts.controls { count > 1 and parts.base_slider()
        or parts.slider("theta", "frequency θ", { min = 0, max = 1, step = 0.05, value = 1,
          digits = 2 }), parts.motion_button() },
    parts.numbers_table(head, rows) }
end

return M
