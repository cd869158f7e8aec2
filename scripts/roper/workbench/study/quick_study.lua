--- The study in a few minutes: the rotation identities, then a sweep of RoPE against RoPER from the
--- same seeds, its table and its report.
local columns = require "roper.base.format.columns"
local counted = require("roper.base.escape").count
local designs = require "roper.workbench.study.experiment.design"
local curve = require "roper.workbench.study.report.curve"
local experiment = require "roper.workbench.study.experiment"
local live_curves = require "roper.workbench.study.live_curves"
local measures = require "roper.workbench.study.measures"
local options_of = require "roper.base.options"
local sweeps = require "roper.workbench.study.sweep"
local tables = require "roper.base.tables"
local tasks = require "roper.tasks"

local M = {}

local function say(text)
  io.stdout:write(text, "\n")
  io.stdout:flush()
end

-- The rows of the identity table.
local function identity_rows(residuals)
  local rows = { { "identity", "float32", "float64", "" } }
  for _, r in ipairs(residuals) do
    rows[#rows + 1] = { r.statement, ("%.1e"):format(r.float32), ("%.1e"):format(r.float64),
      r.holds and "holds" or "FAILS" }
  end
  return rows
end

-- Print the residuals of the identities; an error if one fails.
local function check_identities()
  local residuals = require("roper.identity.rotations").residuals()
  say "Rotation identities, residuals on random tensors\n"
  say(columns.align(identity_rows(residuals)))
  for _, r in ipairs(residuals) do
    if not r.holds then
      error("study: an identity fails; nothing trained on it could be trusted", 0)
    end
  end
  return residuals
end

-- The mean of each method's finished runs over the steps, for plot.line.
local function mean_curves(sweep, field)
  local series = {}
  for i, mean in ipairs(curve.means(sweep, (curve.runs(sweep, field)))) do
    local xs, ys = curve.coordinates(mean.points)
    series[i] = { label = mean.method, x = xs, y = ys }
  end
  return series
end

-- Refuse a method or a field that no run can have, before anything is shown.
local function check_fields(name, fields)
  local first = {}
  for _, pair in ipairs(fields) do
    first[#first + 1] = pair[1] ~= "seed" and pair or nil
  end
  for _, each in ipairs(require("roper.workbench.study.sweep.plan").product(first)) do
    experiment.configure(name, each)
  end
end

-- The processor, the threads and the BLAS that everything runs on.
local function say_machine()
  local info = require("roper.base.info").info()
  say(("\n%s, %d threads, OpenBLAS %s"):format(info.processor, info.threads, info.blas_core))
  if info.warning then
    say("Slow: " .. info.warning)
  end
end

--- Run the main comparison of an experiment, as its file designs it.
---
--- Errors: an unknown experiment, method or field; position or seed among the fields; an identity
--- that fails.
---@param options table? experiment = "substring_prefix"; methods, seeds (runs of each): those of
---   the Design by default; folder: "runs/study/" and the experiment's name by default;
---   fields: more fields of the experiment; jobs, stream, again: as for `sweep.run`
---@return table identities, sweep (from `sweep.read`), failed: trials, page: path of the report
function M.run(options)
  local o = options_of.check("study", options, { experiment = { "string", designs.EXPERIMENT },
    methods = "table?", seeds = "size?",
    folder = "string?", fields = { "table", {} }, jobs = "size?",
    stream = { "any", io.stderr }, again = "string?" })
  if o.methods and #o.methods == 0 then
    error("study: methods: expected a list of position schemes, got an empty one", 2)
  elseif o.fields.position or o.fields.seed then
    error("study: fields: position and seed are set by methods and seeds", 2)
  end
  local folder = o.folder or "runs/study/" .. o.experiment
  local design = designs.of(o.experiment)
  design = tables.merged(design, { methods = o.methods, seeds = o.seeds,
    fields = tables.merged(design.fields, o.fields) })
  local fields = designs.fields(design)
  check_fields(o.experiment, fields)
  local residuals = check_identities()
  say_machine()
  say(("Training %s on %s, %s each\n"):format(table.concat(design.methods, " and "),
    o.experiment, counted(design.seeds, "seed")))
  local has_problems = tasks.has_problems(experiment.definition(o.experiment).task)
  local measure = measures.of({ o.experiment }, has_problems)
  local sweep, failed = sweeps.run { what = o.experiment, fields = fields, folder = folder,
    jobs = o.jobs, stream = o.stream, again = o.again,
    chart = live_curves.following(folder, measure, o.stream) }
  local summary = require("roper.workbench.study.summary").of(sweep)
  say("\n" .. require("roper.workbench.study.report.text").text(summary) .. "\n")
  local series = mean_curves(sweep, measure.curve.field)
  if #series > 0 then
    require("roper.workbench.plot").line(series, {
      title = measure.curve.title .. ", mean of the runs", xlabel = "step",
      ylabel = measure.curve.y })
  end
  local page = require("roper.workbench.study.report").write(folder)
  say("The report: " .. page)
  return { identities = residuals, sweep = sweep, failed = failed, page = page }
end

return M
