--- Accuracy by the distance between an answer's token and its source, and on longer problems.
local chart = require "roper.study.report.chart"
local curve = require "roper.study.report.curve"
local number = require "roper.study.report.number"
local h = require("roper.base.markup").h
local statistics = require "roper.study.statistics"
local tables = require "roper.study.report.table"
local text = require "roper.study.report.text"

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

-- Problems longer than those trained on: a row a method, a column a kind of problem.
local function longer_table(view)
  local head, columns, rows = { "method", "N" }, {}, {}
  for _, method in ipairs(view.sweep.methods) do
    local runs, solved = results_of(view.sweep, method), {}
    for _, result in ipairs(runs) do
      for _, entry in ipairs(result.longer or {}) do
        if not columns[entry.name] then
          columns[entry.name] = #head + 1
          head[#head + 1] = ("%s, of %s"):format(entry.name, entry.problems)
        end
        solved[entry.name] = solved[entry.name] or {}
        table.insert(solved[entry.name], entry.solved)
      end
    end
    local row = { tables.name(view, method), tostring(#runs) }
    for name, numbers in pairs(solved) do
      row[columns[name]] = number.fixed(statistics.mean(numbers), 1)
    end
    rows[#rows + 1] = row
  end
  return #head > 2 and tables.of { class = "longer", head = head, rows = rows,
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
    row[1] = tables.name(view, view.summary.methods[i].method)
  end
  return { tables.of { class = "longer", head = head, rows = rows,
    caption = "Accuracy by length" }, h.p { class = "note", text.length_legend(view.summary) } }
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
  local longer = longer_table(view)
  local lengths = length_table(view)
  return (figure or longer or lengths) and { figure or false, lengths or false, longer } or nil
end
