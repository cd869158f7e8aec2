--- What the heads of one run of each method do: attention by distance, and scores.
local attempt = require "roper.workbench.study.report.attempt"
local core = require "roper.core"
local curve = require "roper.workbench.study.report.curve"
local d = require "roper.text.document"
local h = require("roper.text.markup").h
local marks = require "roper.workbench.plot.svg.mark"
local number = require "roper.workbench.study.report.number"
local svg = require "roper.workbench.plot.svg"
local tables = require "roper.base.tables"

-- Height of a row, in rem.
local ROW <const> = 0.95

-- Returns the heads of all layers: {name, layer, head}.
local function heads_of(scores)
  local list = {}
  for layer, heads in ipairs(scores.by_distance) do
    for head in ipairs(heads) do
      list[#list + 1] = { name = ("%d.%d"):format(layer, head), layer = layer, head = head }
    end
  end
  return list
end

-- Returns the figure of attention by distance of a run: a row for each head.
local function figure(view, entry)
  local scores, most = entry.scores, 0
  local heads = heads_of(scores)
  local farthest = #scores.by_distance[1][1] - 1
  local rows = tables.map(heads, function(one)
    local row = {}
    for distance, weight in ipairs(scores.by_distance[one.layer][one.head]) do
      row[farthest + 2 - distance] = weight
      most = math.max(most, weight == weight and weight or 0)
    end
    return row
  end)
  local class = marks.class(curve.style(view.sweep, entry.trial.method))
  return h.figure { class = "attention",
    h.figcaption { h.b { h.bdi { curve.label(entry.trial) }, ": attention by distance" }, ". ",
      h.span { class = "weights", "Weight: 0 ", h.span { class = "scale " .. class }, " ",
        number.fixed(most, 2) } },
    svg.fluid({ kind = "matrix", name = "report", title = "attention by distance of each head",
      xlabel = "relative distance j − i", ylabel = "layer.head", class = class,
      tell = function(i, j)
        return ("%s of the weight of head %s is %d back"):format(number.fixed(rows[i][j], 3),
          heads[i].name, farthest + 1 - j)
      end,
      matrix = core.tensor(rows, "float64") / math.max(most, 1e-300),
      rows = tables.map(heads, function(one) return one.name end), first_row = 1,
      first_column = -farthest }, ("%.2frem"):format(ROW * #heads)) }
end

local function scores_table(scores)
  local function cell(name, one, digits)
    return scores[name] and number.fixed(scores[name][one.layer][one.head], digits) or number.NONE
  end
  return d.details("Scores of each head", { d.table { class = "heads",
    head = { "layer.head", "previous token", "copying", "induction", "increase in loss" },
    rows = tables.map(heads_of(scores), function(one)
      return { one.name, cell("previous_token", one, 3), cell("copying", one, 3),
        cell("induction", one, 3), cell("ablation", one, 4) }
    end) } })
end

return function(view)
  local nodes = {}
  for _, entry in ipairs(view.attention) do
    if entry.scores then
      nodes[#nodes + 1] = attempt.draw(view, "Attention by distance of "
        .. curve.label(entry.trial), figure, view, entry)
      nodes[#nodes + 1] = scores_table(entry.scores)
      nodes[#nodes + 1] = tables.map(entry.scores.problems or {}, function(problem)
        return d.paragraph({ d.styled("name", curve.label(entry.trial)), ": ", problem }, "missing")
      end)
    elseif entry.map and entry.no_scores then
      nodes[#nodes + 1] = h.p { class = "missing", h.bdi { curve.label(entry.trial) },
        ": no scores of its heads: ", entry.no_scores }
    end
  end
  return #nodes > 0 and { h.p { class = "note", "One run of each method, on fresh problems. A row "
    .. "is a head, a column the mean weight at a relative distance. Previous token: mean weight on "
    .. "the token before. Copying: if the next token is one of an answer and repeats an earlier "
    .. "token, mean weight on that earlier one; near 1 in a head that finds it. Induction: on "
    .. "random tokens that are repeated once, mean weight on the token after the earlier "
    .. "occurrence (Olsson et al. 2022). These texts are unlike the task's problems: expect values "
    .. "near 0, even in models that solve the task by copying, and near 1 only in models that "
    .. "continue any repeated text. Increase in loss: in nats per token of an answer, if the "
    .. "output of the head is 0; not measured for large models." },
    nodes } or nil
end
