--- Figures of a study's curves: means over the seeds, with their range.
local plot = require "roper.workbench.plot"
local statistics = require "roper.tensor.statistics"
local studies = require "studies"
local tables = require "roper.base.tables"

local M = {}

-- Adds the points of a curve to a table of values by step.
local function add_points(values, curve)
  for _, point in ipairs(curve or {}) do
    values[point[1]] = values[point[1]] or {}
    table.insert(values[point[1]], point[2])
  end
end

--- Draws a line for each table of values by step; nil if there is no value.
---@param methods table<string, table<integer, number[]>>
---@param ylabel string
---@return string? svg
function M.draw(methods, ylabel)
  local series = tables.map(tables.keys(methods), function(method)
    local line, values = { label = method, x = {}, y = {}, low = {}, high = {} }, methods[method]
    for i, step in ipairs(tables.keys(values)) do
      line.x[i], line.y[i] = step, statistics.mean(values[step])
      line.low[i], line.high[i] = math.min(table.unpack(values[step])),
        math.max(table.unpack(values[step]))
    end
    return line.x[1] and line or nil
  end)
  return series[1] and plot.line(series, { xlabel = "step", ylabel = ylabel, format = "svg" })
end

--- Draws the curves of a sweep, one for each method; nil if no run is recorded.
---@param study Study
---@param sweep string
---@param ylabel string
---@return string? svg
function M.figure(study, sweep, ylabel)
  local methods = {}
  for _, row in ipairs(study.compared) do
    if row.sweep == sweep then
      local method = studies.method(study, row)
      methods[method] = methods[method] or {}
      add_points(methods[method], row.curve)
    end
  end
  return M.draw(methods, ylabel)
end

--- The curves of one position scheme minus those of another, for each pair of the same seed.
---@param study Study
---@param sweep string
---@param position string
---@param baseline string
---@return table<integer, number[]> values by step
function M.differences(study, sweep, position, baseline)
  local base, values = {}, {}
  local function each(name, visit)
    for _, row in ipairs(study.compared) do
      for _, point in ipairs(row.sweep == sweep and row.position == name and row.curve or {}) do
        visit(row.seed .. ":" .. point[1], point[1], point[2])
      end
    end
  end
  each(baseline, function(key, _, value) base[key] = value end)
  each(position, function(key, step, value)
    add_points(values, base[key] and { { step, value - base[key] } })
  end)
  return values
end

return M
