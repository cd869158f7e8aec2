--- The study in a few minutes: checks the rotation identities, trains RoPE and RoPER from the same
--- seeds, prints a table and writes the report.
local counted = require("roper.base.escape").count
local designs = require "roper.workbench.study.experiment.design"
local curve = require "roper.workbench.study.report.curve"
local d = require "roper.text.document"
local live_curves = require "roper.workbench.study.report.live_curves"
local measures = require "roper.workbench.study.run.measures"
local options_of = require "roper.options.rows"
local grid = require "roper.workbench.study.experiment.grid"
local process = require "roper.system.process"
local reports = require "roper.workbench.study.report"
local sweeps = require "roper.workbench.study.sweep"
local tables = require "roper.base.tables"
local terminal = require "roper.text.document.terminal"

local M = {}

local function say(text)
  io.stdout:write(text, "\n")
  io.stdout:flush()
end

-- Prints the residuals of the identities; raises an error if an identity fails.
local function check_identities()
  local residuals = require("roper.identity.rotations").residuals()
  say(terminal.render(d.table { caption = "Rotation identities, residuals on random tensors",
    head = { "identity", "float32", "float64", "" }, sides = "lrrl",
    rows = tables.map(residuals, function(r)
      return { r.statement, ("%.1e"):format(r.float32), ("%.1e"):format(r.float64),
        r.holds and "holds" or "FAILS" }
    end) }))
  for _, r in ipairs(residuals) do
    if not r.holds then
      error("study: an identity fails, so results of training would mean nothing", 0)
    end
  end
  return residuals
end

-- Prints the processor, the threads and the BLAS.
local function say_machine()
  local info = require("roper.system.info").info()
  say(("%s, %s, %s"):format(info.processor, counted(info.threads, "thread"), info.blas))
  if info.warning then
    say(terminal.render("Slow: " .. info.warning))
  end
end

local of_sweep <const> = options_of.rows "SweepOptions"

local OPTIONS <const> = options_of.define("StudyOptions", {
  { "experiment", "string", designs.EXPERIMENT },
  { "methods", "table?", nil, "position schemes; by default those of the design",
    type = "string[]" },
  { "seeds", "size?", nil, "runs of each method; by default as in the experiment's design" },
  { "folder", "string?", nil, "folder of the runs and the report; runs/study/EXPERIMENT by "
    .. "default. Finished runs in it are skipped" },
  { "fields", "table", {}, "more fields of the experiment" },
  of_sweep.jobs, of_sweep.threads, of_sweep.stream, of_sweep.resume_command,
})

--- Runs the main comparison of an experiment by the design in its file.
---
--- Errors: an unknown experiment, method or field; position or seed among the fields; an identity
--- fails.
---@param options? StudyOptions
---@return table identities, sweep (from `sweep.read`), failed: trials, page: path of the report
function M.run(options)
  local o = options_of.check("study", options, OPTIONS)
  if o.methods and #o.methods == 0 then
    error("study: methods: expected a list of position schemes, got an empty one", 2)
  elseif o.fields.position or o.fields.seed then
    error("study: fields: position and seed are set by methods and seeds", 2)
  end
  process.need_jobs(o.jobs)
  local folder = o.folder or "runs/study/" .. o.experiment
  local design = designs.of(o.experiment)
  design = tables.merged(design, { methods = o.methods, seeds = o.seeds,
    fields = tables.merged(design.fields, o.fields) })
  local fields = designs.fields(design)
  grid.configure(o.experiment, tables.map(fields, function(pair) -- may raise an error
    return pair[1] ~= "seed" and pair or nil
  end))
  local residuals = check_identities()
  say_machine()
  say(("Training %s on %s, %s each\n"):format(table.concat(design.methods, " and "),
    o.experiment, counted(design.seeds, "seed")))
  local measure = measures.with_curves(measures.main { o.experiment })[1]
  local sweep, failed = sweeps.run { what = o.experiment, fields = fields, folder = folder,
    jobs = o.jobs, threads = o.threads, stream = o.stream, resume_command = o.resume_command,
    chart = live_curves.following(folder, measure, o.stream or io.stderr) }
  local view = reports.of(sweep)
  say("\n" .. reports.text(view))
  local means = curve.means((curve.runs(sweep, measure.curve.field)))
  if #means > 0 then
    require("roper.workbench.plot").line(curve.series(means, "method"), {
      title = measure.curve.title .. ", mean of the runs", xlabel = "step",
      ylabel = measure.curve.y })
  end
  local page, not_drawn = reports.write(view)
  say(table.concat(tables.joined({ "Report: " .. page }, not_drawn), "\n"))
  return { identities = residuals, sweep = sweep, failed = failed, page = page }
end

return M
