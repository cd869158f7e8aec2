--- Figures of a study's curves: means over the seeds, with their range.
local families = require "families"
local plot = require "roper.workbench.plot"
local statistics = require "roper.tensor.statistics"
local studies = require "studies"
local tables = require "roper.base.tables"

local M = {}

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
    local method = studies.method(study, row)
    for _, point in ipairs(row.sweep == sweep and row.curve or {}) do
      methods[method] = methods[method] or {}
      methods[method][point[1]] = methods[method][point[1]] or {}
      table.insert(methods[method][point[1]], point[2])
    end
  end
  return M.draw(methods, ylabel)
end

--- The curve of a method minus that of another, for each pair of the same seed.
---@param study Study
---@param sweep string
---@param pair table {baseline, method}, as in a test
---@return table<integer, number[]> values by step
function M.differences(study, sweep, pair)
  local values = {}
  for _, row in ipairs(study.compared) do
    for _, point in ipairs(row.sweep == sweep and row.curve or {}) do
      values[point[1]] = {}
    end
  end
  for step in pairs(values) do
    local by_seed = families.differences(study, sweep, pair, { "step_" .. step })
    values[step] = tables.map(tables.keys(by_seed), function(seed) return by_seed[seed] end)
    values[step] = values[step][1] and values[step]
  end
  return values
end

return M
