--- `roper sweep`: runs many trials in several processes.
local resume_command = require "roper.workbench.session.resume_command"
local arguments = require "roper.workbench.session.command.arguments"
local escape = require "roper.base.escape"

-- Runs trials in this process only.
local function work(parsed)
  local trials, _, notes = require("roper.workbench.study.sweep").prepare(parsed.what,
    parsed.fields, parsed.folder)
  local function say(text)
    io.stderr:write(text, "\n")
  end
  for _, note in ipairs(notes or {}) do
    say(note)
  end
  if not parsed.no_battery then
    require("roper.workbench.study.run.battery").check(require("roper.base.tables").map(trials,
      function(trial) return trial.config end), say)
  end
  require("roper.core").threads(parsed.threads or 1)
  for _, trial in ipairs(trials) do
    require("roper.workbench.study.run.claim").retry(trial.folder)
  end
  local worker = require "roper.workbench.study.sweep.worker"
  return worker.run(trials, worker.lines(io.stdout))
end

return {
  summary = "Run every combination of field values; finished trials are skipped.",
  define = function(command)
    command:argument("what"):description("One of: "
      .. table.concat(require("roper.workbench.study.experiment").list(), ", ")
      .. "; or a Lua file that returns a list of trials; or the folder of a sweep.")
    arguments.define_fields(command, "field=values",
      "Values of fields, such as position=rope,roper seed=1..10 preset=mini. Options of a position "
      .. "scheme are in braces, and need quotes: 'position=rope,yarn{factor=4}'.")
    arguments.define_options(command, "SweepOptions", { { "folder", "DIR" } })
    arguments.define_from(command)
    arguments.define_options(command, "SweepOptions", { "jobs", "threads" })
    arguments.define_battery(command)
    command:flag("--worker"):description("Run trials in this process only, until no unclaimed "
      .. "trial is left. For mpirun, GNU parallel (with -N0), job arrays, and machines that share "
      .. "the folder.")
    arguments.define_options(command, "ReportOptions", { { "select", "FIELD" } })
  end,
  run = function(parsed)
    local problem = arguments.add_from(parsed)
    if problem then
      return problem
    end
    if parsed.worker and parsed.jobs then
      return "--worker cannot be used with --jobs: it is one process"
    end
    local failed
    if parsed.worker then
      failed = work(parsed)
    else
      local sweeps = require "roper.workbench.study.sweep"
      local sweep
      if parsed.select then -- raises an error before training
        local _, folder = sweeps.prepare(parsed.what, parsed.fields, parsed.folder)
        require("roper.workbench.study.report.selection").of(sweeps.read(folder), parsed.select)
      end
      sweep, failed = sweeps.run { what = parsed.what, fields = parsed.fields,
        folder = parsed.folder, jobs = parsed.jobs, threads = parsed.threads,
        battery = not parsed.no_battery,
        resume_command = resume_command.line() }
      local report = require "roper.workbench.study.report"
      local view = report.of(sweep, { select = parsed.select })
      io.stdout:write("\n", report.text(view), "\nThe runs are in ",
        escape.line(sweep.folder), ". To write the report:\n",
        resume_command.line { "report", sweep.folder, parsed.select and "--select",
          parsed.select }, "\n")
    end
    arguments.check_failed(failed)
  end,
}
