--- `roper sweep`: runs many trials in several processes.
local resume_command = require "roper.workbench.session.resume_command"
local arguments = require "roper.workbench.session.command.arguments"
local escape = require "roper.base.escape"

local MOST_TASKS <const> = 100 -- of a job array, by default

-- Returns the trials and the folder of a sweep; prints notes on them.
local function prepare(parsed)
  local sweeps = require "roper.workbench.study.sweep"
  local trials, folder, notes = sweeps.prepare(parsed.what, parsed.fields, parsed.folder)
  for _, note in ipairs(notes or {}) do
    io.stderr:write(note, "\n")
  end
  return trials, folder
end

-- Runs trials in this process only.
local function work(parsed)
  local trials = prepare(parsed)
  require("roper.core").threads(parsed.threads or 1)
  for _, trial in ipairs(trials) do
    require("roper.workbench.study.claim").retry(trial.folder)
  end
  local worker = require "roper.workbench.study.sweep.worker"
  return worker.run(trials, worker.lines(io.stdout))
end

local function submit(parsed)
  local trials, folder = prepare(parsed)
  local job, script = require("roper.workbench.session.slurm").submit(folder, {
    jobs = parsed.jobs or math.min(#trials, MOST_TASKS), threads = parsed.threads or 1,
    options = parsed.sbatch })
  io.stdout:write(("Submitted job %s: %d trials in %s, with the script %s\n"):format(
    escape.line(job), #trials, escape.line(folder), escape.line(script)))
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
    command:option("--folder"):argname("DIR")
      :description "Folder of the sweep; runs/NAME by default."
    arguments.define_from(command)
    command:option("--jobs"):argname("N"):convert(arguments.number("--jobs", "size"))
      :description "Number of processes; by default one for each thread of the machine."
    command:option("--threads"):argname("N"):convert(arguments.number("--threads", "size"))
      :description "Threads of each process; by default an equal share."
    command:flag("--worker"):description("Run trials in this process only, until no unclaimed "
      .. "trial is left. For mpirun, GNU parallel (with -N0), and machines that share the folder.")
    command:flag("--slurm"):description "Write and submit a job array of --jobs workers."
    command:option("--sbatch"):argname("OPTION"):count("*")
      :description "An option of sbatch, such as --sbatch=--time=1:00:00. May be repeated."
    arguments.define_select(command)
  end,
  run = function(parsed)
    local problem = arguments.add_from(parsed)
    if problem then
      return problem
    end
    if parsed.worker and (parsed.slurm or parsed.jobs) then
      return "--worker cannot be used with --jobs or --slurm: it is one process"
    elseif #parsed.sbatch > 0 and not parsed.slurm then
      return "--sbatch needs --slurm"
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
      if parsed.select then -- raises an error before training
        local _, folder = sweeps.prepare(parsed.what, parsed.fields, parsed.folder)
        require("roper.workbench.study.selection").of(sweeps.read(folder), parsed.select)
      end
      sweep, failed = sweeps.run { what = parsed.what, fields = parsed.fields,
        folder = parsed.folder, jobs = parsed.jobs, threads = parsed.threads,
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
