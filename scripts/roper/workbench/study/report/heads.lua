--- Attention maps: one head of one run of each method, on the same problem.
local attempt = require "roper.workbench.study.report.attempt"
local core = require "roper.core"
local h = require("roper.text.markup").h
local curve = require "roper.workbench.study.report.curve"
local marks = require "roper.workbench.plot.svg.mark"
local number = require "roper.workbench.study.report.number"
local svg = require "roper.workbench.plot.svg"
local text = require "roper.workbench.plot.text"

-- Height of a row, in rem.
local ROW <const> = 0.95

-- A heatmap with a row for each token of the answer and a column for each relative distance.
local function heatmap(map, class)
  local farthest, rows, predicted = 1, {}, {}
  for _, row in ipairs(map.rows) do
    farthest = math.max(farthest, row.position)
  end
  for i, row in ipairs(map.rows) do
    rows[i], predicted[i] = {}, text.token(row.predicted)
    for distance = farthest, 0, -1 do
      rows[i][farthest - distance + 1] = row.weights[distance] or 0 / 0
    end
  end
  local function tell(i, j, weight)
    local row, distance = map.rows[i], farthest - j + 1
    local key = row.position - distance
    return ("%s on “%s” at %d, %d back, for “%s”"):format(number.fixed(weight, 3),
      text.token(map.tokens[key + 1]), key, distance, predicted[i])
  end
  return svg.fluid({ kind = "matrix", name = "report", title = "attention by relative distance",
    xlabel = "relative distance j − i", ylabel = "predicted token", class = class, tell = tell,
    matrix = core.tensor(rows, "float64"), rows = predicted, first_row = 1,
    first_column = -farthest }, ("%.2frem"):format(ROW * #map.rows))
end

-- The map of one trial as a figure.
local function figure(view, entry)
  local map = entry.map
  local title = { h.bdi { curve.label(entry.trial) },
    (": layer %d, head %d"):format(map.layer, map.head) }
  local share = (". On average, %s of its weight is %d back."):format(
    number.fixed(map.share, 2), map.distance)
  local class = marks.class(curve.style(view.sweep, entry.trial.method))
  return h.figure { class = "attention",
    h.figcaption { h.b { title }, share, " ",
      h.span { class = "weights", "Weight: 0 ", h.span { class = "scale " .. class }, " 1" } },
    heatmap(map, class) }
end

return function(view)
  local nodes, question = {}, nil
  for _, entry in ipairs(view.attention) do
    if entry.map then
      local problem = entry.map.question .. "\0" .. entry.map.answer
      if problem ~= question then
        question = problem
        nodes[#nodes + 1] = h.p { class = "problem", "Problem: ", h.code { entry.map.question,
          h.b { entry.map.answer } } }
      end
      nodes[#nodes + 1] = attempt.draw(view, "The attention map of "
        .. curve.label(entry.trial), figure, view, entry)
    else
      nodes[#nodes + 1] = h.p { class = "missing", h.bdi { curve.label(entry.trial) },
        ": no attention map: ", entry.problem }
    end
  end
  if #nodes == 0 then
    return nil
  end
  return { h.p { class = "note", "One run of each method. ",
    view.chosen and "The head was chosen by an option." or "The head is the one with the most "
      .. "weight at one relative distance of 2 or more.",
    " A row is a token of the answer; its cells are the weights with which the model predicts it, ",
    "by relative distance. A head that copies from one distance shows a column." }, nodes }
end
