--- Starts the worker processes of a sweep on this machine, reads their events, and replaces those
--- that die.
local clock = require "roper.system.clock"
local core = require "roper.core"
local environment = require "roper.system.environment"
local claims = require "roper.workbench.study.run.claim"
local configuration = require "roper.workbench.study.experiment.configuration"
local stored = require "roper.workbench.study.run.runs"
local module_path = require "roper.system.module_path"
local load_option = require "roper.options.load_option"
local process = require "roper.system.process"
local tables = require "roper.base.tables"
local workers = require "roper.workbench.study.sweep.worker"

local M = {}

-- Number of workers that must die on a trial before it counts as failed, and of failures that could
-- not be written to its claim.
local DEATHS <const> = 3

-- Seconds between reads of the folder while a worker could be started.
local REFRESH <const> = 1

local Supervisor = {}
Supervisor.__index = Supervisor

--- Creates the supervisor of a sweep's workers. Its field `finished` is the number of finished
--- trials, among them `diverged` ones; `worked` is the number of trials done since the start, in
--- which a resumed trial counts with the fraction of its steps that was left.
---@param folder string
---@param trials table[] from `plan`
---@param options table jobs; threads of each; say: a function that prints a line
---@return Supervisor
function M.new(folder, trials, options)
  local self = setmetatable({ folder = folder, trials = trials, jobs = options.jobs,
    threads = options.threads, say = options.say, by_name = {}, is_done = {}, failed = {},
    deaths = {}, warned = {}, workers = {}, failed_starts = 0, finished = 0, diverged = 0,
    worked = 0 },
    Supervisor)
  local labels = configuration.labels(trials)
  for i, trial in ipairs(trials) do
    self.by_name[trial.name], trial.label = trial, labels[i]
    claims.retry(trial.folder)
  end
  self:refresh()
  self.refreshed_at, self.worked = -math.huge, 0
  return self
end

--- Reads which trials are finished, failed, free, or running elsewhere.
function Supervisor:refresh()
  self.free, self.elsewhere = 0, 0
  local mine = {}
  for worker in pairs(self.workers) do
    mine[worker.trial or false] = true
  end
  for _, trial in ipairs(self.trials) do
    if not self.is_done[trial] and not mine[trial] then
      local found = claims.read(trial.folder)
      local result = stored.result(trial.folder, trial.config)
      local state = result and "finished" or found.state
      if found.problem and not self.warned[trial] then
        self.warned[trial] = true
        self.say(("%s: counts as running: %s"):format(trial.label, found.problem))
      end
      if state == "finished" then
        claims.clean(trial.folder)
        self.is_done[trial] = true
        self.diverged = self.diverged + (result.diverged and 1 or 0)
        self.finished, self.worked = self.finished + 1, self.worked + 1
      elseif state == "free" and (self.deaths[trial] or 0) >= DEATHS then
        state = "failed"
      elseif state == "free" then
        self.free = self.free + 1
      elseif state == "running" then
        self.elsewhere = self.elsewhere + 1
      end
      self.failed[trial] = state == "failed" or nil
    end
  end
  self.refreshed_at = clock.seconds()
end

-- Handlers of the events of workers.
local HANDLERS <const> = {
  begin = function(self, worker, trial)
    worker.trial, worker.step, worker.first, worker.loss = trial, 0, 0, nil
    self.failed[trial] = nil
    self.failed_starts = 0 -- workers can start
  end,
  step = function(_, worker, _, message)
    worker.step, worker.first = message.step, message.first
    worker.loss, worker.speed = message.loss, message.speed
  end,
  note = function(self, _, trial, message)
    self.say(("%s: %s"):format(trial.label, message.text))
  end,
  finish = function(self, worker, trial, message)
    worker.trial = nil
    self.worked = self.worked + 1 - worker.first / trial.config.steps
    self.is_done[trial] = true
    self.finished = self.finished + 1
    self.diverged = self.diverged + (message.diverged and 1 or 0)
    self.say(("%s: %s"):format(trial.label, message.text))
  end,
  fail = function(self, worker, trial, message)
    worker.trial = nil
    self.failed[trial] = true
    self.deaths[trial] = (self.deaths[trial] or 0) + 1
    self.say(("%s: failed: %s"):format(trial.label, message.text))
  end,
}

--- Handles the output of a worker, lines of JSON.
function Supervisor:listen(worker, data)
  worker.input = worker.input .. data
  for line in worker.input:gmatch "([^\n]*)\n" do
    local message = core.json_decode(line)
    local handler = type(message) == "table" and HANDLERS[message.event]
    local trial = handler and self.by_name[message.trial]
    if trial then
      handler(self, worker, trial, message)
    end
  end
  worker.input = worker.input:match "[^\n]*$"
end

--- Handles the end of a worker. If it died, its trial is retried or marked as failed.
function Supervisor:on_exit(worker)
  self.workers[worker] = nil
  self.refreshed_at = -math.huge
  local trial, errors = worker.trial, worker.errors:match "^%s*(.-)%s*$"
  if self.stopping or worker.status == 0 and worker.signal == 0 then
    return
  end
  local reason = worker.signal ~= 0 and ("was killed by signal %d"):format(worker.signal)
    or ("ended with status %d"):format(worker.status)
  reason = ("a worker %s%s%s"):format(reason, errors ~= "" and ": " or "", errors)
  if not trial then
    self.failed_starts = self.failed_starts + 1
    self.reason = reason
    return
  end
  self.deaths[trial] = (self.deaths[trial] or 0) + 1
  if self.deaths[trial] < DEATHS then
    self.say(("%s: %s; it continues from its last checkpoint, if it has one"):format(trial.label,
      reason))
  else
    reason = ("%s, like %d before it"):format(reason, DEATHS - 1)
    self.say(("%s: failed: %s"):format(trial.label, reason))
    claims.mark_failed(trial.folder, worker.pid, reason)
  end
end

-- The environment of a worker: the paths of this library and the number of threads.
local function variables(threads)
  local list, lua_path, c_path = {}, module_path.for_child()
  for name, value in pairs(tables.merged(environment.all(), { LUA_PATH_5_4 = lua_path,
    LUA_CPATH_5_4 = c_path, OMP_NUM_THREADS = threads })) do
    list[#list + 1] = ("%s=%s"):format(name, value)
  end
  return list
end

-- Calls a method in a callback of luv, where an error would end the process. `tick` raises it.
local function guard(self, method, ...)
  local ok, problem = pcall(method, self, ...)
  if not ok then
    self.problem = self.problem or problem
  end
end

--- Starts a worker.
function Supervisor:start()
  local worker = { input = "" }
  local names = tables.map(self.trials, function(trial) return trial.name end)
  local command = process.lua { "-l", "roper", "-e",
    "os.exit(require('roper.workbench.study.sweep.worker').main(), true)" }
  process.start(worker, command[1], {
    arguments = { table.unpack(command, 2) },
    environment = variables(self.threads),
    input = core.json_encode { folder = self.folder, trials = core.json_array(names),
      threads = self.threads, load = core.json_array(load_option.paths()) },
    listen = function(data) guard(self, self.listen, worker, data) end,
    ended = function() guard(self, self.on_exit, worker) end,
  })
  self.workers[worker] = true
end

--- Runs the free trials in this process, one after another, if it cannot start others.
---@param show fun() called after each event
function Supervisor:work(show)
  local worker = {}
  self.workers[worker] = true
  local function tell(event, trial, text, facts)
    HANDLERS[event](self, worker, self.by_name[trial.name],
      tables.merged({ text = text }, facts or {}))
    show()
  end
  workers.run(self.trials, tell, workers.reporting(tell))
  self.workers[worker] = nil
end

--- Starts workers for free trials. Call it at intervals.
---@return boolean is_busy true while trials are running or free
function Supervisor:tick()
  local working = tables.count(self.workers)
  if self.stopping then
    return working > 0
  elseif self.problem then
    error(self.problem, 0)
  elseif self.failed_starts >= DEATHS then
    error(("sweep: cannot start workers: %s"):format(self.reason), 0)
  end
  if working < self.jobs and clock.seconds() - self.refreshed_at >= REFRESH then
    self:refresh()
    for _ = 1, math.min(self.jobs - working, self.free) do
      self:start()
    end
  end
  return next(self.workers) ~= nil or self.free > 0 or self.elsewhere > 0
end

--- Stops the workers: the first call interrupts them, the second kills them.
function Supervisor:stop()
  for worker in pairs(self.workers) do
    worker.handle:kill(self.stopping and "sigkill" or "sigint")
  end
  self.stopping = true
end

return M
