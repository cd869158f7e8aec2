--- The report of a sweep: its table as text, and one HTML page that needs nothing else.
local eval = require "roper.base.eval"
local files = require "roper.base.file"
local options_of = require "roper.base.options"

local M = {}

-- The map of a trial, or why there is none.
local function map_of(trial, options)
  local ok, result = eval.call(function()
    local model, task = require("roper.workbench.study.runs").model(trial.run)
    local attention_map = require "roper.workbench.study.report.attention_map"
    return attention_map.of(model, task, { layer = options.layer, head = options.head,
      problem = options.problem, problems = trial.config.problems })
  end)
  if not ok and result.interrupted then
    error("interrupted", 0)
  end
  return { trial = trial, map = ok and result or nil, problem = not ok and result.message or nil }
end

-- A map for each method: of its first finished run, else of its first run. A head that was asked
-- for must be in one of them.
local function maps(sweep, asked, on)
  local options = { layer = asked.layer, head = asked.head, problem = asked.problem }
  local chosen = {}
  if not on.problems then
    if next(options) then
      error("report: an attention map looks at a problem, and text poses none", 0)
    end
    return {}
  end
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

--- All that the report shows, read from a sweep's folder.
---@param folder string
---@param options table? layer, head: which attention head to show (the clearest by default);
---   problem: number of the one it looks at, up to as many as a run was asked (one with a long
---   answer by default); baseline: the method that all others are compared with (every pair by
---   default)
---@return table view sweep, summary, attention, chosen
function M.read(folder, options)
  local o = options_of.check("report", options, { layer = "size?", head = "size?",
    problem = "size?", baseline = "string?" })
  local sweep = require("roper.workbench.study.sweep").read(folder)
  local summary = require("roper.workbench.study.summary").of(sweep, o.baseline)
  return { sweep = sweep, summary = summary, attention = maps(sweep, o, summary.on),
    chosen = (o.layer or o.head) ~= nil }
end

--- Write the page of a sweep into its folder.
---@param folder string
---@param options table? as for `read`
---@return string path of the page
---@return table view that it shows
function M.write(folder, options)
  local view = M.read(folder, options)
  local path = folder:gsub("/+$", "") .. "/report.html"
  files.write(path, require("roper.workbench.study.report.page").render(view))
  return path, view
end

return M
