-- Draws the mean accuracy over the six tasks against the length: each group of transformations with
-- turned values and output, and without.
--
--     ./roper scripts/experiments/along_the_way/figure.lua FILE [RESULTS [DESIGN]]
local comparison = require "comparison"
local plot = require "roper.workbench.plot"
local position = require "roper.workbench.study.experiment.position"
local results = require "results"
local statistics = require "roper.tensor.statistics"
local tables = require "roper.base.tables"

local file, path, design_path = ...
if not file then
  error("figure.lua: expected a file for the figure, got none", 0)
end
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local design = dofile(design_path or here .. "/design.lua")
local sweeps = results.read(design, path or here .. "/results.csv")
local stage, question = design.stages[1], design.questions[1]
local LENGTHS <const> = tables.joined({ 1 }, design.times)

local runs = {}
for _, task in ipairs(question.tasks) do
  runs[task] = comparison.read(sweeps[task], stage.choosing)
end

-- The means over tasks at a length, one for each seed that has all tasks.
local function by_seed(method, times)
  local values = {}
  for _, seed in ipairs(stage.comparing) do
    local found = tables.map(question.tasks, function(task)
      local run = (runs[task][position.as_stored(method)] or {})[seed]
      return run and comparison.value(run, "accuracy", { times })
    end)
    values[#values + 1] = #found == #question.tasks and statistics.mean(found) or nil
  end
  return values
end

local series = {}
for _, pair in ipairs(question.pairs) do
  for i, method in ipairs(pair) do
    local line = { label = pair[1], x = {}, y = {}, low = {}, high = {}, dashed = i == 1 }
    for j, times in ipairs(LENGTHS) do
      local values = by_seed(method, times)
      local mean, deviation = statistics.mean(values), statistics.standard_error(values)
      line.x[j], line.y[j] = times, mean or 0 / 0
      line.low[j] = mean and deviation and mean - deviation or 0 / 0
      line.high[j] = mean and deviation and mean + deviation or 0 / 0
    end
    series[#series + 1] = line
  end
end
plot.line(series, file, { xlabel = "length / trained length", logx = true, yrange = { 0, 1 },
  ylabel = "accuracy, mean of six tasks" })
