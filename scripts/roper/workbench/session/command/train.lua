--- `roper train`: run an experiment, or continue a run of it.
local resume_command = require "roper.workbench.session.resume_command"
local arguments = require "roper.workbench.session.command.arguments"
local escape = require "roper.base.escape"

-- Say where Ctrl-C left a run, and the line that goes on with it, or begins again.
local function tell(run, ranks)
  local step = resume_command.step(run)
  io.stdout:flush()
  io.stderr:write(step and ("%s is kept at step %d; this goes on with it:\n%s\n"):format(
    escape.line(run), step, resume_command.resume(run, ranks))
    or ("Nothing was trained yet; this begins again:\n%s\n"):format(resume_command.same(ranks)))
end

-- Train in the folder of a run to go on with, or in a new one, and tell the result. Only the first
-- of several ranks knows of a new folder.
local function train(config, resume, ranks)
  local files = require "roper.base.file"
  local is_first = require("roper.training.ranks").is_first(ranks)
  local run = resume or is_first and files.fresh(("runs/%s-%s-%d"):format(config.experiment,
    config.position, config.seed)) or nil
  local ok, result = pcall(require("roper.workbench.study.run").run, config,
    { run = run, resume = resume ~= nil, ranks = ranks })
  if not ok and is_first and not resume and not files.stat(run .. "/config.json") then
    files.remove(run) -- refused before it began
  end
  if not ok and is_first and require("roper.base.diagnostics").is_interrupt(result) then
    tell(run, ranks)
  end
  if not ok then
    error(result, 0)
  elseif is_first then
    io.stdout:write(require("roper.workbench.study.run").told(result), ", in ",
      escape.line(run), "\n")
  end
end

-- Bytes as people say them.
local function size(bytes)
  local mebibytes = bytes / 2 ^ 20
  return mebibytes < 10240 and ("%.0f MiB"):format(mebibytes)
    or ("%.0f GiB"):format(mebibytes / 1024)
end

-- Show the configuration and what it costs.
local function show(config)
  local out = io.stdout
  out:write(require("roper.workbench.study.experiment").describe(config.experiment, config), "\n\n")
  out:flush()
  local cost = require("roper.workbench.study.experiment.estimate").run(config)
  local core, duration = require "roper.core", require("roper.base.progress").duration
  out:write(("%.0f parameters;\nabout %s of tensors, %s with those that wait to be "
    .. "collected;\nabout %s a step with %d threads, %s for %d steps\n"):format(cost.parameters,
    size(cost.bytes), size(cost.most), cost.seconds < 10 and ("%.0f ms"):format(cost.seconds * 1000)
    or duration(cost.seconds), core.threads(), duration(cost.total), config.steps))
  local slow = require("roper.base.precision").note(config.matmul_precision)
  out:write(slow and slow .. ".\n" or "")
  local limit = core.memory().limit
  if cost.most > limit then
    out:write(("This machine has %s for tensors: %s.\n"):format(size(limit),
      cost.bytes > limit and "too little" or "it may be too little"))
  end
end

-- The experiment of a run to resume, and its fields but for those that `fields` set. A run without
-- a checkpoint starts again; if it has a result, that would be lost.
local function of_run(folder, experiment, fields)
  local run = arguments.run(folder)
  local config, name = run.config, run.config.experiment
  if run.status == "finished"
    and not require("roper.base.file").stat(folder .. "/checkpoint.safetensors") then
    error(("%s is finished, and has no checkpoint to resume from"):format(folder), 0)
  end
  if experiment and experiment ~= name then
    error(("%s: is a run of %s, not of %s"):format(folder, name, experiment), 0)
  end
  require("roper.workbench.study.experiment").check(config)
  config.experiment = nil
  return name, require("roper.base.tables").merged(config, fields)
end

return {
  summary = "Train a model as an experiment says.",
  define = function(command)
    command:argument("experiment"):args("?"):description("One of: "
      .. table.concat(require("roper.workbench.study.experiment").list(), ", ")
      .. ". With --resume not needed.")
    command:argument("fields"):args("*"):argname("field=value"):convert(arguments.field)
      :description "What to set, such as position=rope preset=mini seed=3; --dry-run shows all."
    command:option("--resume"):argname("DIR")
      :description("Continue the run in this folder; all that it needs is there. If it was ended "
        .. "before its first checkpoint, it starts again.")
    command:flag("--dry-run")
      :description "Show the whole configuration and what it costs; train nothing."
  end,
  run = function(parsed)
    local ranks = not parsed.dry_run and require("roper.training.ranks").ranks() or nil
    local fields, repeated = arguments.fields(parsed, parsed.resume and "experiment")
    local experiment = parsed.experiment
    if not fields then
      return repeated
    elseif parsed.resume then
      experiment, fields = of_run(parsed.resume, experiment, fields)
    elseif not experiment then
      return "missing argument 'experiment'"
    end
    local experiments = require "roper.workbench.study.experiment"
    local ok, config = pcall(experiments.configure, experiment, fields)
    if not ok then
      return config
    elseif parsed.dry_run then
      show(config)
    else
      train(config, parsed.resume, ranks)
    end
    return nil
  end,
}
