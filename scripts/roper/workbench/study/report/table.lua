--- Tables of the report: numbers to the right in figures of one width, texts to the left.
local h = require("roper.base.markup").h
local curve = require "roper.workbench.study.report.curve"
local marks = require "roper.workbench.plot.svg.mark"
local number = require "roper.workbench.study.report.number"

local M = {}

--- A method's name with its mark.
---@param view table
---@param method string
---@return table
function M.name(view, method)
  return { marks.beside_text(curve.style(view.sweep, method)), " ", h.bdi { method } }
end

--- A table that scrolls where the screen is narrow.
---@param options table head: a text a column; rows: lists of cells, of which the first names the
---   row; left: set of the columns that hold text (the first does); class; caption
---@return table element
function M.of(options)
  local left = options.left or {}
  left[1] = true
  local function row(cells, tag)
    local made = {}
    for i = 1, #options.head do
      local cell = cells[i] or number.NONE
      made[i] = h[i == 1 and "th" or tag] { class = not left[i] and "n",
        scope = i == 1 and tag == "td" and "row" or tag == "th" and "col", cell }
    end
    return h.tr { made }
  end
  local rows = {}
  for i, cells in ipairs(options.rows) do
    rows[i] = row(cells, "td")
  end
  return { options.caption and h.p { class = "caption", options.caption },
    h.div { class = "scroll", tabindex = "0", role = "region",
      ["aria-label"] = options.caption or options.class,
      h.table { class = options.class, h.thead { row(options.head, "th") }, h.tbody { rows } } } }
end

return M
