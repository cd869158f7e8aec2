--- The reliability of the results: the runs of each method and the differences between methods.
local attempt = require "roper.workbench.study.report.attempt"
local axes = require "roper.workbench.plot.axis"
local base_text = require "roper.workbench.plot.text"
local comparison = require "roper.workbench.study.report.comparison"
local counted = require("roper.base.escape").count
local curve = require "roper.workbench.study.report.curve"
local d = require "roper.text.document"
local h = require("roper.text.markup").h
local headline = require "roper.workbench.study.report.headline"
local html = require "roper.text.document.html"
local number = require "roper.workbench.study.report.number"
local svg = require "roper.workbench.plot.svg"

-- Height of a row of dots in rem: with few methods, whose runs are joined, and with many.
local FEW_ROW <const>, ROW <const> = 2.2, 1.4

-- The rows of a dot plot: the finished runs of each method, a lane for each seed. A censored run is
-- beyond the axis, and the mean of its method is unknown.
local function rows_of(view, measure)
  local lanes, count, rows, values = {}, 0, {}, {}
  for _, trial in ipairs(view.sweep.trials) do
    if not lanes[trial.seed] then
      count = count + 1
      lanes[trial.seed] = count
    end
  end
  for _, method in ipairs(view.summary.methods) do
    local row = { name = base_text.clean(method.method), dots = {},
      index = curve.style(view.sweep, method.method) }
    local is_complete = true
    for _, run in ipairs(method.runs) do
      local value, is_censored = measure:value(run)
      if value then
        values[#values + 1] = not is_censored and value or nil
        is_complete = is_complete and not is_censored
        row.dots[#row.dots + 1] = { value = not is_censored and value or nil,
          lane = lanes[run.config.seed], title = ("%s, seed %s: %s"):format(method.method,
            run.config.seed, is_censored and ("not reached in %d steps"):format(value)
            or number.fixed(value, measure.digits)) }
      end
    end
    row.mean = #row.dots > 0 and is_complete and method[measure.name].mean
    rows[#rows + 1] = #row.dots > 0 and row or nil
  end
  return rows, count, values
end

-- Formats the differences for the caption of a dot plot, if they are few.
local function differences_text(pairs_)
  local parts = {}
  for _, pair in ipairs(pairs_) do
    if pair.n > 0 then
      parts[#parts + 1] = { ". ", comparison.name(pair), " ",
        number.signed(pair.difference, pair.measure.digits),
        (" (%s)"):format(headline.doubt(pair)),
        pair.censored > 0 and ("; in %d of %s, a run never reached 90 %% and counts with its "
          .. "last step"):format(pair.censored, counted(pair.n, "pair")) }
    end
  end
  return #parts <= 3 and parts
end

-- The statistics of each method; nil if no run has the measure.
local function statistics_table(view, measure)
  local digits, rows, is_censored, has_limit = measure.digits, {}, false, false
  for _, method in ipairs(view.summary.methods) do
    local s = method[measure.name]
    local row = { curve.name(view.sweep, method.method), tostring(s.n) }
    if s.n > 0 and s.reached then
      has_limit, is_censored = true, is_censored or s.reached < s.n
      rows[#rows + 1] = table.move({ ("%d of %d"):format(s.reached, s.n), number.median(s),
        (s.reached < s.n and "≥ " or "") .. number.fixed(s.mean, 0),
        number.fixed(s.reached > 0 and s.error, 0) }, 1, 4, 3, row)
    elseif s.n > 0 then
      rows[#rows + 1] = table.move({ number.fixed(s.mean, digits), number.fixed(s.error, digits),
        number.interval(s.low, s.high, digits), number.fixed(s.median, digits),
        number.fixed(s.trimmed, digits), ("%d of %d"):format(s.kept, s.n) }, 1, 6, 3, row)
    end
  end
  return #rows > 0 and { d.table { class = has_limit and "censored" or "spread", rows = rows,
    caption = "Runs of each method",
    head = has_limit and { "method", "N", "reached", "median", "restricted mean", "± s.e." }
      or { "method", "N", "mean", "± s.e.", "95 % interval", "median", "study’s mean", "kept" } },
    is_censored and d.paragraph("A run that never reached 90 % counts in the median as slower than "
      .. "all others, and in the restricted mean with the steps it had: the true mean is at least "
      .. "as large.", "note") }
end

-- One measure: a dot for each run, and the statistics below it, folded.
local function of_measure(view, measure)
  local rows, lanes, values = rows_of(view, measure)
  if #rows == 0 then
    return nil
  end
  local compared = {}
  for _, pair in ipairs(view.summary.pairs) do
    compared[#compared + 1] = pair.measure == measure and pair or nil
  end
  local is_joined, axis = #rows <= curve.MANY, axes.new({ values }, { round = true })
  local title = measure.title:gsub("^%l", string.upper)
  return {
    h.figure { h.figcaption { h.b { title }, html.inline(differences_text(compared)),
      not axis and ". No run reached 90 %." },
      axis and svg.fluid({ kind = "dots", title = title, xlabel = "", ylabel = "", rows = rows,
        lanes = lanes, is_joined = is_joined, x = axis, beyond = "not reached" },
        ("%.1frem"):format((is_joined and FEW_ROW or ROW) * #rows)) },
    d.details("In numbers", { statistics_table(view, measure), comparison.table(compared) }),
  }
end

return function(view)
  local nodes, finished = {}, 0
  for _, method in ipairs(view.summary.methods) do
    finished = finished + method.finished
  end
  if finished < 2 then
    return d.paragraph "There are no two finished runs to compare."
  end
  for i, measure in ipairs(view.summary.measures) do
    nodes[i] = attempt.draw(view, ("The runs by %s"):format(measure.title), of_measure, view,
      measure) or false
  end
  return {
    d.paragraph({ "A dot is a finished run, the stroke the mean of its method; runs of the same ",
      "seed are at the same height of each row", #view.sweep.methods <= curve.MANY
        and ", and joined. " or ". ", "N: finished runs. The study’s mean leaves out the worst ",
      "tenth of the runs, rounded down. The interval of one method’s mean comes from the same ",
      "test as that of differences, needs six runs or more, and is not corrected." }, "note"),
    comparison.legend(view.summary), nodes }
end
