--- How far the figures can be trusted: spread within each method, differences between methods.
local h = require("roper.base.markup").h
local axes = require "roper.workbench.plot.axis"
local curve = require "roper.workbench.study.report.curve"
local headline = require "roper.workbench.study.report.headline"
local number = require "roper.workbench.study.report.number"
local summary = require "roper.workbench.study.summary"
local svg = require "roper.workbench.plot.svg"
local tables = require "roper.workbench.study.report.table"
local text = require "roper.workbench.study.report.text"
local base_text = require "roper.workbench.plot.text"

-- Height of a row of dots, in rem: of few methods, whose runs are joined, and of many.
local FEW_ROW <const>, ROW <const> = 2.2, 1.4

-- A row a method for one metric; nil where no run has it.
local function spread_table(view, metric)
  local digits, rows = number.digits_of(metric), {}
  for _, method in ipairs(view.summary.methods) do
    local s = method[metric.name]
    if s and s.n > 0 then
      rows[#rows + 1] = { tables.name(view, method.method), s.n, number.fixed(s.mean, digits),
        number.fixed(s.error, digits), number.interval(s.low, s.high, digits),
        number.fixed(s.median, digits), number.fixed(s.trimmed, digits),
        ("%d of %d"):format(s.kept, s.n) }
    end
  end
  return #rows > 0 and tables.of { class = "spread", caption = "Runs of each method",
    head = { "method", "N", "mean", "± s.e.", "95 % interval", "median", "study’s mean", "kept" },
    rows = rows } or nil
end

-- The interval of a mean difference; the differences themselves if they are too few for one.
local function interval(pair, digits)
  local each = not pair.low and headline.each(pair, digits)
  return each and "one by one: " .. each
    or number.interval(pair.low, pair.high, digits, number.signed)
end

-- Differences of runs from the same seed; nil where no seed is shared.
local function pairs_table(view, metric)
  local digits, rows = number.digits_of(metric), {}
  for _, pair in ipairs(view.summary.pairs) do
    if pair.metric == metric.name and pair.n > 0 then
      rows[#rows + 1] = { { h.bdi { pair.b }, " − ", h.bdi { pair.a } }, pair.n,
        number.signed(pair.difference, digits), interval(pair, digits),
        number.probability(pair.corrected) }
    end
  end
  return #rows > 0 and tables.of { class = "pairs", rows = rows,
    caption = "Differences between runs of the same seed",
    head = { "difference", "pairs", "mean", "95 % interval", "p" } } or nil
end

-- The rows of a dot plot: every finished run of each method that has a value, seeds in lanes. A
-- censored one is beyond the axis, and the mean of its method is not known.
local function rows_of(view, metric)
  local lanes, count, rows, values = {}, 0, {}, {}
  for _, trial in ipairs(view.sweep.trials) do
    if not lanes[trial.seed] then
      count = count + 1
      lanes[trial.seed] = count
    end
  end
  for i, method in ipairs(view.summary.methods) do
    local row = { name = base_text.clean(method.method), index = i, dots = {} }
    local is_complete = true
    for _, run in ipairs(method.runs) do
      local value, is_censored = summary.value(run, metric)
      if value then
        values[#values + 1] = not is_censored and value or nil
        is_complete = is_complete and not is_censored
        row.dots[#row.dots + 1] = { value = not is_censored and value or nil,
          lane = lanes[run.config.seed], title = ("%s, seed %s: %s"):format(method.method,
            run.config.seed, is_censored and ("not reached in %d steps"):format(value)
            or number.fixed(value, number.digits_of(metric))) }
      end
    end
    row.mean = #row.dots > 0 and is_complete and method[metric.name].mean
    rows[#rows + 1] = #row.dots > 0 and row or nil
  end
  return rows, count, values
end

-- What a dot plot says in its caption: the differences, where there are few.
local function differences_text(view, metric)
  local parts = {}
  for _, pair in ipairs(view.summary.pairs) do
    if pair.metric == metric.name and pair.n > 0 then
      parts[#parts + 1] = { ". ", h.bdi { pair.b }, " − ", h.bdi { pair.a }, " ",
        number.signed(pair.difference, number.digits_of(metric)),
        (" (%s)"):format(headline.doubt(pair, number.digits_of(metric))),
        pair.censored > 0 and (", where %d of %s count a run that never got there with its last "
          .. "step"):format(pair.censored, number.count(pair.n, "pair")) }
    end
  end
  return #parts <= 3 and parts
end

-- One measure: a dot for each run, and below it what it sums up to, folded.
local function measure(view, metric, title, tables_below)
  local rows, lanes, values = rows_of(view, metric)
  if #rows == 0 then
    return nil
  end
  local is_joined, axis = #rows <= curve.MANY, axes.new({ values }, { round = true })
  return h.figure { h.figcaption { h.b { title }, differences_text(view, metric),
    not axis and ". No run got there." },
    axis and svg.fluid({ kind = "dots", title = title, xlabel = "", ylabel = "", rows = rows,
      lanes = lanes, is_joined = is_joined, x = axis, beyond = "not reached" },
      ("%.1frem"):format((is_joined and FEW_ROW or ROW) * #rows)),
    h.details { h.summary { "In numbers" }, tables_below } }
end

-- Steps to 90 %, with how many runs got there.
local function steps_table(view)
  local rows, is_censored = {}, false
  for _, method in ipairs(view.summary.methods) do
    local c = method.steps_to_90
    if c then
      rows[#rows + 1] = { tables.name(view, method.method), c.n,
        ("%d of %d"):format(c.reached, c.n),
        text.median_of_steps(c),
        (c.reached < c.n and "≥ " or "") .. number.fixed(c.mean, 0),
        c.reached > 0 and number.fixed(c.error, 0) }
      is_censored = is_censored or c.reached < c.n
    end
  end
  return #rows > 0 and { tables.of { class = "censored", rows = rows,
    head = { "method", "N", "reached", "median", "restricted mean", "± s.e." } },
    is_censored and h.p { class = "note", "A run that never reached 90 % counts in the median as ",
      "longer than the steps it had, and in the restricted mean as just these: the mean is at ",
      "least as large." } } or nil
end

return function(view)
  local nodes, finished = {}, 0
  for _, method in ipairs(view.summary.methods) do
    finished = finished + method.finished
  end
  if finished < 2 then
    return { h.p { "There are no two finished runs to compare." } }
  end
  local few = text.few_legend(view.summary)
  for _, metric in ipairs(view.summary.metrics) do
    nodes[#nodes + 1] = measure(view, metric, (metric.title:gsub("^%l", string.upper)),
      { spread_table(view, metric), pairs_table(view, metric) })
  end
  nodes[#nodes + 1] = measure(view, summary.STEPS, "Steps to 90 % accuracy on answer tokens",
    { steps_table(view), pairs_table(view, summary.STEPS) })
  return { h.p { class = "note", "A dot is a finished run, the stroke the mean of its method; ",
    "runs of the same seed are at the same height of each row",
    #view.sweep.methods <= curve.MANY and ", and joined. " or ". ",
    "N: finished runs. The study’s mean leaves out the worst of ten ",
    "runs; of other counts the worst tenth, rounded down. The interval of one method’s mean is ",
    "that of the same test as between methods, of six runs or more, and not corrected." },
    h.p { class = "note", (text.pair_legend(view.summary):gsub("^d", "D")), few and " ", few },
    nodes }
end
