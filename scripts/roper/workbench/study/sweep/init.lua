--- Sweeps: many trials in one folder, run by any number of processes and read together.
local arguments = require "roper.options.arguments"
local battery = require "roper.workbench.study.run.battery"
local clock = require "roper.system.clock"
local configuration = require "roper.workbench.study.experiment.configuration"
local core = require "roper.core"
local counted = require("roper.base.escape").count
local diagnostics = require "roper.text.diagnostics"
local events = require "roper.system.events"
local files = require "roper.system.file"
local is_list = require("roper.workbench.study.experiment.fields").is_list
local options_of = require "roper.options.rows"
local eta = require "roper.workbench.study.sweep.eta"
local origin = require "roper.workbench.study.run.origin"
local grid = require "roper.workbench.study.experiment.grid"
local plan = require "roper.workbench.study.sweep.plan"
local sweep_file = require "roper.workbench.study.run.sweep_file"
local position = require "roper.workbench.study.experiment.position"
local rehearsal = require "roper.workbench.study.run.rehearsal"
local resume = require "roper.workbench.study.sweep.resume"
local process = require "roper.system.process"
local progress = require "roper.text.progress"
local stored = require "roper.workbench.study.run.runs"
local tables = require "roper.base.tables"

local M = {}

-- Milliseconds between checks of the workers, and between redraws.
local TICK <const> = 200

-- Returns the position and the other fields in which trials differ, without the seed.
local function varied_fields(trials)
  local configs = tables.map(trials, function(trial) return trial.config end)
  local varied = tables.set((configuration.fields(configs)))
  varied.seed, varied.position, varied.loaded, varied.origin = nil, nil, nil, nil
  for _, field in ipairs(position.FIELDS) do -- false: the position sets it as an option
    local values = tables.set(tables.map(configs, function(config)
      return config[field[1]] or nil
    end))
    varied[field[1]] = varied[field[1]] and (not field[3] or tables.count(values) > 1) or nil
  end
  return { "position", table.unpack(tables.keys(varied)) }
end

-- Returns the method of a trial: its position and the other varied fields, such as "rope
-- rotate=vo".
local function method_of(config, varied)
  local parts = { config.position .. (position.is_mutant(config.position) and " (mutant)" or "") }
  for i = 2, #varied do
    local name = varied[i]
    parts[#parts + 1] = config[name] and ("%s=%s"):format(name, config[name]) or nil
  end
  return table.concat(parts, " ")
end

-- Reads the run of a trial. One that cannot be read counts as failed, and costs no other.
local function run_of(trial)
  local ok, run = pcall(stored.read, trial.folder, trial.config)
  if ok then
    return run
  elseif diagnostics.is_transient(run) then
    error(run, 0)
  end
  return { folder = trial.folder, config = trial.config, status = "failed", provenance = {},
    metrics = {}, battery = {}, step = 0, failure = diagnostics.without_place(tostring(run)) }
end

---@class Sweep
---@field folder string
---@field trials table[] {id, name, folder, config, method, seed, run (a Run)} each, in the order in
---   which they were added, including those that have not started
---@field methods string[] in the order of their first trials
---@field varied string[] the fields in which trials differ, without the seed
---@field experiment string of the first trial
---@field stale table[] trials that were begun with other loaded files; they are in no statistics

--- Reads the folder of a sweep with all its runs. A single run counts as a sweep of one trial. A
--- run that cannot be read counts as failed.
---
--- Errors: the folder does not exist, or contains neither a sweep nor a run.
---
---     > folder = os.tmpname() .. ".d"
---     > fields = {position = "rope,roper", seed = "1..3", preset = "smoke"}
---     > _ = roper.sweep.prepare("addition", fields, folder);
---     > sweep = roper.sweep.read(folder)
---     > sweep.methods, #sweep.trials
---     {"rope", "roper"}	6
---@param folder string
---@return Sweep sweep
function M.read(folder)
  arguments.check("sweep.read", "folder", "string", folder)
  files.check_folder("sweep", folder)
  local trials, stale = sweep_file.read(folder)
  trials = trials or sweep_file.lone(folder) or sweep_file.require(folder)
  local varied, methods, known = varied_fields(trials), {}, {}
  for _, trial in ipairs(trials) do
    trial.method, trial.seed = method_of(trial.config, varied), trial.config.seed
    trial.run = run_of(trial)
    if not known[trial.method] then
      methods[#methods + 1], known[trial.method] = trial.method, true
    end
  end
  return { folder = folder, trials = trials, methods = methods, varied = varied,
    experiment = trials[1].config.experiment, stale = tables.map(stale or {}, function(trial)
      trial.run = run_of(trial)
      return (trial.run.status ~= "waiting" or nil) and trial
    end) }
end

-- Converts a list of pairs or a table to the form of `grid.product`. Strings are split into values.
local function pairs_of(fields)
  local list = fields[1] and fields or tables.map(tables.keys(fields), function(name)
    return { name, fields[name] }
  end)
  return tables.map(list, function(pair)
    if type(pair) ~= "table" or type(pair[1]) ~= "string" then
      error("sweep.prepare: fields: expected pairs {field, values}, got "
        .. options_of.shown(pair), 0)
    end
    local name, value = pair[1], pair[2]
    local is_text = type(value) == "string" and not is_list(name)
    return { name, is_text and grid.values(name, value) or value }
  end)
end

-- Raises an error if a configuration cannot run.
local function try_all(configs)
  local varied, tried = varied_fields(tables.map(configs, function(config)
    return { config = config }
  end)), {}
  for _, config in ipairs(configs) do
    local key = configuration.hash(tables.merged(config, { seed = false, origin = false }))
    local problem = not tried[key] and rehearsal.problem(config)
    tried[key] = true
    if problem then
      error(("sweep: the trials of %s cannot run; none was started: %s"):format(
        method_of(config, varied), problem), 0)
    end
  end
end

-- Returns true for the folder of a sweep.
local function is_sweep(what)
  local stat = files.stat(what)
  return stat ~= nil and stat.type == "directory" and files.stat(what .. "/sweep.json") ~= nil
end

--- Adds trials to the folder of a sweep, or reads those of an existing sweep.
---
--- Errors: a field is unknown; a value does not fit its field; a combination of values cannot run;
--- fields are given for an existing sweep.
---
---     > folder = os.tmpname() .. ".d"
---     > fields = {seed = "1..3", preset = "smoke"}
---     > trials = roper.sweep.prepare("addition", fields, folder)
---     > #trials, trials[3].config.seed
---     3	3
---@param what string an experiment, a Lua file that returns trials, or the folder of a sweep
---@param fields? table field to a value, a list of values, or a string such as "rope,roper" or
---   "1..10"; or a list of pairs {field, values}, which also specifies their order
---@param folder? string of the sweep; runs/ and the name by default
---@return table[] trials
---@return string folder
---@return string[]? notes on trials that were made by other loaded files or cannot run; nil without
function M.prepare(what, fields, folder)
  arguments.check("prepare", "what", "string", what, "fields", "table?", fields,
    "folder", "string?", folder)
  local given = pairs_of(fields or {})
  local is_file = what:match "%.lua$"
  if is_sweep(what) or what:find "/" and not is_file then
    if #given > 0 or folder then
      error(("sweep: %s is a sweep with fixed trials; to add trials, pass its experiment and "
        .. "--folder %s"):format(what, what), 0)
    end
    local trials, notes = resume.trials(what)
    return trials, what, notes[1] and notes or nil
  end
  local configs = tables.map((is_file and plan.load or grid.configure)(what, given),
    origin.complete)
  if #configs == 0 then
    error("sweep: expected at least one trial, got none", 0)
  end
  try_all(configs)
  folder = folder or "runs/" .. what:gsub("%.lua$", ""):match "[^/]*$"
  local trials, stale = plan.add(folder, configs)
  return trials, folder, stale[1] and { resume.stale_note(stale) } or nil
end

-- Runs the trials in this process. Returns true if Ctrl-C ended it.
local function work(supervisor, show)
  local ok, problem = pcall(supervisor.work, supervisor, show)
  if not ok and not diagnostics.is_interrupt(problem) then
    error(problem, 0)
  end
  return not ok
end

-- Runs the event loop until the workers are done. Returns true if a signal ended it.
local function supervise(supervisor, show)
  local interrupted, problem = false, nil
  local was_enabled = core.interrupt_disable()
  events.run {
    signals = { "sigint", "sigterm" },
    on_signal = function()
      interrupted = true
      supervisor:stop()
    end,
    tick = function()
      local ok, more = pcall(supervisor.tick, supervisor)
      local shown, reason = pcall(show)
      if not (ok and shown) then
        problem = problem or not ok and more or reason
        if not supervisor.stopping then
          supervisor:stop()
        end
      end
      return (more or not ok) and TICK or nil
    end,
  }
  if was_enabled then
    core.interrupt_enable()
  end
  if problem then
    error(problem, 0)
  end
  return interrupted
end

local OPTIONS <const> = options_of.define("SweepOptions", {
  { "what", "string", nil, "an experiment, a Lua file of trials, or the folder of a sweep" },
  { "fields", "table?", nil, "as for `roper.sweep.prepare`" },
  { "folder", "string?", nil, "folder of the sweep; runs/NAME by default" },
  { "jobs", "size?", nil, "number of processes; by default one for each thread of the machine" },
  { "threads", "size?", nil, "threads of each process; by default an equal share" },
  { "stream", "table|userdata?", nil, "for messages and progress", type = "any",
    shown = "io.stderr" },
  { "resume_command", "string?", nil, "printed after Ctrl-C" },
  { "battery", "boolean", false, "first check the position schemes of users "
    .. "(`roper.position.check`), unless that was done before" },
  { "chart", "function?", nil, "lines above the progress if the stream is a terminal",
    type = "fun(): string[]" },
})

--- Runs the unfinished trials of a sweep with worker processes on this machine. Any number of
--- sweeps and workers may share a folder. Ctrl-C stops the sweep; run it again to continue. A trial
--- that fails does not stop the others.
---
--- Errors: as for `roper.sweep.prepare`.
---
---     > folder = os.tmpname() .. ".d"
---     > fields = {preset = "smoke", steps = 1, position = "rope"}
---     > news = io.tmpfile()
---     > sweep, failed = roper.sweep.run{what = "addition", fields = fields,
---     >>   folder = folder, jobs = 1, stream = news}
---     > sweep.trials[1].run.status, failed
---     "finished"	0
---@param options SweepOptions
---@return Sweep sweep
---@return integer failed trials that failed
function M.run(options)
  local o = options_of.check("sweep.run", options, OPTIONS)
  local stream = o.stream or io.stderr
  local is_file = pcall(function() return assert(stream.write) end)
  if not is_file then
    error(("sweep.run: option stream: expected a file, got %s"):format(options_of.shown(stream)), 2)
  end
  process.need_jobs(o.jobs)
  local trials, folder, notes = M.prepare(o.what, o.fields, o.folder)
  local jobs = math.max(1, math.min(o.jobs or core.threads(), #trials))
  local display = progress.display { stream = stream }
  for _, note in ipairs(notes or {}) do
    display:say(note)
  end
  local supervisors = require "roper.workbench.study.sweep.supervisor"
  local supervisor = supervisors.new(folder, trials, { jobs = jobs,
    threads = o.threads or math.max(1, core.threads() // jobs),
    say = function(text) display:say(text) end })
  if o.battery then
    battery.check(tables.map(trials, function(trial) return trial.config end),
      function(text) display:say(text) end)
  end
  display:say(("%s: %s, %d finished; %d at a time, %s each"):format(folder,
    counted(#trials, "trial"), supervisor.finished, jobs, counted(supervisor.threads, "thread")))
  for _, trial in ipairs(trials) do
    local note = require("roper.tensor.precision").note(trial.config.matmul_precision)
    if note then
      display:say(note)
      break
    end
  end
  local started = clock.seconds()
  local interrupted = (process.starts_programs and supervise or work)(supervisor, function()
    local lines = eta.lines(supervisor, clock.seconds() - started)
    display:show(o.chart and display.rewrites and tables.joined(o.chart(), lines) or lines)
  end)
  display:clear()
  if interrupted then
    display:say(("%d of %d trials are finished; %s"):format(supervisor.finished, #trials,
      o.resume_command and "to continue:\n" .. o.resume_command
      or "run the sweep again to continue"))
    error("interrupted", 0)
  end
  supervisor:refresh()
  local seconds = clock.seconds() - started
  if supervisor.worked > 0 and seconds > 0 then
    display:say(("%s: %d of %d trials are finished; %s"):format(folder, supervisor.finished,
      #trials, eta.rate(supervisor.worked, seconds)))
  end
  return M.read(folder), tables.count(supervisor.failed)
end

return M
