--- The loss of each method against the values of a field, such as the rate, with the choice of the
--- best value.
local chart = require "roper.workbench.study.report.chart"
local selected = require "roper.workbench.study.report.selected"
local tables = require "roper.base.tables"

-- The curves of the methods: mean losses by value. Values that are not numbers have no place on the
-- axis, and values with runs that diverged or are missing have no loss.
local function curves_of(selection)
  return tables.map(selection.methods, function(entry, i)
    local points = {}
    for _, one in ipairs(entry.values) do
      points[#points + 1] = type(one.value) == "number" and { one.value, one.loss or false } or nil
    end
    return points[2] and { method = entry.method, label = entry.method, points = points,
      style = i, finished = true, runs = #selection.choosing } or nil
  end)
end

return function(view)
  local selection = view.selection
  if not selection then
    return nil
  end
  local least = math.huge
  for _, entry in ipairs(selection.methods) do
    least = math.min(least, type(entry.values[1].value) == "number" and entry.values[1].value or 0)
  end
  return { selected(view), chart.lines { title = ("Loss against %s"):format(selection.field),
    x = selection.field, y = "loss in nats per token", is_log = least > 0,
    note = "Mean over the seeds of the choice. A line breaks where a run diverged or is missing.",
    lines = curves_of(selection) } or false }
end
