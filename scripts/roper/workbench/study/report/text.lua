--- The summary of a sweep as text: rows of tables, what their columns are, and all of it for a
--- terminal.
local layout = require "roper.base.format.columns"
local counted = require("roper.base.escape").count
local headline = require "roper.workbench.study.report.headline"
local number = require "roper.workbench.study.report.number"
local escape = require "roper.base.escape"
local tables = require "roper.base.tables"
local measures = require "roper.workbench.study.summary"

local M = {}

-- More differences than these nobody reads in a terminal.
local MOST_DIFFERENCES <const> = 90

-- A number with its standard error; "-" for none.
local function with_error(form, mean, error)
  if not mean then
    return "-"
  end
  return form:format(mean) .. (error and " ± " .. form:format(error) or "")
end

--- The median of steps to 90 % as text.
---@param steps table from `statistics.censored`
---@return string
function M.median_of_steps(steps)
  return steps.median and ("%.0f"):format(steps.median)
    or steps.above and ("> %d"):format(steps.limit) or "undetermined"
end

-- The median of steps, with how many got there.
local function steps_text(steps)
  return steps and ("%s (%d/%d)"):format(M.median_of_steps(steps), steps.reached, steps.n) or "-"
end

-- How many runs of those asked for.
local function runs_text(entry)
  return entry.finished == entry.planned and tostring(entry.planned)
    or ("%d of %d"):format(entry.finished, entry.planned)
end

-- Was a run left out of a trimmed mean?
local function is_trimmed(summary)
  for _, entry in ipairs(summary.methods) do
    if entry.solved.removed > 0 then
      return true
    end
  end
  return false
end

-- A result of any method; nil where no run is finished.
local function any_result(summary)
  for _, entry in ipairs(summary.methods) do
    if entry.runs[1] then
      return entry.runs[1].result
    end
  end
  return nil
end

-- The table of runs on text alone.
local function text_rows(summary)
  local columns = tables.map(summary.metrics, function(metric)
    return (metric.name == "loss" or metric.of == "text" and not metric.times) and metric or nil
  end)
  local rows = { { "method", "runs" } }
  for i, metric in ipairs(columns) do
    rows[1][i + 2] = metric.title
  end
  for _, entry in ipairs(summary.methods) do
    local row = { entry.method, runs_text(entry) }
    for _, metric in ipairs(columns) do
      local numbers = entry[metric.name]
      row[#row + 1] = with_error(metric.form, numbers.mean, numbers.error)
    end
    rows[#rows + 1] = row
  end
  return rows
end

--- The study's table: a row a method. The trimmed mean has a column where a run was left out.
---@param summary table from `summary.of`
---@return string[][] rows, the head first
function M.rows(summary)
  if not summary.on.problems then
    return text_rows(summary)
  end
  local some, trimmed = any_result(summary), is_trimmed(summary)
  local rows = { { "method", "runs", "of " .. (some and some.problems or "?"), "loss", "floor",
    "90 % after" } }
  if trimmed then
    table.insert(rows[1], 4, "trimmed")
  end
  for _, entry in ipairs(summary.methods) do
    local run, solved, loss = entry.runs[1], entry.solved, entry.loss
    local row = { entry.method, runs_text(entry), with_error("%.1f", solved.mean, solved.error),
      with_error("%.4f", loss.mean, loss.error), with_error("%.4f", run and run.result.test_floor),
      steps_text(entry.steps_to_90) }
    if trimmed then
      table.insert(row, 4, solved.n > 0 and ("%.1f (%d)"):format(solved.trimmed, solved.kept)
        or "-")
    end
    rows[#rows + 1] = row
  end
  return rows
end

--- What the columns of `rows` are.
---@param summary table from `summary.of`
---@return string
function M.legend(summary)
  if not summary.on.problems then
    return [[
loss: of validation documents, in nats per token; perplexity is its exponential.
bits per byte: of the text, whatever the vocabulary.
Mean ± standard error over the runs.]]
  end
  local some = any_result(summary)
  return ([[
of %s: problems solved by random sampling. They and the loss: mean ± standard
error over the runs. %s
floor: the lowest loss to be expected of any predictor on the same sequences.
90 %% after: median of the steps until 90 %% of the answers' tokens were right,
and how many runs got there; one that did not counts as one that takes longer,
so that the median is undetermined where just half of them did.]]):format(
    some and some.problems or "?",
    is_trimmed(summary) and [[trimmed: mean without the worst tenth of the runs
(the study's rule: one of ten), and how many that leaves.]] or
    [[No run is left out: that is done from ten runs on.]])
end

-- "+" or "-" where a method differs from the baseline, as far as can be told.
local function mark_of(summary, method, metric)
  for _, pair in ipairs(summary.pairs) do
    if pair.a == summary.baseline and pair.b == method and pair.metric == metric.name
      and pair.corrected and pair.corrected < measures.LEVEL then
      return pair.difference > 0 and " +" or " -"
    end
  end
  return ""
end

--- Accuracy on problems as long as in training and longer, or the loss on such rows of text: a row
--- a method.
---@param summary table from `summary.of`
---@return string[][]? rows, the head first; nil where nothing longer was tried
function M.length_rows(summary)
  local measure = summary.on.problems and "accuracy" or "loss"
  local columns, head = {}, { measure .. " at length" }
  for _, metric in ipairs(summary.metrics) do
    if metric.name == measure or metric.times and metric.base.name == measure then
      columns[#columns + 1] = metric
      head[#head + 1] = ("x %g"):format(metric.times or 1)
    end
  end
  if #columns < 2 then
    return nil
  end
  local rows = { head }
  for _, entry in ipairs(summary.methods) do
    local row = { entry.method }
    for _, metric in ipairs(columns) do
      local numbers = entry[metric.name]
      local form = measure == "loss" and "%.4f" or "%.3f"
      row[#row + 1] = with_error(form, numbers.mean, numbers.error)
        .. mark_of(summary, entry.method, metric)
    end
    rows[#rows + 1] = row
  end
  return rows
end

--- What the columns of `length_rows` are.
---@param summary table from `summary.of`
---@return string
function M.length_legend(summary)
  local text = not summary.on.problems and [[
Loss on rows of validation documents as many times as long as those of
training: mean ± standard error over the runs.]] or [[
Accuracy on the answers' tokens of problems as many times as long as those of
training: mean ± standard error over the runs.]]
  return summary.baseline and ([[
%s
+ and -: above and below %s, with p < %g corrected for the number of methods,
though not of lengths; without a sign the difference is not significant.]]):format(text,
    summary.baseline, measures.LEVEL) or text
end

-- A difference, with a plain minus sign.
local function signed(value, digits)
  return (number.signed(value, digits):gsub("−", "-"))
end

-- The pairs of methods that are shown, with their metric: of some metrics, with shared seeds.
local function shown_pairs(summary, metrics)
  local list = {}
  for _, name in ipairs(metrics or { "solved", "loss", "bits_per_byte", measures.STEPS.name }) do
    for _, metric in ipairs { measures.STEPS, table.unpack(summary.metrics) } do
      for _, pair in ipairs(summary.pairs) do
        if metric.name == name and pair.metric == name and pair.n > 0 then
          list[#list + 1] = { pair = pair, digits = number.digits_of(metric),
            title = ("%s, %s - %s"):format(metric.title, pair.b, pair.a) }
        end
      end
    end
  end
  return list
end

--- Pairs of methods that share seeds: a row a pair and metric.
---@param summary table
---@param metrics string[]? names; solved, loss, bits_per_byte and
---   steps_to_90 by default
---@return string[][]? rows, the head first; nil where no seed is shared
function M.pair_rows(summary, metrics)
  local rows = { { "by seed", "pairs", "difference", "95 % interval", "p" } }
  for _, shown in ipairs(shown_pairs(summary, metrics)) do
    local pair, digits = shown.pair, shown.digits
    rows[#rows + 1] = { shown.title, tostring(pair.n), signed(pair.difference, digits),
      pair.low and number.interval(pair.low, pair.high, digits, signed) or "-",
      number.probability(pair.corrected) }
  end
  return #rows > 1 and rows or nil
end

--- The differences themselves if they are too few for an interval and few enough to be read, in the
--- order of the runs.
---@param summary table
---@return string[][]? rows of a title and the differences; nil without any
function M.few_rows(summary)
  local rows = {}
  for _, shown in ipairs(shown_pairs(summary)) do
    local each = not shown.pair.low and headline.each(shown.pair, shown.digits)
    if each then
      rows[#rows + 1] = { shown.title, table.unpack(tables.map(shown.pair.each,
        function(difference) return signed(difference, shown.digits) end)) }
    end
  end
  return #rows > 0 and rows or nil
end

-- The most comparisons in one measure, and how many differences count a run that did not get to
-- 90 %.
local function facts_of(summary)
  local comparisons, censored = 0, 0
  for _, shown in ipairs(shown_pairs(summary)) do
    comparisons = math.max(comparisons, shown.pair.comparisons)
    censored = censored + shown.pair.censored
  end
  return comparisons, censored
end

--- What p and the intervals of differences are, also on the page.
---@param summary table from `summary.of`
---@return string
function M.pair_legend(summary)
  local comparisons, censored = facts_of(summary)
  local parts = { "difference: mean over pairs of runs of the same seed. p: two-sided permutation "
    .. "test, which flips the signs of the differences. 95 % interval: the mean differences that "
    .. "this test does not reject; it excludes 0 exactly if p < 0.05." }
  parts[#parts + 1] = comparisons > 1 and ("Both are corrected for the number of comparisons in a "
    .. "measure (Bonferroni; here up to %d, p of a single test is so many times smaller), not for "
    .. "the number of measures."):format(comparisons) or nil
  parts[#parts + 1] = censored > 0 and "Runs that never reached 90 % count with their last step, "
    .. "which is less than they need: differences of steps are differences of restricted means."
    or nil
  return table.concat(parts, " ")
end

--- Why some differences have no interval.
---@param summary table from `summary.of`
---@return string? nil if all have one
function M.few_legend(summary)
  local least = {}
  for _, shown in ipairs(shown_pairs(summary)) do
    if not shown.pair.low then
      least[shown.pair.n] = number.probability(shown.pair.least)
    end
  end
  local parts = {}
  for i, count in ipairs(tables.keys(least)) do
    parts[i] = ("%s cannot give a p below %s"):format(counted(count, "pair"), least[count])
  end
  return #parts > 0 and ("No interval, since no difference could be significant: %s."):format(
    table.concat(parts, ", ")) or nil
end

--- Runs of each status, most important first: "18 of 20 runs finished, 1 failed".
---@param sweep table
---@return string
function M.status(sweep)
  local counts = { finished = 0 }
  for _, trial in ipairs(sweep.trials) do
    counts[trial.run.status] = (counts[trial.run.status] or 0) + 1
  end
  local parts = { ("%d of %s finished"):format(counts.finished,
    counted(#sweep.trials, "run")) }
  for _, status in ipairs { "failed", "running", "stopped", "waiting" } do
    parts[#parts + 1] = counts[status] and ("%d %s"):format(counts[status], status)
  end
  return table.concat(parts, ", ")
end

-- A line for each row of differences, broken if it is too long.
local function few_text(rows)
  local width, lines = 0, {}
  for _, row in ipairs(rows) do
    width = math.max(width, layout.width(row[1]))
  end
  for i, row in ipairs(rows) do
    local title = escape.line(row[1])
    lines[i] = table.concat(layout.fill(table.move(row, 2, #row, 1, {}), 80,
      ("  %s%s  "):format(title, (" "):rep(width - layout.width(title))), width + 4), "\n")
  end
  return table.concat(lines, "\n")
end

-- The differences between methods, for a terminal.
local function compared_text(summary)
  local rows = M.pair_rows(summary)
  if not rows then
    return nil
  elseif #rows > MOST_DIFFERENCES then
    return ("%d differences between runs of the same seed are in the page alone;\n"
      .. "--baseline METHOD compares with one method."):format(#rows - 1)
  end
  local why, few = M.few_legend(summary), M.few_rows(summary)
  local parts = { layout.align(rows), layout.wrap(M.pair_legend(summary), 0),
    why and layout.wrap(why .. (few and " The differences one by one:" or ""), 0) }
  parts[#parts + 1] = few and few_text(few) or nil
  return table.concat(parts, "\n\n")
end

--- Everything as text for a terminal.
---@param summary table from `summary.of`
---@return string
function M.text(summary)
  local parts = { layout.wrap(headline.of(summary), 0), layout.align(M.rows(summary)),
    M.legend(summary) }
  local lengths = M.length_rows(summary)
  if lengths then
    parts[#parts + 1] = layout.align(lengths)
    parts[#parts + 1] = M.length_legend(summary)
  end
  parts[#parts + 1] = compared_text(summary)
  for _, note in ipairs(summary.notes) do
    parts[#parts + 1] = layout.wrap("Note: " .. note, 0)
  end
  return require("roper.base.escape").text(table.concat(parts, "\n\n"))
end

return M
