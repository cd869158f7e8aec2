--- Curves of a sweep: a field of the metrics over the steps, one curve for each run, and means.
---
--- A curve is {points = {{step, value}, ...}, method, style, label, finished}. The value is false
--- if it was not finite; the line breaks there.
local is_finite = require("roper.workbench.study.report.number").is_finite
local d = require "roper.base.document"
local h = require("roper.base.markup").h
local marks = require "roper.workbench.plot.svg.mark"
local summary = require "roper.workbench.study.summary"
local tables = require "roper.base.tables"

local M = {}

--- Maximum number of points of a curve; more are averaged in groups.
M.MOST_POINTS = 240

--- With more methods than these, charts show only means.
M.MANY = 6

-- Returns the points of a run, from step `first` on, at which the metrics contain `field`, and the
-- number of values that are not finite.
local function points_of(metrics, field, first)
  local points, broken = {}, 0
  for _, entry in ipairs(metrics) do
    local value = entry[field]
    if value ~= nil and is_finite(entry.step) and entry.step >= (first or 0) then
      points[#points + 1] = { entry.step, is_finite(value) and value }
      broken = broken + (is_finite(value) and 0 or 1)
    end
  end
  return points, broken
end

--- The points of a curve in the form of a plot.
---@param points table[]
---@return number[] xs
---@return number[] ys NaN, like its x, at a break of the curve
function M.coordinates(points)
  local xs, ys = {}, {}
  for i, point in ipairs(points) do
    xs[i], ys[i] = point[2] and point[1] or 0 / 0, point[2] or 0 / 0
  end
  return xs, ys
end

--- Curves in the form of `plot.line`.
---@param curves table[]
---@param name "label"|"method" field that labels a curve
---@return table[] series
function M.series(curves, name)
  return tables.map(curves, function(one)
    local xs, ys = M.coordinates(one.points)
    return { label = one[name], x = xs, y = ys }
  end)
end

--- Points averaged in groups of `group` neighbours, each at its last step. A group without values
--- stays a break.
function M.thin(points, group)
  if group <= 1 then
    return points
  end
  local thinned = {}
  for first = 1, #points, group do
    local last, sum, count = math.min(first + group - 1, #points), 0, 0
    for i = first, last do
      if points[i][2] then
        sum, count = sum + points[i][2], count + 1
      end
    end
    thinned[#thinned + 1] = { points[last][1], count > 0 and sum / count }
  end
  return thinned
end

--- The mean of curves, at the steps at which all have a point.
function M.mean(curves)
  local sums, counts, points = {}, {}, {}
  for _, curve in ipairs(curves) do
    for _, point in ipairs(curve.points) do
      local step = point[1]
      local sum = not counts[step] and 0 or sums[step]
      counts[step] = (counts[step] or 0) + 1
      sums[step] = sum and point[2] and sum + point[2]
    end
  end
  for _, step in ipairs(tables.keys(counts)) do
    if counts[step] == #curves then
      points[#points + 1] = { step, sums[step] and sums[step] / #curves }
    end
  end
  return points
end

--- The name of a run in charts and lists.
function M.label(trial)
  return ("%s, seed %s"):format(trial.method, trial.seed)
end

--- The curves of all runs with a point.
---@param sweep table
---@param field string of the metrics
---@param is_last_half? boolean only the last half of the steps
---@return table[] curves
---@return table facts group: entries averaged in a point; broken: values that are not finite
function M.runs(sweep, field, is_last_half)
  local curves, facts = {}, { group = 1, broken = 0 }
  for _, trial in ipairs(sweep.trials) do
    local first = is_last_half and trial.config.steps / 2 or 0
    local points, broken = points_of(trial.run.metrics, field, first)
    facts.broken = facts.broken + broken
    if #points > broken then
      facts.group = math.max(facts.group, math.ceil(#points / M.MOST_POINTS))
      curves[#curves + 1] = { points = points, method = trial.method, label = M.label(trial),
        style = M.style(sweep, trial.method), finished = trial.run.status == "finished" }
    end
  end
  for _, curve in ipairs(curves) do
    curve.points = M.thin(curve.points, facts.group)
  end
  return curves, facts
end

--- Returns the mean curve of each method over its finished runs.
---@param sweep table
---@param curves table[] from `runs`
---@return table[] curves with runs: number of averaged runs
function M.means(sweep, curves)
  local means = {}
  for i, method in ipairs(sweep.methods) do
    local finished = tables.map(curves, function(curve)
      return curve.method == method and curve.finished and curve or nil
    end)
    local points = M.mean(finished)
    if #points > 0 then
      means[#means + 1] = { points = points, method = method, style = i, finished = true,
        runs = #finished, label = ("%s, mean of %d"):format(method, #finished) }
    end
  end
  return means
end

--- The curves of a chart: those of all runs and the means. With many methods, runs of a method with
--- a mean are left out.
function M.shown(sweep, curves)
  local means, has_mean = M.means(sweep, curves), {}
  for _, mean in ipairs(#sweep.methods > M.MANY and means or {}) do
    has_mean[mean.method] = true
  end
  return tables.joined(tables.map(curves, function(curve)
    return not has_mean[curve.method] and curve or nil
  end), means)
end

-- after - before, at the steps at which both have a value.
local function difference(before, after, field)
  local values, points = {}, {}
  for _, point in ipairs((points_of(before.metrics, field))) do
    values[point[1]] = point[2]
  end
  for _, point in ipairs((points_of(after.metrics, field))) do
    local value = values[point[1]]
    points[#points + 1] = value and point[2] and { point[1], point[2] - value } or nil
  end
  return points
end

--- The mean difference between finished runs of the same seed, for each pair of methods.
---@param sweep table
---@param field string of the metrics
---@param baseline? string the method to compare all others with; by default every pair is compared
---@return table[] curves with runs: number of averaged pairs
function M.differences(sweep, field, baseline)
  local curves = {}
  for _, pair in ipairs(summary.pairs_of(sweep.methods, baseline)) do
    local a, b = pair[1], pair[2]
    local each = tables.map(summary.run_pairs(sweep, a, b), function(runs)
      return { points = difference(runs[1], runs[2], field) }
    end)
    local points = M.mean(each)
    local name = ("%s − %s"):format(b, a)
    curves[#curves + 1] = #points > 0 and { method = name, style = #curves + 1, finished = true,
      points = M.thin(points, math.ceil(#points / M.MOST_POINTS)), runs = #each,
      label = ("%s, mean of %d"):format(name, #each) } or nil
  end
  return curves
end

--- The index of a method, which decides its colour and mark.
function M.style(sweep, method)
  for i, name in ipairs(sweep.methods) do
    if name == method then
      return i
    end
  end
  error(("report: expected a method of the sweep, got %q"):format(method), 0)
end

--- The name of a method, on pages with its mark.
function M.name(sweep, method)
  return { h.span { marks.beside_text(M.style(sweep, method)), " " }, d.styled("name", method) }
end

return M
