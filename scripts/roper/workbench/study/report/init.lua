--- The report of a sweep: text for a terminal, and a single HTML page without other files.
local attempt = require "roper.workbench.study.report.attempt"
local counted = require("roper.base.escape").count
local files = require "roper.system.file"
local measures = require "roper.workbench.study.run.measures"
local options_of = require "roper.options.rows"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

-- Returns the attention map of a trial and the scores of its heads, or the reasons why there are
-- none.
local function map_of(trial, options)
  local model, task
  local map, problem = attempt.call(function()
    model, task = require("roper.workbench.study.run.runs").model(trial.run)
    local attention_map = require "roper.workbench.study.report.attention_map"
    return attention_map.of(model, task, { layer = options.layer, head = options.head,
      problem = options.problem, problems = trial.config.problems })
  end)
  local scores, no_scores
  if model then
    scores, no_scores = attempt.call(function()
      return require("roper.workbench.study.report.head_scores").of(model, task)
    end)
  end
  return { trial = trial, map = map, problem = problem, scores = scores, no_scores = no_scores }
end

-- Returns a map for each method with problems: of its first finished run, or else of its first run.
-- The layer, head or problem from the options must exist in one of them.
local function maps(sweep, options)
  local chosen = {}
  for _, trial in ipairs(sweep.trials) do
    local before = chosen[trial.method]
    if measures.kind(trial.run) == "problems" and (not before
      or before.run.status ~= "finished" and trial.run.status == "finished") then
      chosen[trial.method] = trial
    end
  end
  local list, is_any = {}, false
  for _, method in ipairs(sweep.methods) do
    local entry = chosen[method] and map_of(chosen[method], options)
    list[#list + 1] = entry
    is_any = is_any or entry and entry.map ~= nil
  end
  if not is_any and (options.layer or options.head or options.problem) then
    error(list[1] and list[1].problem
      or "report: layer, head and problem need runs on problems, got runs on text", 0)
  end
  return list
end

-- Returns a sweep with some of its methods. They keep their colours and marks.
local function with_methods(sweep, methods)
  local wanted = tables.set(methods)
  for _, method in ipairs(methods) do
    if not tables.set(sweep.methods)[method] then
      error(("report: no method %q%s"):format(method,
        suggest.hint(method, sweep.methods, "there are")), 0)
    end
  end
  local function kept(list, of)
    return tables.map(list, function(one) return wanted[of(one)] and one or nil end)
  end
  return tables.merged(sweep, { all_methods = sweep.methods,
    methods = kept(sweep.methods, function(method) return method end),
    trials = kept(sweep.trials, function(trial) return trial.method end) })
end

-- Returns the choice of the best values of a field, by default of the rate if trials differ in it,
-- and the sweep at these values if the field is given and methods can be compared.
local function selected(sweep, field)
  local selections = require "roper.workbench.study.report.selection"
  local has_rates = tables.set(sweep.varied or {}).rate
  local selection = (field or has_rates) and selections.of(sweep, field or "rate") or nil
  return selection, field and selections.apply(sweep, selection) or nil
end

local OPTIONS <const> = options_of.define("ReportOptions", {
  { "layer", "size?", nil, "layer of the attention maps; by default that of the clearest head" },
  { "head", "size?", nil, "head of the attention maps" },
  { "problem", "size?", nil, "number of the problem in the attention maps; by default one with a "
    .. "long answer" },
  { "baseline", "string?", nil, "compare every other method with this one, instead of every pair" },
  { "methods", "table?", nil, "the methods to show; by default all", type = "string[]" },
  { "select", "string?", nil, "compare methods at their best value of this field, such as rate: "
    .. "chosen on the first third of the seeds, compared on the others" },
})

--- Returns the content of the report of a sweep.
---@param sweep Sweep
---@param options? ReportOptions
---@return table view sweep, summary, options, chosen: true if the options select a layer or head;
---   selection: of the field, or of the rate if trials differ in it; is_selected: true if sweep
---   contains only the runs at the best values
function M.of(sweep, options)
  local o = options_of.check("report", options, OPTIONS)
  local selection, reduced = selected(sweep, o.select)
  sweep = reduced or sweep
  local shown = o.methods and with_methods(sweep, o.methods) or sweep
  local summary = require("roper.workbench.study.report.summary").of(shown, o.baseline)
  if #shown.methods < #sweep.methods then
    table.insert(summary.notes, 1, ("%d of %s are shown; comparisons with the others do not count "
      .. "in the correction of p"):format(#shown.methods, counted(#sweep.methods, "method")))
  end
  return { sweep = shown, summary = summary, options = o, chosen = (o.layer or o.head) ~= nil,
    selection = selection, is_selected = reduced ~= nil }
end

--- Formats the report as text for a terminal.
---@param view table
---@param options? table as for `render` of `roper.text.document.terminal`
---@return string text ends with a line feed
function M.text(view, options)
  return require("roper.text.document.terminal").render({
    require "roper.workbench.study.report.selected"(view) or false,
    require "roper.workbench.study.report.results"(view),
    require "roper.workbench.study.report.lengths"(view) or false,
    require("roper.workbench.study.report.comparison").brief(view.summary),
  }, options)
end

--- Reads a sweep for its report.
---@param folder string
---@param options? ReportOptions
---@return table view
function M.read(folder, options)
  return M.of(require("roper.workbench.study.sweep").read(folder), options)
end

--- Writes the data of a report as CSV files.
---
--- Errors: the folder contains files of the same names that no report has written.
---@param view table
---@param folder string made if it is missing
---@return integer count of the files
function M.write_csv(view, folder)
  return require("roper.workbench.study.report.export").write(folder,
    require("roper.workbench.study.report.records").files(view))
end

--- Writes the tables and figures of a report as LaTeX.
---
--- Errors: the folder contains files of the same names that no report has written.
---@param view table
---@param folder string made if it is missing
---@return integer count of the files
function M.write_latex(view, folder)
  return require("roper.workbench.study.report.export").write(folder,
    require("roper.workbench.study.report.paper").files(view))
end

--- Writes the page of a sweep into its folder, with attention maps. A reason replaces each figure
--- that cannot be drawn.
---
--- Errors: no method has the layer, head or problem of the options.
---@param view table from `of` or `read`; its field attention is set, and failed: a list of texts on
---   figures that could not be drawn, nil if there are none
---@return string path of the page
function M.write(view)
  view.attention, view.failed = maps(view.sweep, view.options), nil
  local path = view.sweep.folder:gsub("/+$", "") .. "/report.html"
  files.write(path, require("roper.workbench.study.report.page").render(view))
  return path
end

return M
