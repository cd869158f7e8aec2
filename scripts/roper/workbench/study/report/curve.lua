--- Curves of a sweep: a field of the metrics over the steps, one curve for each run, and means.
---
--- A curve is {points = {{step, value}, ...}, method, style, label, finished}. The value is false
--- if it was not finite; the line breaks there.
local is_finite = require("roper.workbench.study.report.number").is_finite
local d = require "roper.text.document"
local h = require("roper.text.markup").h
local marks = require "roper.workbench.plot.svg.mark"
local statistics = require "roper.tensor.statistics"
local summary = require "roper.workbench.study.report.summary"
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

--- The values of several curves, at the steps at which all have a point.
---@param curves table[]
---@return table[] list {step, values} each; false instead of values if a curve breaks there
function M.aligned(curves)
  local found, counts, list = {}, {}, {}
  for _, curve in ipairs(curves) do
    for _, point in ipairs(curve.points) do
      local step, value = point[1], point[2]
      local values = not counts[step] and {} or found[step]
      counts[step] = (counts[step] or 0) + 1
      found[step] = values and value and table.move({ value }, 1, 1, #values + 1, values)
    end
  end
  for _, step in ipairs(tables.keys(counts)) do
    list[#list + 1] = counts[step] == #curves and { step, found[step] } or nil
  end
  return list
end

--- The mean of curves, at the steps at which all have a point.
function M.mean(curves)
  return tables.map(M.aligned(curves), function(one)
    return { one[1], one[2] and statistics.mean(one[2]) }
  end)
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
---@param curves table[] from `runs` or `differences`
---@return table[] curves with members: the averaged curves, and runs: their number
function M.means(curves)
  local members, means = {}, {}
  for _, curve in ipairs(curves) do
    if curve.finished then
      members[curve.style] = members[curve.style] or {}
      table.insert(members[curve.style], curve)
    end
  end
  for _, style in ipairs(tables.keys(members)) do
    local list = members[style]
    local points = M.mean(list)
    means[#means + 1] = #points > 0 and { points = points, method = list[1].method, style = style,
      finished = true, members = list, runs = #list,
      label = ("%s, mean of %d"):format(list[1].method, #list) } or nil
  end
  return means
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

--- The differences between finished runs of a baseline and those of every other method with the
--- same seed.
---@param sweep table
---@param field string of the metrics
---@param baseline? string the first method by default
---@return table[] curves, in the colours of the other methods
---@return table facts as from `runs`
function M.differences(sweep, field, baseline)
  local curves, facts = {}, { group = 1, broken = 0 }
  local from = baseline or sweep.methods[1]
  for _, method in ipairs(sweep.methods) do
    for _, runs in ipairs(method ~= from and summary.run_pairs(sweep, from, method) or {}) do
      local points, name = difference(runs[1], runs[2], field), ("%s − %s"):format(method, from)
      facts.group = math.max(facts.group, math.ceil(#points / M.MOST_POINTS))
      curves[#curves + 1] = #points > 0 and { points = points, method = name, finished = true,
        style = M.style(sweep, method), label = ("%s, seed %s"):format(name, runs[2].config.seed) }
        or nil
    end
  end
  for _, curve in ipairs(curves) do
    curve.points = M.thin(curve.points, facts.group)
  end
  return curves, facts
end

--- The index of a method, which decides its colour and mark. It does not depend on the methods that
--- a report shows.
function M.style(sweep, method)
  for i, name in ipairs(sweep.all_methods or sweep.methods) do
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
