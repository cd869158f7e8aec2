--- `roper train`: trains a model as an experiment defines it, or resumes a run.
local resume_command = require "roper.workbench.session.resume_command"
local arguments = require "roper.workbench.session.command.arguments"
local escape = require "roper.base.escape"

-- Reports the last checkpoint of a run after Ctrl-C, and the command that resumes the run.
local function report_interrupt(run, ranks)
  local step = resume_command.step(run)
  io.stdout:flush()
  io.stderr:write(step and ("%s stopped at step %d. To resume:\n%s\n"):format(
    escape.line(run), step, resume_command.resume(run, ranks))
    or ("Stopped before the first checkpoint. To start again:\n%s\n"):format(
      resume_command.line(nil, ranks)))
end

-- Trains in the folder of a run to resume, or in a new folder, and prints the result. Schemes of
-- users are checked first, if `with_battery` is true. Of several
-- ranks, only the first claims a new folder.
local function train(config, resume, ranks, with_battery)
  local is_first = require("roper.training.ranks").is_first(ranks)
  if is_first and with_battery then
    require("roper.workbench.study.run.battery").check({ config }, function(text)
      io.stderr:write(text, "\n")
    end)
  end
  local runner, run, claim = require "roper.workbench.study.run", resume, nil
  if is_first and not resume then
    run, claim = runner.claim_new(("runs/%s-%s-%d"):format(config.experiment,
      require("roper.position.text").file_name(config.position), config.seed), config)
  end
  local ok, result = pcall(runner.run, config,
    { run = run, claim = claim, resume = resume ~= nil, ranks = ranks })
  if not ok and is_first and require("roper.text.diagnostics").is_interrupt(result) then
    report_interrupt(run, ranks)
  end
  if not ok then
    error(result, 0)
  elseif is_first and result.diverged then
    error(("%s diverged: %s; try a smaller rate or gradient clipping"):format(escape.line(run),
      require("roper.workbench.study.run.measures").divergence(result)), 0)
  elseif is_first then
    io.stdout:write(require("roper.workbench.study.run.measures").line(result), ", in ",
      escape.line(run), "\n")
  end
end

local function size(bytes)
  local mebibytes = bytes / 2 ^ 20
  return mebibytes < 10240 and ("%.0f MiB"):format(mebibytes)
    or ("%.0f GiB"):format(mebibytes / 1024)
end

local function show(config)
  local out, core, diagnostics = io.stdout, require "roper.core", require "roper.text.diagnostics"
  out:write(require("roper.workbench.study.experiment").describe(config.experiment, config), "\n\n")
  out:flush()
  local limit = core.memory().limit
  local ok, cost = pcall(require("roper.workbench.study.run.estimate").run, config)
  if not ok and (diagnostics.is_interrupt(cost) or not diagnostics.is_transient(cost)) then
    error(cost, 0)
  elseif not ok then
    out:write(("This machine has %s for tensors: too little for the model and two sequences.\n")
      :format(size(limit)))
    return
  end
  local duration = require("roper.text.progress").duration
  out:write(("%.0f parameters;\nabout %s of tensors, %s with those not yet garbage-"
    .. "collected;\nabout %s a step with %s, %s for %d steps\n"):format(cost.parameters,
    size(cost.bytes), size(cost.most), cost.seconds < 10 and ("%.0f ms"):format(cost.seconds * 1000)
    or duration(cost.seconds), escape.count(core.threads(), "thread"), duration(cost.total),
    config.steps))
  if cost.rows < config.batch then
    out:write(("Measured with %d of the %d sequences of a batch.\n"):format(cost.rows,
      config.batch))
  end
  local slow = require("roper.tensor.precision").note(config.matmul_precision)
  out:write(slow and slow .. ".\n" or "")
  if cost.most > limit then
    out:write(("This machine has %s for tensors: %s.\n"):format(size(limit),
      cost.bytes > limit and "too little" or "it may be too little"))
  end
end

-- Raises an error if a run cannot get other steps, because its learning rate depends on them.
local function check_steps(folder, config, steps)
  if config.cosine and steps and tonumber(steps) ~= config.steps
    and require("roper.system.file").stat(folder .. "/checkpoint.safetensors") then
    error(("%s: expected steps=%d, as in the run, got steps=%s: with cosine, the learning rate of "
      .. "every step depends on the last one, so the steps already trained would have been others. "
      .. "To train its weights further, start a new run with the same fields:\n%s"):format(
      escape.line(folder), config.steps, tostring(steps), resume_command.line({ "train",
        config.experiment, "--from", folder, "preset=" .. config.preset }) .. " ..."), 0)
  end
end

-- The experiment of a run to resume and its fields, changed by `fields`. A run without a checkpoint
-- starts again; a finished one is refused, because that would destroy its result.
local function of_run(folder, experiment, fields)
  local run = arguments.run(folder)
  local config, name = run.config, run.config.experiment
  if run.status == "finished"
    and not require("roper.system.file").stat(folder .. "/checkpoint.safetensors") then
    error(("%s is finished and has no checkpoint to resume from"):format(folder), 0)
  end
  if fields.from and fields.from ~= config.from then
    error("--from starts a new run; it cannot be set with --resume, which continues one", 0)
  end
  check_steps(folder, config, fields.steps)
  if experiment and experiment ~= name then
    error(("%s is a run of %s, not of %s"):format(folder, name, experiment), 0)
  end
  require("roper.workbench.study.experiment.loaded").require(run)
  require("roper.workbench.study.experiment").check(config)
  config.experiment = nil
  return name, require("roper.base.tables").merged(config, fields)
end

-- The number of threads with which a run was trained, if this machine has as many and none is set:
-- a resumed run has the bits of an uninterrupted one only with the same number.
local function threads_of(folder)
  local records = require("roper.workbench.study.run.runs").read(folder).provenance
  local threads = records[1] and math.tointeger(records[#records].threads)
  local is_free = not require("roper.system.environment").get "OMP_NUM_THREADS"
  return is_free and threads and threads >= 1 and threads <= require("roper.core").threads()
    and threads or nil
end

return {
  summary = "Train a model as an experiment defines it.",
  define = function(command)
    local experiment = command:argument("experiment"):args("?"):description("One of: "
      .. table.concat(require("roper.workbench.study.experiment").list(), ", ")
      .. ". Not needed with --resume.")
    arguments.define_fields(command, "field=value",
      "Fields to set, such as position=rope preset=mini seed=3; --dry-run shows all. Options of a "
      .. "position scheme are in braces, and need quotes: 'position=yarn{factor=4}'.", experiment)
    command:option("--resume"):argname("DIR")
      :description("Resume the run in this folder. Without a checkpoint, it starts again.")
    arguments.define_from(command)
    arguments.define_threads(command,
      "OMP_NUM_THREADS, with --resume that of the run, or that of the machine")
    arguments.define_battery(command)
    command:flag("--dry-run")
      :description "Print the configuration and its cost; train nothing."
  end,
  run = function(parsed)
    local problem = arguments.add_from(parsed)
    if problem then
      return problem
    end
    local ranks = not parsed.dry_run
      and require("roper.training.ranks").ranks(parsed.threads) or nil
    local fields = arguments.fields(parsed, "experiment")
    local experiment = parsed.experiment
    if parsed.resume then
      experiment, fields = of_run(parsed.resume, experiment, fields)
      parsed.threads = parsed.threads or not ranks and threads_of(parsed.resume) or nil
    elseif not experiment then
      return "missing argument 'experiment'"
    end
    local experiments = require "roper.workbench.study.experiment"
    local ok, config = pcall(experiments.configure, experiment, fields)
    if not ok then
      return config
    end
    config = require("roper.workbench.study.run.origin").complete(config)
    arguments.set_threads(parsed)
    if parsed.dry_run then
      show(config)
    else
      train(config, parsed.resume, ranks, not parsed.no_battery)
    end
    return nil
  end,
}
