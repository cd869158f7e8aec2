--- The main result of a sweep in a sentence, with its reliability.
local counted = require("roper.base.escape").count
local number = require "roper.workbench.study.report.number"
local summaries = require "roper.workbench.study.report.summary"
local tables = require "roper.base.tables"

local M = {}

-- Maximum number of differences that are listed one by one.
local MOST_SINGLE <const> = 12

-- " of 64" after a number of correct answers, if all runs had the same number of problems.
local function out_of(summary)
  if summary.measure.name ~= "solved" then
    return ""
  end
  local most
  for _, entry in ipairs(summary.methods) do
    for _, run in ipairs(entry.runs) do
      most = (most == nil or most == run.result.problems) and run.result.problems or false
    end
  end
  return most and (" of %d"):format(most) or ""
end

-- Describes the reliability of the mean of a method.
local function doubt_of_mean(numbers, digits)
  local runs = counted(numbers.n, "run")
  return numbers.low and ("%s, 95 %% interval %s"):format(runs,
      number.interval(numbers.low, numbers.high, digits))
    or numbers.error and ("%s, standard error %s"):format(runs, number.fixed(numbers.error, digits))
    or "one run, so no error is known"
end

--- Lists the single differences of a pair.
---@param pair table of a summary
---@return string? text nil if there are too many
function M.each(pair)
  return pair.n <= MOST_SINGLE and table.concat(tables.map(pair.each, function(difference)
    return number.signed(difference, pair.measure.digits)
  end), ", ") or nil
end

--- The reliability of a mean difference: its interval, or the single differences if they are too
--- few for an interval, and p.
function M.doubt(pair)
  local each = not pair.low and M.each(pair)
  local p = number.probability(pair.corrected)
  p = ("p\u{A0}%s"):format((p:find "^<" and p or "= " .. p):gsub(" ", "\u{A0}"))
  return pair.low and ("95 %% interval %s; %s"):format(
      number.interval(pair.low, pair.high, pair.measure.digits, number.signed), p)
    or (each and "one by one " .. each .. "; " or "") .. p
end

-- Explains differences of which even the smallest possible p is not below the level.
local function out_of_reach(compared)
  local least, most = 1, 0
  for _, pair in ipairs(compared) do
    least, most = math.min(least, pair.least), math.max(most, pair.n)
  end
  return least < summaries.LEVEL and "" or (" With %s%s, no difference could be significant.")
    :format(counted(most, "pair"),
      #compared > 1 and (" and %d comparisons"):format(#compared) or "")
end

-- "p < 0.05, corrected for 3 comparisons".
local function level(compared)
  return ("p < %g"):format(summaries.LEVEL)
    .. (#compared > 1 and (", corrected for %d comparisons"):format(#compared) or "")
end

-- The mean difference of a pair with its reliability.
local function on_average(pair, unit)
  return ("%s%s on average over %s of the same seed (%s)"):format(
    number.signed(pair.difference, pair.measure.digits), unit, counted(pair.n, "pair"),
    M.doubt(pair))
end

-- Returns 1 if the second of a pair is significantly better, -1 if it is worse, 0 if neither.
local function verdict(pair)
  if not pair.corrected or pair.corrected >= summaries.LEVEL or pair.difference == 0 then
    return 0
  end
  return pair.measure.sign * pair.difference > 0 and 1 or -1
end

-- Compares two methods.
local function of_pair(pair, unit)
  if pair.n == 0 then
    return ("%s and %s cannot be compared: no two of their finished runs have the same seed.")
      :format(pair.b, pair.a)
  end
  local found = verdict(pair)
  local claim = found == 0 and "The difference between %s and %s in %s is not significant"
    or found > 0 and "%s is better than %s in %s" or "%s is worse than %s in %s"
  return ("%s: %s.%s"):format(claim:format(pair.b, pair.a, pair.measure.phrase),
    on_average(pair, unit), out_of_reach { pair })
end

-- How many others have the same number as the best.
local function ties(numbers, best)
  local count = -1 -- the best itself
  for _, one in ipairs(numbers) do
    count = count + (one == best and 1 or 0)
  end
  return count
end

-- " (and 2 others)", if 2 others have the same number as the best.
local function and_others(numbers, best)
  local count = ties(numbers, best)
  return count > 0 and (" (and %s)"):format(counted(count, "other")) or ""
end

-- Compares all methods with a baseline.
local function against_baseline(summary, compared, unit)
  local measure, count, best = summary.measure, { [-1] = 0, [0] = 0, [1] = 0 }, nil
  for _, pair in ipairs(compared) do
    local found = verdict(pair)
    count[found] = count[found] + 1
    if not best or measure.sign * (pair.difference - best.difference) > 0 then
      best = pair
    end
  end
  return ("Of %s compared with %s in %s, %d %s better and %d worse (%s); %d %s not differ "
    .. "significantly.%s The best difference is that of %s%s: %s."):format(
    counted(#compared, "method"), summary.baseline, measure.phrase, count[1],
    count[1] == 1 and "is" or "are", count[-1], level(compared), count[0],
    count[0] == 1 and "does" or "do", out_of_reach(compared), best.b,
    and_others(tables.map(compared, function(pair) return pair.difference end), best.difference),
    on_average(best, unit))
end

-- Describes the best of many methods.
local function best_of(summary, compared, best, unit)
  local measure = summary.measure
  local numbers, count = best[measure.name], 0
  for _, pair in ipairs(compared) do
    local found = verdict(pair)
    count = count + ((pair.b == best.method and found == 1 or pair.a == best.method and found == -1)
      and 1 or 0)
  end
  local means = tables.map(summary.methods, function(entry) return entry[measure.name].mean end)
  local others = #summary.methods - 1
  if count == 0 and ties(means, numbers.mean) == others then
    return ("All %d methods have the same mean of %s, %s%s.%s"):format(others + 1, measure.phrase,
      number.fixed(numbers.mean, measure.digits), unit, out_of_reach(compared))
  end
  local claim = count == 0 and ("but no difference from the %s is significant"):format(
      counted(others, "other method"))
    or ("and is significantly better than %d of the %s"):format(count,
      counted(others, "other method"))
  return ("%s%s has the best mean of %s, %s%s (%s), %s (%s).%s"):format(best.method,
    and_others(means, numbers.mean), measure.phrase, number.fixed(numbers.mean, measure.digits),
    unit, doubt_of_mean(numbers, measure.digits), claim, level(compared), out_of_reach(compared))
end

-- Returns the method with the best mean; nil if no run has finished.
local function best_method(summary)
  local measure = summary.measure
  local best
  for _, entry in ipairs(summary.methods) do
    local mean = entry[measure.name].mean
    if mean and (not best or measure.sign * (mean - best[measure.name].mean) > 0) then
      best = entry
    end
  end
  return best
end

--- The main result of a summary.
function M.of(summary)
  local measure = summary.measure
  local unit, best, all, compared = out_of(summary), best_method(summary), {}, {}
  for _, pair in ipairs(summary.pairs) do
    if pair.measure == measure then
      all[#all + 1] = pair
      compared[#compared + 1] = pair.n > 0 and pair or nil
    end
  end
  if not best then
    local diverged = 0
    for _, entry in ipairs(summary.methods) do
      diverged = diverged + (entry.diverged or 0)
    end
    return diverged > 0 and ("No run has a result: %s."):format(
      counted(diverged, "run") .. " diverged") or "No run has finished yet."
  elseif #all == 1 then
    return of_pair(all[1], unit)
  elseif #compared == 0 then
    return ("%s: %s of %s, %s%s (%s)%s."):format(best.method,
      best[measure.name].n > 1 and "mean" or "number", measure.phrase,
      number.fixed(best[measure.name].mean, measure.digits), unit,
      doubt_of_mean(best[measure.name], measure.digits),
      #all > 0 and "; no two methods have finished runs of the same seed" or "")
  elseif summary.baseline then
    return against_baseline(summary, compared, unit)
  end
  return best_of(summary, compared, best, unit)
end

return M
