--- Accuracy by the distance between an answer's token and its source, and on longer problems.
local chart = require "roper.workbench.study.report.chart"
local curve = require "roper.workbench.study.report.curve"
local number = require "roper.workbench.study.report.number"
local h = require("roper.base.markup").h
local statistics = require "roper.workbench.study.statistics"
local report_tables = require "roper.workbench.study.report.table"
local tables = require "roper.base.tables"
local text = require "roper.workbench.study.report.text"

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

-- Tokens right and asked at each distance, over all runs of a method, as a line.
local function line_of(sweep, method)
  local runs = results_of(sweep, method)
  local right, count, distances = {}, {}, {}
  for _, result in ipairs(runs) do
    for _, entry in ipairs(result.by_distance or {}) do
      local d = entry.distance
      if not count[d] then
        right[d], count[d] = 0, 0
        distances[#distances + 1] = d
      end
      right[d], count[d] = right[d] + entry.right, count[d] + entry.count
    end
  end
  table.sort(distances)
  local points, counts = {}, {}
  for _, d in ipairs(distances) do
    if count[d] > 0 then
      points[#points + 1] = { d, right[d] / count[d] }
      counts[#counts + 1] = tostring(count[d])
    end
  end
  return { points = points, counts = table.concat(counts, " "), method = method, finished = true,
    style = curve.style(sweep, method), runs = #runs,
    label = ("%s, %s"):format(method, number.count(#runs, "run")) }
end

-- The loss of a method's runs on text by how many tokens came before, as a line.
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
    label = ("%s, %s"):format(method, number.count(#all, "run")) }
end

local function position_chart(view)
  local lines = tables.map(view.sweep.methods, function(method)
    local line = loss_line(view.sweep, method)
    return #line.points > 0 and line or nil
  end)
  return chart.lines { title = "Loss by position", x = "tokens that came before",
    y = "nats per token", lines = lines, note = "Mean of a method’s finished runs; each point is "
      .. "over all positions since the one before it." }
end

-- Problems longer than those trained on: a row a method, a column a kind of problem.
local function longer_table(view)
  local head, columns, rows = { "method", "N" }, {}, {}
  for _, method in ipairs(view.sweep.methods) do
    local runs, solved = results_of(view.sweep, method), {}
    for _, result in ipairs(runs) do
      for _, entry in ipairs(view.summary.on.problems and result.longer or {}) do
        if not columns[entry.name] then
          columns[entry.name] = #head + 1
          head[#head + 1] = ("%s, of %s"):format(entry.name, entry.problems)
        end
        solved[entry.name] = solved[entry.name] or {}
        table.insert(solved[entry.name], entry.solved)
      end
    end
    local row = { report_tables.name(view, method), tostring(#runs) }
    for name, numbers in pairs(solved) do
      row[columns[name]] = number.fixed(statistics.mean(numbers), 1)
    end
    rows[#rows + 1] = row
  end
  return #head > 2 and report_tables.of { class = "longer", head = head, rows = rows,
    caption = "Problems longer than in training, correct on average" }
end

-- Accuracy by length; nil where no longer problems were tried.
local function length_table(view)
  local rows = text.length_rows(view.summary)
  if not rows then
    return nil
  end
  local head = table.remove(rows, 1)
  for i, row in ipairs(rows) do
    row[1] = report_tables.name(view, view.summary.methods[i].method)
  end
  return { report_tables.of { class = "longer", head = head, rows = rows,
    caption = view.summary.on.problems and "Accuracy by length" or "Loss by length" },
    h.p { class = "note", text.length_legend(view.summary) } }
end

return function(view)
  local lines = {}
  for _, method in ipairs(view.sweep.methods) do
    local line = line_of(view.sweep, method)
    lines[#lines + 1] = #line.points > 0 and line or nil
  end
  local figure = chart.lines { title = "Accuracy by distance", x = "tokens back to the source",
    y = "accuracy", low = 0, high = 1, lines = lines,
    note = "Answer tokens of all finished runs of a method together." }
  local positions = position_chart(view)
  local longer = longer_table(view)
  local lengths = length_table(view)
  return (figure or positions or longer or lengths)
    and { figure or false, positions or false, lengths or false, longer } or nil
end
