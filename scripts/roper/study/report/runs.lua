--- Every run, and what set the runs apart.
local h = require("roper.base.markup").h
local core = require "roper.core"
local keys = require("roper.base.tables").keys
local number = require "roper.study.report.number"
local results = require "roper.study.report.results"
local provenance = require "roper.training.provenance"
local tables = require "roper.study.report.table"

local M = {}

local STATUS <const> = { waiting = "not finished" }

-- A setting as text.
local function shown(value)
  if value == nil or value == false or value == core.json_null then
    return number.NONE
  end
  return type(value) == "table" and core.json_encode(value) or tostring(value)
end

--- The table of every run, those that failed or are missing too.
---@param view table
---@return table nodes
function M.section(view)
  local rows, failures = {}, {}
  for i, trial in ipairs(view.sweep.trials) do
    local run = trial.run
    local r = run.result or {}
    rows[i] = { results.name(view, trial.method), shown(trial.seed),
      STATUS[run.status] or run.status, ("%s of %s"):format(run.step, shown(trial.config.steps)),
      number.fixed(r.solved, 0), number.fixed(r.solved_greedy, 0), number.fixed(r.accuracy, 4),
      number.fixed(r.loss, 4), run.result
        and (number.is_finite(r.steps_to_90) and number.fixed(r.steps_to_90, 0) or "never")
        or number.NONE,
      number.is_finite(r.seconds) and require("roper.training.progress").duration(r.seconds)
        or number.NONE }
    if run.failure then
      failures[#failures + 1] = { h.p { class = "missing", h.code { trial.name }, " failed:" },
        h.pre { run.failure } }
    end
  end
  return { tables.of { class = "runs", left = { [3] = true }, rows = rows,
    head = { "method", "seed", "status", "step", "correct", "greedy", "accuracy", "loss",
      "steps to 90 %", "time" } }, failures }
end

-- The values that a function of a trial takes, each once, in the order of the trials.
local function values_of(trials, f)
  local list, seen = {}, {}
  for _, trial in ipairs(trials) do
    local text = shown(f(trial))
    if not seen[text] then
      seen[text] = true
      list[#list + 1] = text
    end
  end
  return list
end

local function trials_of(sweep, method)
  local list = {}
  for _, trial in ipairs(sweep.trials) do
    list[#list + 1] = trial.method == method and trial or nil
  end
  return list
end

-- Settings of one part of the trials: those that differ as a table, those all share as a list.
local function settings(view, part, caption)
  local sweep, rows, common = view.sweep, {}, {}
  local head, left, parts = { caption }, {}, {}
  for i, trial in ipairs(sweep.trials) do
    parts[i] = part(trial)
  end
  for i, method in ipairs(sweep.methods) do
    head[i + 1], left[i + 1] = results.name(view, method), true
  end
  for _, name in ipairs(keys(table.unpack(parts))) do
    local function value(trial)
      return part(trial)[name]
    end
    local all = values_of(sweep.trials, value)
    if #all == 1 then
      common[#common + 1] = h.div { h.dt { name }, h.dd { all[1] } }
    else
      local row = { h.code { name } }
      for j, method in ipairs(sweep.methods) do
        row[j + 1] = table.concat(values_of(trials_of(sweep, method), value), ", ")
      end
      rows[#rows + 1] = row
    end
  end
  return {
    #rows > 0 and tables.of { class = "differences", head = head, rows = rows, left = left },
    #common > 0 and h.dl { common },
  }
end

--- The section on configurations and machines.
---@param view table
---@return table nodes
function M.configuration(view)
  return {
    h.h3 { "Settings" },
    settings(view, function(trial)
      return trial.config
    end, "differs"),
    h.h3 { "Version and machine" },
    settings(view, function(trial)
      local told, last = {}, trial.run.provenance[#trial.run.provenance]
      for _, name in ipairs(last and provenance.names(last) or {}) do
        told[name] = provenance.text(trial.run.provenance, name)
      end
      return told
    end, "differs"),
  }
end

return M
