--- Figures of accuracy against length, means over tasks and over the seeds.
local families = require "families"
local plot = require "roper.workbench.plot"
local statistics = require "roper.tensor.statistics"
local tables = require "roper.base.tables"

local M = {}

--- Draws accuracy against length, with the standard error; nil if no run is recorded.
---@param study Study with columns at_N, the accuracy at N times the trained length
---@param sweeps string[] the tasks
---@param lines {label: string, methods: string[]|table[], dashed: boolean}[] a line is the mean
---   over its methods
---@param ylabel string
---@return string? svg
function M.draw(study, sweeps, lines, ylabel)
  local times = {}
  for _, column in ipairs(study.plan.columns) do
    local n = tonumber(column:match "^at_(%d+)$")
    if n then
      times[n] = column
    end
  end
  local series = tables.map(lines, function(one)
    local line = { label = one.label, x = {}, y = {}, low = {}, high = {}, dashed = one.dashed }
    for _, n in ipairs(tables.keys(times)) do
      local list = families.means(study, one.methods, { sweeps = sweeps, measures = { times[n] } })
      local mean, deviation = statistics.mean(list), statistics.standard_error(list) or 0
      if mean then
        local i = #line.x + 1
        line.x[i], line.y[i], line.low[i], line.high[i] = n, mean, mean - deviation,
          mean + deviation
      end
    end
    return line.x[1] and line or nil
  end)
  return series[1] and plot.line(series, { xlabel = "length / trained length", logx = true,
    yrange = { 0, 1 }, ylabel = ylabel, format = "svg" })
end

return M
