--- The main result: the conclusion, warnings, and a table with a row for each method.
local battery = require "roper.workbench.study.run.battery"
local counted = require("roper.base.escape").count
local curve = require "roper.workbench.study.report.curve"
local d = require "roper.text.document"
local number = require "roper.workbench.study.report.number"
local plan = require "roper.workbench.study.sweep.plan"
local tables = require "roper.base.tables"

-- The status of the runs: "18 of 20 runs finished, 1 failed".
local function status(sweep)
  local counts = { finished = 0 }
  for _, trial in ipairs(sweep.trials) do
    counts[trial.run.status] = (counts[trial.run.status] or 0) + 1
  end
  local parts = { ("%d of %s finished"):format(counts.finished, counted(#sweep.trials, "run")) }
  for _, name in ipairs(require("roper.workbench.study.run.runs").UNFINISHED) do
    parts[#parts + 1] = counts[name] and ("%d %s"):format(counts[name], name)
  end
  return table.concat(parts, ", ") .. "."
end

-- Names the stale trials; false if there are none.
local function stale(sweep)
  local names = {} -- by the files that made them
  for _, trial in ipairs(sweep.stale or {}) do
    local made = plan.made_with(trial.config)
    names[made] = (names[made] and names[made] .. ", " or "") .. trial.name
  end
  local parts = tables.map(tables.keys(names), function(made)
    return ("%s (made with %s)"):format(names[made], made)
  end)
  return parts[1] ~= nil and d.paragraph(("Not included, because loaded files or weights "
    .. "have changed since: %s."):format(table.concat(parts, "; ")), "stale")
end

-- Returns the result of the first finished run of any method, or {} if there is none.
local function first_result(methods)
  for _, entry in ipairs(methods) do
    if entry.runs[1] then
      return entry.runs[1].result
    end
  end
  return {}
end

-- Returns the verdict on the position schemes of a method; nil without one.
local function battery_of(entry)
  for _, run in ipairs(entry.runs) do
    local text = battery.summary(run.battery or {})
    if text then
      return text
    end
  end
  return nil
end

-- Returns the columns of the table: {title, legend, function from a method's entry to its cell}
-- each.
local function columns_of(summary)
  local first, list, is_trimmed = first_result(summary.methods), {}, false
  for _, entry in ipairs(summary.methods) do
    is_trimmed = is_trimmed or (entry[summary.measure.name].removed or 0) > 0
  end
  for _, measure in ipairs(summary.measures) do
    local name, digits = measure.name, measure.digits
    local is_column = measure.in_table or measure == summary.measure and measure.legend
    list[#list + 1] = is_column and { measure:heading(first), measure.legend,
      function(entry) return number.summary(entry[name], digits) end } or nil
    list[#list + 1] = is_trimmed and measure == summary.measure and { "study’s mean",
      "without the worst tenth of the runs, rounded down, and how many that leaves",
      function(entry)
        local found = entry[name]
        return found.n > 0 and ("%s (%d)"):format(number.fixed(found.trimmed, digits), found.kept)
      end } or nil
    list[#list + 1] = name == "loss" and first.solved and { "floor",
      "the lowest expected loss of any predictor on the same sequences",
      function(entry)
        local result = entry.runs[1] and entry.runs[1].result
        return result and (result.test_floor and number.fixed(result.test_floor, digits)
          or "unknown")
      end } or nil
  end
  list[#list + 1] = tables.map(summary.methods, battery_of)[1] and { "battery",
    "checks of the position schemes that --load defines, roper.position.check", battery_of } or nil
  return list, is_trimmed
end

return function(view)
  local summary = view.summary
  local columns, is_trimmed = columns_of(summary)
  local head, legend = { "method", "runs" }, {}
  for i, column in ipairs(columns) do
    head[i + 2] = column[1]
    legend[i] = ("%s: %s"):format(column[1], column[2])
  end
  table.insert(legend, "±: standard error over the runs" .. (is_trimmed and ""
    or "; with ten runs or more, the study’s mean leaves out the worst tenth"))
  return {
    d.paragraph(require("roper.workbench.study.report.headline").of(summary), "result"),
    d.paragraph(status(view.sweep), "status"),
    stale(view.sweep),
    #summary.notes > 0 and d.list(summary.notes, "-", "notes"),
    d.table { class = "study", caption = "Means over the finished runs", head = head, drop = { 2 },
      rows = tables.map(summary.methods, function(entry)
        return { curve.name(view.sweep, entry.method),
          ("%d of %d%s"):format(entry.finished, entry.planned, entry.diverged > 0
            and (", %d diverged"):format(entry.diverged) or ""),
          table.unpack(tables.map(columns, function(column)
            return column[3](entry) or number.NONE
          end)) }
      end) },
    d.list(legend, "-", "legend"),
  }
end
