--- Accuracy by the distance between an answer token and its source, and results by length.
local attempt = require "roper.workbench.study.report.attempt"
local chart = require "roper.workbench.study.report.chart"
local counted = require("roper.base.escape").count
local curve = require "roper.workbench.study.report.curve"
local figures = require "roper.workbench.study.report.figures"
local lengths = require "roper.workbench.study.report.lengths"
local number = require "roper.workbench.study.report.number"
local d = require "roper.text.document"
local statistics = require "roper.tensor.statistics"
local tables = require "roper.base.tables"

-- A line for a method, from the points of its runs.
local function line_of(view, entry, points, runs, counts)
  return #points > 0 and { points = points, counts = counts, method = entry.method,
    finished = true, style = curve.style(view.sweep, entry.method), runs = runs,
    label = ("%s, %s"):format(entry.method, counted(runs, "run")) } or nil
end

-- The share of right answer tokens at each distance, over all runs of a method, as a line.
local function accuracy_line(view, method)
  local sums, points, counts = {}, {}, {}
  for _, run in ipairs(method.runs) do
    for _, entry in ipairs(run.result.by_distance or {}) do
      local sum = sums[entry.distance] or { right = 0, count = 0 }
      sum.right, sum.count = sum.right + entry.right, sum.count + entry.count
      sums[entry.distance] = sum
    end
  end
  for _, distance in ipairs(tables.keys(sums)) do
    local sum = sums[distance]
    if sum.count > 0 then
      points[#points + 1] = { distance, sum.right / sum.count }
      counts[#counts + 1] = tostring(sum.count)
    end
  end
  return line_of(view, method, points, #method.runs, table.concat(counts, " "))
end

-- The mean loss of the runs of a method on text by the number of tokens before, as a line.
local function loss_line(view, method)
  local all = tables.map(method.runs, function(run)
    local points = tables.map(run.result.by_position or {}, function(entry)
      return { entry.last, number.is_finite(entry.loss) and entry.loss }
    end)
    return #points > 0 and { points = points } or nil
  end)
  return line_of(view, method, curve.mean(all), #all)
end

-- Problems that are longer than in training: a row for each method, a column for each kind.
local function longer_table(view)
  local head, columns, rows = { "method", "N" }, {}, {}
  for i, method in ipairs(view.summary.methods) do
    local solved = {}
    for _, run in ipairs(method.runs) do
      for _, entry in ipairs(run.result.solved and run.result.longer or {}) do
        if not columns[entry.name] then
          columns[entry.name] = #head + 1
          head[#head + 1] = ("%s, of %s"):format(entry.name, entry.problems)
        end
        solved[entry.name] = solved[entry.name] or {}
        table.insert(solved[entry.name], entry.solved)
      end
    end
    rows[i] = { curve.name(view.sweep, method.method), tostring(#method.runs) }
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
  local function draw(name, ...)
    return attempt.draw(view, name, ...) or false
  end
  local function lines(of, options)
    options.lines = tables.map(view.summary.methods, function(method) return of(view, method) end)
    return chart.lines(options)
  end
  local tree = tables.entries {
    draw("Accuracy by distance", lines, accuracy_line, { title = "Accuracy by distance",
      x = "tokens back to the source", y = "accuracy", low = 0, high = 1,
      note = "Answer tokens of all finished runs of a method together." }),
    draw("Loss by position", lines, loss_line, { title = "Loss by position", x = "tokens before",
      y = "nats per token", note = "Mean of a method’s finished runs. Each point averages all "
        .. "positions since the point before it." }),
    tables.map(figures.lengths(view), function(figure)
      return draw(figure.title, chart.figure, figure) or nil
    end), lengths(view) or false, longer_table(view) }
  return (#tree > 1 or tree[1] and #tree[1] > 0) and tree or nil
end
