--- Differences between methods, over pairs of runs of the same seed.
local counted = require("roper.base.escape").count
local d = require "roper.text.document"
local headline = require "roper.workbench.study.report.headline"
local number = require "roper.workbench.study.report.number"
local tables = require "roper.base.tables"

local M = {}

-- Maximum number of differences on a terminal.
local MOST <const> = 90

--- Returns the name of a difference: the second method of a pair minus the first.
function M.name(pair)
  return { d.styled("name", pair.b), " − ", d.styled("name", pair.a) }
end

-- Formats the interval of a mean difference, or the single differences if they are too few for one.
local function interval(pair)
  local each = not pair.low and headline.each(pair)
  return each and "one by one: " .. each
    or number.interval(pair.low, pair.high, pair.measure.digits, number.signed)
end

--- Returns a table of differences.
---@param pairs_ table[] of a summary
---@param is_mixed? boolean true if they are in several measures
---@param is_narrow? boolean true if single differences do not replace a missing interval
---@return table|false block false if no methods share a seed
function M.table(pairs_, is_mixed, is_narrow)
  local rows = tables.map(pairs_, function(pair)
    return pair.n > 0 and { { is_mixed and pair.measure.title .. ", ", M.name(pair) },
      tostring(pair.n), number.signed(pair.difference, pair.measure.digits),
      is_narrow and not pair.low and number.NONE or interval(pair),
      number.probability(pair.corrected) } or nil
  end)
  return #rows > 0 and d.table { class = "pairs", rows = rows, sides = "lrrlr",
    caption = "Differences between runs of the same seed",
    head = { "difference", "pairs", "mean", "95 % interval", "p" } }
end

-- Explains missing intervals; "" if there are none.
local function missing(pairs_)
  local least, parts = {}, {}
  for _, pair in ipairs(pairs_) do
    if pair.n > 0 and not pair.low then
      least[pair.n] = number.probability(pair.least)
    end
  end
  for i, count in ipairs(tables.keys(least)) do
    parts[i] = ("%s cannot give a p below %s"):format(counted(count, "pair"), least[count])
  end
  return #parts > 0 and (" No interval is given if no difference could be significant: %s."):format(
    table.concat(parts, ", ")) or ""
end

--- Explains p and the intervals of differences.
function M.legend(summary)
  local comparisons, censored = 0, 0
  for _, pair in ipairs(summary.pairs) do
    comparisons = math.max(comparisons, pair.comparisons or 0)
    censored = censored + pair.censored
  end
  return d.paragraph({ "p: two-sided permutation test, which flips the signs of the differences. ",
    "95 % interval: the mean differences that this test does not reject; it excludes 0 exactly if ",
    "p < 0.05.", comparisons > 1 and (" Both are corrected for the number of comparisons in a "
      .. "measure (Bonferroni; p of a single test is up to %d times smaller), not for the number "
      .. "of measures."):format(comparisons),
    censored > 0 and " Runs that never reached 90 % count with their last step, which is less than "
      .. "they need: differences of steps are differences of restricted means.",
    missing(summary.pairs) }, "note")
end

--- Returns the differences in the most important measures, for a terminal.
function M.brief(summary)
  local shown = tables.map(summary.pairs, function(pair)
    local is_shown = pair.measure.is_brief or pair.measure == summary.measure
    return is_shown and pair.n > 0 and pair or nil
  end)
  if #shown > MOST then
    return ("%d differences between runs of the same seed are only on the page; --baseline METHOD "
      .. "compares all methods with one."):format(#shown)
  end
  return #shown > 0 and { M.table(shown, true), M.legend(summary) }
end

return M
