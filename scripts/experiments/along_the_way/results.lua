-- Results of runs as lines of JSON: a file that is small enough to be kept with the comparison. Its
-- tables can be printed from it, and other machines can continue from it.
--
-- A line is an object: `run` is the task and the folder of the run, whose name contains the hash of
-- its configuration; `accuracy` and `loss` are lists by tested length, the trained one first, null
-- where the number was not finite; `seconds`; `diverged`, an object, if the run did; `provenance`
-- as in config.json, without the name of the machine and the time.
local core = require "roper.core"
local files = require "roper.base.file"
local tables = require "roper.base.tables"

local M = {}

local MEASURES <const> = { "accuracy", "loss" }

-- Returns the lists of measures at 1 and at longer lengths.
local function lists_of(result)
  local lists = {}
  for _, measure in ipairs(MEASURES) do
    lists[measure] = tables.map(tables.joined({ result }, result.longer or {}), function(at)
      return at[measure] or core.json_null
    end)
  end
  return lists
end

-- Returns the provenance of a run, without the name of the machine and the time.
local function made_by(records)
  return tables.map(records, function(record)
    return { step = record.step, commit = record.commit, processor = record.processor,
      instructions = record.instructions, blas_core = record.blas_core, threads = record.threads }
  end)
end

--- Returns the lines of the ended runs of a sweep, sorted by run.
---@param task string
---@param sweep Sweep
---@return string[] lines
function M.lines(task, sweep)
  local trials = tables.joined(sweep.trials)
  table.sort(trials, function(a, b) return a.name < b.name end)
  return tables.map(trials, function(trial)
    local run = trial.run
    return run.result and core.json_encode(tables.merged(lists_of(run.result), {
      run = task .. "/" .. trial.name, seconds = run.result.seconds,
      diverged = run.result.diverged, provenance = made_by(run.provenance) }))
  end)
end

--- Reads a file of lines.
---
--- Errors: a line is not an object with a `run`.
---@param path string
---@return table<string, table> rows by `run`; empty if there is no such file
function M.read(path)
  local rows = {}
  for line in (files.stat(path) and files.read(path) or ""):gmatch "[^\n]+" do
    local row = files.parse(line)
    if type(row) ~= "table" or type(row.run) ~= "string" then
      error(("results.lua: %s: expected an object with a run, got %s"):format(path,
        line:sub(1, 60)), 0)
    end
    rows[row.run] = row
  end
  return rows
end

-- Returns an element of a list; nil for null.
local function number(list, i)
  return list[i] ~= core.json_null and list[i] or nil
end

-- Returns the result that a row was made of, as far as the comparison needs it.
local function result_of(row, config, times)
  return { config = config, seconds = row.seconds, diverged = row.diverged,
    accuracy = number(row.accuracy, 1), loss = number(row.loss, 1),
    longer = not row.diverged and tables.map(times, function(factor, i)
      return { name = ("%g times the length"):format(factor), times = factor,
        accuracy = number(row.accuracy, i + 1), loss = number(row.loss, i + 1) }
    end) or nil }
end

--- Writes the results of rows to the folders of those trials that have none.
---@param rows table<string, table> from `read`
---@param task string
---@param trials table[] of the task's sweep
---@param times number[] multiples of the trained length
function M.restore(rows, task, trials, times)
  for _, trial in ipairs(trials) do
    local row = rows[task .. "/" .. trial.name]
    if row and not files.stat(trial.folder .. "/result.json") then
      files.make(trial.folder)
      files.write(trial.folder .. "/config.json", core.json_encode { config = trial.config,
        provenance = row.provenance })
      files.write(trial.folder .. "/result.json",
        core.json_encode(result_of(row, trial.config, times)))
    end
  end
end

return M
