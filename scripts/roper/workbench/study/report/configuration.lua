--- The configurations, versions and machines of the runs, and the differences between methods.
local configuration = require "roper.workbench.study.experiment.configuration"
local curve = require "roper.workbench.study.report.curve"
local d = require "roper.text.document"
local number = require "roper.workbench.study.report.number"
local provenance = require "roper.training.provenance"
local tables = require "roper.base.tables"

-- The distinct values of a field for a method, in the order of the trials.
local function values_of(sweep, settings, name, method)
  local list, seen = {}, {}
  for i, trial in ipairs(sweep.trials) do
    local text = number.setting(settings[i][name])
    if trial.method == method and not seen[text] then
      seen[text] = true
      list[#list + 1] = text
    end
  end
  return table.concat(list, ", ")
end

-- Settings of the trials: a table of those that differ and a list of those that all have.
local function compared(sweep, settings)
  local varied, common = configuration.fields(settings)
  local rows = tables.map(varied, function(name)
    return { d.code(name), table.unpack(tables.map(sweep.methods, function(method)
      return values_of(sweep, settings, name, method)
    end)) }
  end)
  return {
    #rows > 0 and d.table { class = "differences", rows = rows, sides = "l",
      head = { "differs", table.unpack(tables.map(sweep.methods, function(method)
        return curve.name(sweep, method)
      end)) } },
    #common > 0 and d.definitions(tables.map(common, function(name)
      return { name, number.setting(settings[1][name]) }
    end)),
  }
end

return function(view)
  local sweep = view.sweep
  return {
    d.heading("Settings", 3),
    compared(sweep, tables.map(sweep.trials, function(trial) return trial.config end)),
    d.heading("Version and machine", 3),
    compared(sweep, tables.map(sweep.trials, function(trial)
      local records, texts = trial.run.provenance, {}
      for _, name in ipairs(records[1] and provenance.names(records[#records]) or {}) do
        texts[name] = provenance.text(records, name)
      end
      return texts
    end)),
  }
end
