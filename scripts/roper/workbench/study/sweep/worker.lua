--- Worker of a sweep: claims a trial, runs it, and continues with the next until none is left.
local clock = require "roper.system.clock"
local core = require "roper.core"
local claims = require "roper.workbench.study.run.claim"
local diagnostics = require "roper.text.diagnostics"
local load_option = require "roper.options.load_option"
local measures = require "roper.workbench.study.run.measures"
local escape = require "roper.base.escape"
local runner = require "roper.workbench.study.run"
local stored = require "roper.workbench.study.run.runs"
local tables = require "roper.base.tables"

local M = {}

-- Claims the first trial that is neither finished nor claimed.
local function take(trials, is_done)
  for _, trial in ipairs(trials) do
    if not is_done[trial] then
      require("roper.system.file").make(trial.folder)
      local held = claims.take(trial.folder, function()
        is_done[trial] = stored.result(trial.folder, trial.config) ~= nil
        return not is_done[trial]
      end)
      if held then
        return trial, held
      elseif is_done[trial] then
        claims.clean(trial.folder)
      end
    end
  end
  return nil
end

--- Runs trials until none is left to claim.
---@param trials table[] from `plan`
---@param tell fun(event: "begin"|"finish"|"fail", trial: table, text: string, facts?: table)
---@param progress? fun(trial: table): table returns an object as for `train`
---@return integer failed trials that failed here
function M.run(trials, tell, progress)
  local is_done, failed = {}, 0
  local trial, held = take(trials, is_done)
  while trial do
    tell("begin", trial, "started")
    local ok, result = pcall(runner.run, trial.config, { run = trial.folder, claim = held,
      resume = true, progress = progress and progress(trial), name = trial.name })
    if ok then
      tell("finish", trial, ("%s, %s"):format(measures.line(result, true),
        require("roper.text.progress").duration(result.seconds)),
        { diverged = result.diverged and true or nil })
    elseif diagnostics.is_interrupt(result) then
      error(result, 0)
    else
      failed, is_done[trial] = failed + 1, true -- also if its claim could not be marked as failed
      tell("fail", trial, diagnostics.without_place(tostring(result)))
    end
    collectgarbage() -- frees the model of this trial
    core.memory_trim() -- the metrics of a trial contain its own peak
    trial, held = take(trials, is_done)
  end
  return failed
end

--- Returns a function that prints events as lines of text, for `run`.
---@param stream file*
---@return fun(event: string, trial: table, text: string)
function M.lines(stream)
  return function(event, trial, text)
    text = event == "fail" and "failed: " .. text or text
    stream:write(escape.text(("%s: %s"):format(trial.name, text)), "\n")
    stream:flush()
  end
end

-- Minimum number of seconds between two reports of a step. The last step is always reported.
local REPORT_EVERY <const> = 0.2

--- Returns the progress of trials for `run`, which reports their steps and notes as events.
---@param tell fun(event: "step"|"note", trial: table, text?: string, facts?: table)
---@return fun(trial: table): table
function M.reporting(tell)
  return function(trial)
    local told, first = 0, nil -- the step it resumed from
    return {
      update = function(_, step, loss, speed)
        first = first or step - 1
        if step == trial.config.steps or clock.seconds() - told >= REPORT_EVERY then
          told = clock.seconds()
          tell("step", trial, nil, { step = step, first = first, loss = loss, speed = speed })
        end
      end,
      finish = function() end,
      note = function(_, text)
        tell("note", trial, text)
      end,
    }
  end
end

-- Sends an event as a line of JSON to the sweep that started this process. If the sweep is gone,
-- the next line ends this process by SIGPIPE.
local function send(event, trial, text, facts)
  local message = tables.merged({ event = event, trial = trial.name, text = text }, facts)
  io.stdout:write(core.json_encode(message), "\n")
  io.stdout:flush()
end

--- Runs a worker process. Reads a JSON object from standard input: folder, trials (their names),
--- threads, load (Lua files to run first).
---@return integer status 0 after the last trial, 1 after an error, 130 if it was interrupted
function M.main()
  local eval = require "roper.text.eval"
  core.interrupt_enable()
  local ok, failure = eval.call(function()
    local input = assert(core.json_decode(io.stdin:read "a"))
    core.threads(input.threads)
    for _, path in ipairs(input.load or {}) do
      load_option.run(path)
    end
    local wanted = tables.set(input.trials)
    local trials = require("roper.workbench.study.run.sweep_file").require(input.folder)
    M.run(tables.map(trials, function(trial) return wanted[trial.name] and trial or nil end), send,
      M.reporting(send))
  end)
  if not ok and not failure.interrupted then
    io.stderr:write(escape.text(failure.message), "\n")
  end
  return ok and 0 or failure.interrupted and 130 or 1
end

return M
