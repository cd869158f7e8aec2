--- The figure of a study's curves: means over the seeds, with their range.
local plot = require "roper.workbench.plot"
local statistics = require "roper.tensor.statistics"
local studies = require "studies"
local tables = require "roper.base.tables"

local M = {}

--- Draws the curves of a sweep, one for each method; nil if no run is recorded.
---@param study Study
---@param sweep string
---@param ylabel string
---@return string? svg
function M.figure(study, sweep, ylabel)
  local methods = {}
  for _, row in ipairs(study.compared) do
    local method = studies.method(study, row)
    for _, point in ipairs(row.sweep == sweep and row.curve or {}) do
      methods[method] = methods[method] or {}
      methods[method][point[1]] = methods[method][point[1]] or {}
      table.insert(methods[method][point[1]], point[2])
    end
  end
  local series = tables.map(tables.keys(methods), function(method)
    local line, points = { label = method, x = {}, y = {}, low = {}, high = {} }, methods[method]
    for i, step in ipairs(tables.keys(points)) do
      line.x[i], line.y[i] = step, statistics.mean(points[step])
      line.low[i], line.high[i] = math.min(table.unpack(points[step])),
        math.max(table.unpack(points[step]))
    end
    return line
  end)
  return series[1] and plot.line(series, { xlabel = "step", ylabel = ylabel, format = "svg" })
end

return M
