--- How far the figures can be trusted: spread within each method, differences between methods.
local h = require("roper.base.markup").h
local axes = require "roper.plot.axis"
local curve = require "roper.study.report.curve"
local headline = require "roper.study.report.headline"
local number = require "roper.study.report.number"
local statistics = require "roper.study.statistics"
local summary = require "roper.study.summary"
local svg = require "roper.plot.svg"
local tables = require "roper.study.report.table"
local text = require "roper.study.report.text"
local base_text = require "roper.plot.text"

-- Height of a row of dots, in rem: of few methods, whose runs are joined, and of many.
local FEW_ROW <const>, ROW <const> = 2.2, 1.4

-- Digits after the point that a metric is shown with.
local function digits_of(metric)
  return tonumber(metric.form:match "%.(%d+)f") or 4
end

-- A row a method for one metric; nil where no run has it.
local function spread_table(view, metric)
  local digits, rows = digits_of(metric), {}
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

-- The interval of a mean difference; the differences themselves where they are too few for one.
local function interval(pair, digits)
  if pair.low or pair.n >= statistics.LEAST then
    return number.interval(pair.low, pair.high, digits, number.signed)
  end
  local parts = {}
  for i, difference in ipairs(pair.each) do
    parts[i] = number.signed(difference, digits)
  end
  return "one by one: " .. table.concat(parts, ", ")
end

-- Differences of runs from the same seed; nil where no seed is shared.
local function pairs_table(view, metric)
  local digits, rows = digits_of(metric), {}
  for _, pair in ipairs(view.summary.pairs) do
    if pair.metric == metric.name and pair.n > 0 then
      rows[#rows + 1] = { { h.bdi { pair.b }, " − ", h.bdi { pair.a } }, pair.n,
        number.signed(pair.difference, digits), interval(pair, digits),
        number.probability(pair.p), number.probability(pair.corrected) }
    end
  end
  return #rows > 0 and tables.of { class = "pairs", rows = rows,
    caption = "Differences between runs of the same seed",
    head = { "difference", "pairs", "mean", "95 % interval", "p", "p, Holm" } } or nil
end

-- The rows of a dot plot: every finished run of each method that has a value, seeds in lanes.
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
    for _, run in ipairs(method.runs) do
      local value = summary.value(run, metric)
      if value then
        values[#values + 1] = value
        row.dots[#row.dots + 1] = { value = value, lane = lanes[run.config.seed],
          title = ("%s, seed %s: %s"):format(method.method, run.config.seed,
            number.fixed(value, digits_of(metric))) }
      end
    end
    row.mean = #row.dots > 0 and method[metric.name].mean
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
        number.signed(pair.difference, digits_of(metric)),
        (" (%s)"):format(headline.doubt(pair, digits_of(metric))) }
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
  local is_joined = #rows <= curve.MANY
  return h.figure { h.figcaption { h.b { title }, differences_text(view, metric) },
    svg.fluid({ kind = "dots", title = title, xlabel = "", ylabel = "", rows = rows,
      lanes = lanes, is_joined = is_joined, x = axes.new({ values }, { round = true }) },
      ("%.1frem"):format((is_joined and FEW_ROW or ROW) * #rows)),
    h.details { h.summary { "In numbers" }, tables_below } }
end

-- Steps to 90 %: runs that never got there are counted.
local function steps_table(view)
  local rows = {}
  for _, method in ipairs(view.summary.methods) do
    local c = method.steps_to_90
    if c then
      rows[#rows + 1] = { tables.name(view, method.method), c.n,
        ("%d of %d"):format(c.reached, c.n),
        text.median_of_steps(c),
        (c.reached < c.n and "≥ " or "") .. number.fixed(c.mean, 0),
        c.reached > 0 and number.fixed(c.error, 0) }
    end
  end
  return #rows > 0 and tables.of { class = "censored", rows = rows,
    head = { "method", "N", "reached", "median", "restricted mean", "± s.e." } } or nil
end

return function(view)
  local nodes, finished = {}, 0
  for _, method in ipairs(view.summary.methods) do
    finished = finished + method.finished
  end
  if finished < 2 then
    return { h.p { "There are no two finished runs to compare." } }
  end
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
    "runs; of other counts the worst tenth, rounded down. Intervals: bootstrap-t of the mean, of ",
    ("%d or more that are not nearly all the same; fewer pairs are shown one by one, in the order "
      .. "of the runs. "):format(statistics.LEAST),
    "p: two-sided permutation test on the signs of the differences. Holm: corrected for the ",
    "number of pairs of methods in each table; not for the number of tables, which measure the ",
    "same runs.", view.summary.on.problems and " A run that never reached 90 % counts in the "
      .. "median as longer than the steps it had, and in the restricted mean and the differences "
      .. "as just these." or "" }, nodes }
end
