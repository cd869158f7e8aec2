--- Every run in a table, those that failed or are missing too.
local h = require("roper.base.markup").h
local number = require "roper.study.report.number"
local tables = require "roper.study.report.table"

local STATUS <const> = { waiting = "not finished" }

return function(view)
  local rows, failures = {}, {}
  for i, trial in ipairs(view.sweep.trials) do
    local run = trial.run
    local r = run.result or {}
    local steps = number.setting(trial.config.steps)
    rows[i] = { tables.name(view, trial.method), number.setting(trial.seed),
      STATUS[run.status] or run.status, ("%s of %s"):format(run.step, steps),
      number.fixed(r.solved, 0), number.fixed(r.solved_greedy, 0), number.fixed(r.accuracy, 4),
      number.fixed(r.loss, 4), run.result
        and (number.is_finite(r.steps_to_90) and number.fixed(r.steps_to_90, 0) or "never")
        or number.NONE,
      number.is_finite(r.seconds) and require("roper.base.progress").duration(r.seconds)
        or number.NONE }
    if run.failure then
      failures[#failures + 1] = { h.p { class = "missing", h.code { trial.name }, " failed:" },
        h.pre { run.failure } }
    end
  end
  return { tables.of { class = "runs", left = { [3] = true }, rows = rows,
    head = { "method", "seed", "status", "step", "correct", "greedy", "accuracy", "loss",
      "steps to 90 %", "time" } }, failures }
end
