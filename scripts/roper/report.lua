--- The report of a sweep: its table as text, and one HTML page that needs nothing else.
local chunk = require "roper.chunk"
local folders = require "roper.folder"
local options_of = require "roper.options"

local M = {}

--- The map of a trial, or why there is none.
local function map_of(trial, options)
  local ok, result = chunk.call(function()
    local model, task = require("roper.runs").model(trial.run)
    return require("roper.report.attention_map").of(model, task, options)
  end)
  if not ok and result.interrupted then
    error("interrupted", 0)
  end
  return { trial = trial, map = ok and result or nil, problem = not ok and result.message or nil }
end

--- A map for each method: of its first finished run, else of its first run. A head that was asked
--- for must be in one of them.
local function maps(sweep, options)
  local chosen = {}
  for _, trial in ipairs(sweep.trials) do
    local before = chosen[trial.method]
    if not before or before.run.status ~= "finished" and trial.run.status == "finished" then
      chosen[trial.method] = trial
    end
  end
  local list, is_any = {}, false
  for i, method in ipairs(sweep.methods) do
    list[i] = map_of(chosen[method], options)
    is_any = is_any or list[i].map ~= nil
  end
  if not is_any and next(options) then
    error(list[1].problem, 0)
  end
  return list
end

--- One row a run.
local function run_rows(sweep)
  local rows = { { "run", "method", "seed", "status", "correct", "accuracy", "loss" } }
  for _, trial in ipairs(sweep.trials) do
    local result = trial.run.result
    rows[#rows + 1] = { trial.name, trial.method, trial.seed, trial.run.status,
      result and ("%d of %d"):format(result.solved, result.problems) or "-",
      result and ("%.3f"):format(result.accuracy) or "-",
      result and ("%.4f"):format(result.loss) or "-" }
  end
  return rows
end

--- Write the report of a sweep.
---@param folder string of the sweep
---@return string path of the page
function M.write(folder)
  local sweep = require("roper.sweep").read(folder)
  local summary = require("roper.summary").of(sweep)
  local title = ("%s: %s"):format(sweep.experiment, table.concat(sweep.methods, ", "))
  local parts = {
    "<!doctype html>", '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    "<title>" .. M.escape(title) .. "</title>",
    "<style>" .. STYLE .. "</style></head><body>",
    "<h1>" .. M.escape(title) .. "</h1>",
    html_table(require("roper.summary").rows(summary)),
    "<p>" .. M.escape(require("roper.summary").LEGEND) .. "</p>",
  }
  for _, note in ipairs(summary.notes) do
    parts[#parts + 1] = "<p>" .. M.escape(note) .. "</p>"
  end
  parts[#parts + 1] = "<h2>Each run</h2>" .. html_table(run_rows(sweep))
  parts[#parts + 1] = "</body></html>\n"
  local path = folder .. "/report.html"
  folders.write(path, table.concat(parts, "\n"))
  return path
end

return M
