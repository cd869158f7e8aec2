--- A worker of a sweep: takes a trial, runs it, and goes on to the next until none is left.
local core = require "roper.core"
local claims = require "roper.workbench.study.claim"
local diagnostics = require "roper.base.diagnostics"
local load_option = require "roper.base.load_option"
local escape = require "roper.base.escape"
local runner = require "roper.workbench.study.run"
local stored = require "roper.workbench.study.runs"
local tables = require "roper.base.tables"
local uv = require "luv"

local M = {}

-- Take the first trial that is neither finished nor anybody's.
local function take(trials, is_done)
  for _, trial in ipairs(trials) do
    if not is_done[trial] then
      require("roper.base.file").make(trial.folder)
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

--- Work on trials until none is left to take.
---@param trials table[] from `plan`
---@param tell table what to do with news: begin(trial), finish(trial, result), fail(trial, message)
---   and progress(trial), which returns an object as for `train`
---@return integer failed how many of those it ran
function M.run(trials, tell)
  local is_done, failed = {}, 0
  local trial, held = take(trials, is_done)
  while trial do
    tell.begin(trial)
    local ok, result = pcall(runner.run, trial.config, { run = trial.folder, lease = held,
      resume = true, progress = tell.progress(trial), name = trial.name })
    if ok then
      tell.finish(trial, result)
    elseif diagnostics.is_interrupt(result) then
      error(result, 0)
    else
      failed = failed + 1
      tell.fail(trial, diagnostics.without_place(tostring(result)))
    end
    collectgarbage() -- a model need not outlive its trial
    trial, held = take(trials, is_done)
  end
  return failed
end

--- What a person wants to know of a finished trial.
---@param result table
---@return string
function M.outcome(result)
  local duration = require("roper.base.progress").duration(result.seconds)
  if not result.solved then
    return ("%s, %s"):format(require("roper.workbench.study.language").told(result), duration)
  end
  return ("%d of %d solved, loss %.4f (floor %.4f), %s"):format(result.solved, result.problems,
    result.loss, result.test_floor, duration)
end

--- News as lines of text on a stream.
---@param stream file*
---@return table tell
function M.lines(stream)
  local function say(trial, text)
    stream:write(escape.text(trial.name .. ": " .. text), "\n")
    stream:flush()
  end
  return {
    begin = function(trial)
      say(trial, "begins")
    end,
    finish = function(trial, result)
      say(trial, M.outcome(result))
    end,
    fail = function(trial, message)
      say(trial, "failed: " .. message)
    end,
    progress = function() end,
  }
end

-- Least nanoseconds between two reports of a step, the last apart: measuring follows it.
local REPORT_EVERY <const> = 2e8

-- News as lines of JSON for the sweep that started this process. When it is gone, the next line
-- ends this one too: the pipe is broken, and SIGPIPE does what it does by default.
local function messages()
  local function send(event, trial, facts)
    facts.event, facts.trial = event, trial.name
    io.stdout:write(core.json_encode(facts), "\n")
    io.stdout:flush()
  end
  return {
    begin = function(trial)
      send("begin", trial, {})
    end,
    finish = function(trial, result)
      send("finish", trial, { text = M.outcome(result) })
    end,
    fail = function(trial, message)
      send("fail", trial, { text = message })
    end,
    progress = function(trial)
      local sent, first = 0, nil -- the step that it went on from
      return {
        update = function(_, step, loss, speed)
          first = first or step - 1
          if step == trial.config.steps or uv.hrtime() - sent >= REPORT_EVERY then
            sent = uv.hrtime()
            send("step", trial, { step = step, first = first, loss = loss, speed = speed })
          end
        end,
        finish = function() end,
        note = function(_, text)
          send("note", trial, { text = text })
        end,
      }
    end,
  }
end

--- The process that a sweep starts: its order comes on standard input as JSON: folder, names of
--- trials, threads, Lua files to run first.
---@return integer status 0 done, 1 failed, 130 interrupted
function M.main()
  local eval = require "roper.base.eval"
  core.interrupt_enable()
  local ok, failure = eval.call(function()
    local order = assert(core.json_decode(io.stdin:read "a"))
    core.threads(order.threads)
    for _, path in ipairs(order.load or {}) do
      load_option.run(path)
    end
    local wanted, trials = tables.set(order.trials), {}
    for _, trial in ipairs(require("roper.workbench.study.sweep.plan").require(order.folder)) do
      trials[#trials + 1] = wanted[trial.name] and trial or nil
    end
    M.run(trials, messages())
  end)
  if not ok and not failure.interrupted then
    io.stderr:write(escape.text(failure.message), "\n")
  end
  return ok and 0 or failure.interrupted and 130 or 1
end

return M
