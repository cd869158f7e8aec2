--- A table of all runs, with the errors of failed ones.
local curve = require "roper.workbench.study.report.curve"
local d = require "roper.text.document"
local duration = require("roper.text.progress").duration
local number = require "roper.workbench.study.report.number"
local tables = require "roper.base.tables"

-- The value of a run in a measure.
local function cell(run, measure)
  if run.status ~= "finished" then
    return number.NONE
  end
  local value, is_censored = measure:value(run)
  return is_censored and "never" or number.fixed(value, measure.run_digits or measure.digits)
end

return function(view)
  local shown = tables.map(view.summary.measures, function(measure)
    return not measure.times and measure or nil
  end)
  local rows, failures = {}, {}
  for i, trial in ipairs(view.sweep.trials) do
    local run = trial.run
    local seconds = run.result and run.result.seconds
    rows[i] = tables.joined({ curve.name(view.sweep, trial.method), number.setting(trial.seed),
      run.status, ("%s of %s"):format(run.step, number.setting(trial.config.steps)) },
      tables.map(shown, function(measure) return cell(run, measure) end),
      { number.is_finite(seconds) and duration(seconds) or number.NONE })
    if run.failure then
      table.insert(failures, { d.paragraph({ d.code(trial.name),
        run.status == "diverged" and " diverged:" or " failed:" }, "missing"),
        d.listing(run.failure) })
    end
  end
  local head = tables.joined({ "method", "seed", "status", "step" },
    tables.map(shown, function(measure) return measure.title end), { "time" })
  return { d.table { class = "runs", sides = "lrlr", rows = rows, head = head }, failures }
end
