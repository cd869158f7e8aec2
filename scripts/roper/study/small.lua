--- The study in small: the rotation identities, then a sweep of RoPE against RoPER from the same
--- seeds, its table and its report.
local options_of = require "roper.base.options"

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

-- Show that the identities hold, or stop.
local function check_identities()
  local residuals = require("roper.identity.rotations").residuals()
  say "Rotation identities, residuals on random tensors\n"
  say(require("roper.base.format.columns").align(identity_rows(residuals)))
  for _, r in ipairs(residuals) do
    if not r.holds then
      error("study: an identity fails; nothing trained on it could be trusted", 0)
    end
  end
  return residuals
end

-- Accuracy on answers over the steps, the mean of each method's finished runs, for plot.line.
local function curves(sweep)
  local curve, series = require "roper.study.report.curve", {}
  for i, mean in ipairs(curve.means(sweep, (curve.runs(sweep, "accuracy")))) do
    local xs, ys = curve.coordinates(mean.points)
    series[i] = { label = mean.method, x = xs, y = ys }
  end
  return series
end

--- Run the study in small.
---@param options table? experiment = "substring_index", methods = {"rope", "roper"}, seeds = 3,
---   folder = "runs/study", fields: others of the experiment, preset among them; jobs, stream,
---   again: as for `sweep.run`
---@return table identities, sweep (from `sweep.read`), failed: trials, page: path of the report
function M.run(options)
  local o = options_of.check("study", options, { experiment = { "string", "substring_index" },
    methods = { "table", { "rope", "roper" } }, seeds = { "size", 3 },
    folder = { "string", "runs/study" }, fields = { "table", {} }, jobs = "size?",
    stream = { "any", io.stderr }, again = "string?" })
  if #o.methods == 0 then
    error("study: methods: expected a list of position schemes, got an empty one", 2)
  elseif o.fields.position or o.fields.seed then
    error("study: fields: position and seed are set by methods and seeds", 2)
  end
  local fields = { { "position", o.methods }, { "seed", "1.." .. o.seeds } }
  for _, name in ipairs(require("roper.base.tables").keys(o.fields)) do
    fields[#fields + 1] = { name, o.fields[name] }
  end
  local sweeps = require "roper.study.sweep"
  for _, each in ipairs(require("roper.study.sweep.plan").product { { "position", o.methods },
    table.unpack(fields, 3) }) do
    -- refuse before anything is shown
    require("roper.study.experiment").configure(o.experiment, each)
  end
  local residuals = check_identities()
  local info = require("roper.base.info").info()
  say(("\n%s, %d threads, OpenBLAS %s"):format(info.processor, info.threads, info.blas_core))
  if info.warning then
    say("Slow: " .. info.warning)
  end
  say(("Training %s on %s, %s each\n"):format(table.concat(o.methods, " and "), o.experiment,
    require("roper.base.printable").count(o.seeds, "seed")))
  local sweep, failed = sweeps.run { what = o.experiment, fields = fields, folder = o.folder,
    jobs = o.jobs, stream = o.stream, again = o.again }
  local summary = require("roper.study.summary").of(sweep)
  say("\n" .. require("roper.study.report.text").text(summary) .. "\n")
  local series = curves(sweep)
  if #series > 0 then
    require("roper.plot").line(series, { title = "Accuracy on answer tokens, mean of the runs",
      xlabel = "step", ylabel = "accuracy" })
  end
  local page = require("roper.study.report").write(o.folder)
  say("The report: " .. page)
  return { identities = residuals, sweep = sweep, failed = failed, page = page }
end

return M
