--- How far the figures can be trusted: spread within each method, differences between methods.
local h = require("roper.base.markup").h
local number = require "roper.study.report.number"
local statistics = require "roper.study.statistics"
local summary = require "roper.study.summary"
local tables = require "roper.study.report.table"
local text = require "roper.study.report.text"

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
  return #rows > 0 and { h.h3 { "Steps to 90 % accuracy on answer tokens" },
    tables.of { class = "censored", rows = rows,
      head = { "method", "N", "reached", "median", "restricted mean", "± s.e." } },
    pairs_table(view, summary.STEPS) } or nil
end

return function(view)
  local nodes = {}
  for _, metric in ipairs(view.summary.metrics) do
    local spread = spread_table(view, metric)
    nodes[#nodes + 1] = spread and { h.h3 { (metric.title:gsub("^%l", string.upper)) }, spread,
      pairs_table(view, metric) }
  end
  nodes[#nodes + 1] = steps_table(view)
  if #nodes == 0 then
    return { h.p { "No run has finished yet." } }
  end
  return { h.p { class = "note", "N: finished runs. The study’s mean leaves out the worst of ten ",
    "runs; of other counts the worst tenth, rounded down. Intervals: bootstrap-t of the mean, of ",
    ("%d or more that are not nearly all the same; fewer pairs are shown one by one, in the order "
      .. "of the runs. "):format(statistics.LEAST),
    "p: two-sided permutation test on the signs of the differences. Holm: corrected for the ",
    "number of pairs of methods in each table; not for the number of tables, which measure the ",
    "same runs.", view.summary.on.problems and " A run that never reached 90 % counts in the "
      .. "median as longer than the steps it had, and in the restricted mean and the differences "
      .. "as just these." or "" }, nodes }
end
