--- Every run in a table, those that failed or are missing too.
local h = require("roper.base.markup").h
local number = require "roper.workbench.study.report.number"
local report_tables = require "roper.workbench.study.report.table"
local tables = require "roper.base.tables"

-- The cells that only runs on problems have, and those that only runs on text have.
local HEADS <const> = { problems = { "correct", "greedy", "accuracy", "loss", "steps to 90 %" },
  text = { "loss", "perplexity", "bits per byte" } }

local function cells_of(run, on)
  local r = run.result or {}
  if on == "text" then
    return { number.fixed(r.loss, 4), number.fixed(r.perplexity, 2),
      number.fixed(r.bits_per_byte, 4) }
  end
  return { number.fixed(r.solved, 0), number.fixed(r.solved_greedy, 0), number.fixed(r.accuracy, 4),
    number.fixed(r.loss, 4), run.result
      and (number.is_finite(r.steps_to_90) and number.fixed(r.steps_to_90, 0) or "never")
      or number.NONE }
end

return function(view)
  local on = view.summary.on.problems and "problems" or "text"
  local rows, failures = {}, {}
  for i, trial in ipairs(view.sweep.trials) do
    local run = trial.run
    local r = run.result or {}
    local steps = number.setting(trial.config.steps)
    rows[i] = tables.joined({ report_tables.name(view, trial.method), number.setting(trial.seed),
      run.status, ("%s of %s"):format(run.step, steps) }, cells_of(run, on),
      { number.is_finite(r.seconds) and require("roper.base.progress").duration(r.seconds)
        or number.NONE })
    if run.failure then
      failures[#failures + 1] = { h.p { class = "missing", h.code { trial.name }, " failed:" },
        h.pre { run.failure } }
    end
  end
  local head = tables.joined({ "method", "seed", "status", "step" }, HEADS[on], { "time" })
  return { report_tables.of { class = "runs", left = { [3] = true }, rows = rows, head = head },
    failures }
end
