--- Accuracy by the distance between an answer token and its source, and results by length.
local chart = require "roper.workbench.study.report.chart"
local counted = require("roper.base.escape").count
local curve = require "roper.workbench.study.report.curve"
local lengths = require "roper.workbench.study.report.lengths"
local number = require "roper.workbench.study.report.number"
local d = require "roper.base.document"
local statistics = require "roper.workbench.study.statistics"
local tables = require "roper.base.tables"

-- The finished runs of a method.
local function results_of(sweep, method)
  local list = {}
  for _, trial in ipairs(sweep.trials) do
    if trial.method == method and trial.run.result then
      list[#list + 1] = trial.run.result
    end
  end
  return list
end

-- The share of right answer tokens at each distance, over all runs of a method, as a line.
local function line_of(sweep, method)
  local runs = results_of(sweep, method)
  local right, count, distances = {}, {}, {}
  for _, result in ipairs(runs) do
    for _, entry in ipairs(result.by_distance or {}) do
      local distance = entry.distance
      if not count[distance] then
        right[distance], count[distance] = 0, 0
        distances[#distances + 1] = distance
      end
      right[distance] = right[distance] + entry.right
      count[distance] = count[distance] + entry.count
    end
  end
  table.sort(distances)
  local points, counts = {}, {}
  for _, distance in ipairs(distances) do
    if count[distance] > 0 then
      points[#points + 1] = { distance, right[distance] / count[distance] }
      counts[#counts + 1] = tostring(count[distance])
    end
  end
  return { points = points, counts = table.concat(counts, " "), method = method, finished = true,
    style = curve.style(sweep, method), runs = #runs,
    label = ("%s, %s"):format(method, counted(#runs, "run")) }
end

-- The mean loss of the runs of a method on text by the number of tokens before, as a line.
local function loss_line(sweep, method)
  local runs, all = results_of(sweep, method), {}
  for _, result in ipairs(runs) do
    local points = tables.map(result.by_position or {}, function(entry)
      return { entry.last, number.is_finite(entry.loss) and entry.loss }
    end)
    all[#all + 1] = #points > 0 and { points = points } or nil
  end
  return { points = curve.mean(all), method = method, finished = true, runs = #all,
    style = curve.style(sweep, method),
    label = ("%s, %s"):format(method, counted(#all, "run")) }
end

local function position_chart(view)
  local lines = tables.map(view.sweep.methods, function(method)
    local line = loss_line(view.sweep, method)
    return #line.points > 0 and line or nil
  end)
  return chart.lines { title = "Loss by position", x = "tokens before",
    y = "nats per token", lines = lines, note = "Mean of a method’s finished runs. Each point "
      .. "averages all positions since the point before it." }
end

-- Problems that are longer than in training: a row for each method, a column for each kind.
local function longer_table(view)
  local head, columns, rows = { "method", "N" }, {}, {}
  for i, method in ipairs(view.sweep.methods) do
    local runs, solved = results_of(view.sweep, method), {}
    for _, result in ipairs(runs) do
      for _, entry in ipairs(result.solved and result.longer or {}) do
        if not columns[entry.name] then
          columns[entry.name] = #head + 1
          head[#head + 1] = ("%s, of %s"):format(entry.name, entry.problems)
        end
        solved[entry.name] = solved[entry.name] or {}
        table.insert(solved[entry.name], entry.solved)
      end
    end
    rows[i] = { curve.name(view.sweep, method), tostring(#runs) }
    for name, numbers in pairs(solved) do
      rows[i][columns[name]] = number.fixed(statistics.mean(numbers), 1)
    end
  end
  for _, row in ipairs(rows) do
    for i = 3, #head do
      row[i] = row[i] or number.NONE
    end
  end
  return #head > 2 and d.table { class = "longer", head = head, rows = rows,
    caption = "Problems longer than in training, correct on average" }
end

return function(view)
  local lines = tables.map(view.sweep.methods, function(method)
    local line = line_of(view.sweep, method)
    return #line.points > 0 and line or nil
  end)
  local figure = chart.lines { title = "Accuracy by distance", x = "tokens back to the source",
    y = "accuracy", low = 0, high = 1, lines = lines,
    note = "Answer tokens of all finished runs of a method together." }
  local tree = d.entries { figure or false, position_chart(view) or false, lengths(view) or false,
    longer_table(view) }
  return #tree > 0 and tree or nil
end
