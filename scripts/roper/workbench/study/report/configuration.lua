--- What set the runs apart: configurations, versions and machines.
local h = require("roper.base.markup").h
local number = require "roper.workbench.study.report.number"
local provenance = require "roper.training.provenance"
local report_tables = require "roper.workbench.study.report.table"
local tables = require "roper.base.tables"

-- The values that a function of a trial takes, each once, in the order of the trials; of one method
-- alone where it is named.
local function values_of(sweep, f, method)
  local list, seen = {}, {}
  for _, trial in ipairs(sweep.trials) do
    local text = number.setting(f(trial))
    if (not method or trial.method == method) and not seen[text] then
      seen[text] = true
      list[#list + 1] = text
    end
  end
  return list
end

-- Settings of one part of the trials: those that differ as a table, those all share as a list.
local function settings(view, part)
  local sweep, rows, common = view.sweep, {}, {}
  local head, left = { "differs" }, {}
  for i, method in ipairs(sweep.methods) do
    head[i + 1], left[i + 1] = report_tables.name(view, method), true
  end
  for _, name in ipairs(tables.keys(table.unpack(tables.map(sweep.trials, part)))) do
    local function value(trial)
      return part(trial)[name]
    end
    local all = values_of(sweep, value)
    if #all == 1 then
      common[#common + 1] = h.div { h.dt { name }, h.dd { all[1] } }
    else
      rows[#rows + 1] = { h.code { name }, table.unpack(tables.map(sweep.methods, function(method)
        return table.concat(values_of(sweep, value, method), ", ")
      end)) }
    end
  end
  return {
    #rows > 0 and report_tables.of { class = "differences", head = head, rows = rows, left = left },
    #common > 0 and h.dl { common },
  }
end

return function(view)
  return {
    h.h3 { "Settings" },
    settings(view, function(trial)
      return trial.config
    end),
    h.h3 { "Version and machine" },
    settings(view, function(trial)
      local told, last = {}, trial.run.provenance[#trial.run.provenance]
      for _, name in ipairs(last and provenance.names(last) or {}) do
        told[name] = provenance.text(trial.run.provenance, name)
      end
      return told
    end),
  }
end
