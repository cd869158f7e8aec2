--- `roper sweep`: many trials, by several processes.
local resume_command = require "roper.workbench.session.resume_command"
local arguments = require "roper.workbench.session.command.arguments"
local escape = require "roper.base.escape"

-- Tasks of a job array where nothing else is said.
local MOST_TASKS <const> = 100

-- Work in this process alone.
local function work(parsed)
  local sweeps = require "roper.workbench.study.sweep"
  local trials = sweeps.prepare(parsed.what, parsed.fields, parsed.folder)
  require("roper.core").threads(parsed.threads or 1)
  for _, trial in ipairs(trials) do
    require("roper.workbench.study.claim").retry(trial.folder)
  end
  local worker = require "roper.workbench.study.sweep.worker"
  return worker.run(trials, worker.lines(io.stdout))
end

-- Submit workers to Slurm.
local function submit(parsed)
  local sweep = require "roper.workbench.study.sweep"
  local trials, folder = sweep.prepare(parsed.what, parsed.fields, parsed.folder)
  local job, script = require("roper.workbench.session.slurm").submit(folder, {
    jobs = parsed.jobs or math.min(#trials, MOST_TASKS), threads = parsed.threads or 1,
    options = parsed.sbatch })
  io.stdout:write(("job %s: %d trials in %s, as %s says\n"):format(escape.line(job), #trials,
    escape.line(folder), escape.line(script)))
end

return {
  summary = "Run every combination of fields that is missing, several at a time.",
  define = function(command)
    command:argument("what"):description("One of: "
      .. table.concat(require("roper.workbench.study.experiment").list(), ", ")
      .. "; or a Lua file that returns a list of trials; or the folder of a sweep.")
    command:argument("fields"):args("*"):argname("field=values"):convert(arguments.field)
      :description "Such as position=rope,roper seed=1..10 preset=mini."
    command:option("--folder"):argname("DIR")
      :description "Where its runs are kept; runs/ and the name by default."
    command:option("--jobs"):argname("N"):convert(arguments.count "--jobs")
      :description "Processes at a time; one a thread of the machine by default."
    command:option("--threads"):argname("N"):convert(arguments.count "--threads")
      :description "Of each process; an equal share by default."
    command:flag("--worker"):description("Work on the sweep in this process alone, until nothing "
      .. "is left to claim; for mpirun, GNU parallel (with -N0, so that it adds no words), and "
      .. "other machines that share the folder.")
    command:flag("--slurm"):description "Write and submit a job array of --jobs workers."
    command:option("--sbatch"):argname("OPTION"):count("*")
      :description "An option for sbatch, such as --sbatch=--time=1:00:00; may be repeated."
  end,
  run = function(parsed)
    local _, repeated = arguments.fields(parsed)
    if repeated then
      return repeated
    elseif parsed.worker and (parsed.slurm or parsed.jobs) then
      return "--worker is one process; it goes with neither --jobs nor --slurm"
    elseif #parsed.sbatch > 0 and not parsed.slurm then
      return "--sbatch goes with --slurm"
    end
    local failed
    if parsed.slurm then
      submit(parsed)
      return nil
    elseif parsed.worker then
      failed = work(parsed)
    else
      local sweeps = require "roper.workbench.study.sweep"
      local sweep
      sweep, failed = sweeps.run { what = parsed.what, fields = parsed.fields,
        folder = parsed.folder, jobs = parsed.jobs, threads = parsed.threads,
        again = resume_command.same() }
      local summary = require("roper.workbench.study.summary").of(sweep)
      local text = require "roper.workbench.study.report.text"
      io.stdout:write("\n", text.text(summary), "\n\n", text.status(sweep), ", in ",
        escape.line(sweep.folder), "; this writes its report:\n",
        resume_command.line { "report", sweep.folder }, "\n")
    end
    arguments.check_failed(failed)
  end,
}
