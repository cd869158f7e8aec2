--- Tables of measures by the length of problems or rows, with a row for each method.
local curve = require "roper.workbench.study.report.curve"
local d = require "roper.text.document"
local measures = require "roper.workbench.study.run.measures"
local number = require "roper.workbench.study.report.number"
local summaries = require "roper.workbench.study.report.summary"
local tables = require "roper.base.tables"

-- Returns " +" or " −" if a method is significantly above or below the baseline in a measure, else
-- "".
local function mark_of(summary, method, measure)
  for _, pair in ipairs(summary.pairs) do
    if pair.a == summary.baseline and pair.b == method and pair.measure == measure
      and pair.corrected and pair.corrected < summaries.LEVEL then
      return pair.difference > 0 and " +" or " −"
    end
  end
  return ""
end

return function(view)
  local tree, summary = {}, view.summary
  for _, group in ipairs(measures.by_length(summary.measures)) do
    local base, columns = group.base, group.columns
    tree[#tree + 1] = {
      d.table { class = "longer", caption = base.title:gsub("^%l", string.upper) .. " by length",
        head = tables.joined({ "times the length" },
          tables.map(columns, function(measure) return ("%g"):format(measure.times or 1) end)),
        rows = tables.map(summary.methods, function(entry)
          return { curve.name(view.sweep, entry.method), table.unpack(tables.map(columns,
            function(measure)
              return number.summary(entry[measure.name], base.length_digits or base.digits)
                .. mark_of(summary, entry.method, measure)
            end)) }
        end) },
      d.paragraph({ base.length_legend, (" up to %g times as long as in training. ±: standard "
        .. "error over the runs."):format(columns[#columns].times),
        summary.baseline and { " + and −: above and below ", d.styled("name", summary.baseline),
          (", with p < %g corrected for the number of methods, but not of lengths; other "
            .. "differences are not significant."):format(summaries.LEVEL) } }, "note"),
    }
  end
  return #tree > 0 and tree or nil
end
