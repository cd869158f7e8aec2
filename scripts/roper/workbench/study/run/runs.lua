--- Reads the folders of runs.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local claims = require "roper.workbench.study.run.claim"
local configuration = require "roper.workbench.study.experiment.configuration"
local experiment = require "roper.workbench.study.experiment"
local diagnostics = require "roper.text.diagnostics"
local files = require "roper.system.file"
local measures = require "roper.workbench.study.run.measures"
local schema = require "roper.options.schema"
local provenance = require "roper.training.provenance"
local snapshots = require "roper.training.snapshots"
local tables = require "roper.base.tables"
local tensor_file = require "roper.tensor.file"

local M = {}

-- The fields of a result, and of its measurements on longer problems. Numbers that were not finite
-- are missing.
local LONGER <const> = { name = "string", times = "number?" }
local RESULT <const> = { config = "table", diverged = "table?", stopped = "table?",
  by_position = { { first = "integer", last = "integer" } },
  by_distance = { { distance = "number", right = "number", count = "number" } },
  longer = { LONGER } }
for name in ("parameters problems solved solved_greedy tokens"):gmatch "%g+" do
  RESULT[name], LONGER[name] = "integer?", "integer?"
end
for name in ("accuracy accuracy_beyond loss loss_answers loss_questions test_floor "
  .. "test_floor_answers test_floor_questions floor floor_error chance steps_to_90 last_half "
  .. "seconds perplexity bits_per_byte"):gmatch "%g+" do
  RESULT[name], LONGER[name] = "number?", "number?"
end

local SAMPLE <const> = { question = "string", answer = "string", text = "string",
  solved = "boolean" }
local SAMPLES <const> = { sampled = { SAMPLE }, greedy = { SAMPLE },
  written = { { prompt = "string", text = "string" } } }

-- Returns the content of a folder's config.json; nil if it is missing or not that of a run.
local function about(folder)
  local content = files.decode(folder .. "/config.json")
  return content and type(content.config) == "table" and content or nil
end

-- Removes the fields that are null.
local function clean(content)
  for name, value in pairs(content or {}) do
    if value == core.json_null then
      content[name] = nil
    end
  end
  return content
end

--- Returns true if two configurations agree in every field. A field that is false counts as not
--- set.
---
---     > roper.runs.same({seed = 1, rotate = false}, {seed = 1})
---     true
---@param a table
---@param b table
---@return boolean yes
function M.same(a, b)
  arguments.check("runs.same", "a", "table", a, "b", "table", b)
  return #M.differences(a, b) == 0
end

--- Returns the fields in which two configurations differ.
---
---     > roper.runs.differences({seed = 1, layers = 3}, {seed = 2, layers = 3})
---     {{a = 1, b = 2, field = "seed"}}
---@param a table
---@param b table
---@return table[] list {field, a, b} each, sorted by field; a or b is nil if it is not set
function M.differences(a, b)
  arguments.check("runs.differences", "a", "table", a, "b", "table", b)
  return tables.map(configuration.fields { a, b }, function(name)
    return { field = name, a = a[name] or nil, b = b[name] or nil }
  end)
end

-- Returns a configuration with the fields of a run, `by`, that may differ from it: the hash of the
-- text, if the configuration has none, and recompute, which does not change results.
local function as_run(config, by)
  return tables.merged(config, { hash = config.hash or by.hash or false,
    recompute = by.recompute or false })
end

--- Returns the result of a finished run.
---
---     > roper.runs.result("runs/nothing-here")
---     nil
---@param folder string
---@param config? table the configuration that it must have
---@return table? result nil if it is missing, damaged or of another configuration
function M.result(folder, config)
  arguments.check("runs.result", "folder", "string", folder, "config", "table?", config)
  local result = clean(files.decode(folder .. "/result.json"))
  if not result or not schema.fits(result, RESULT)
    or config and not M.same(result.config, as_run(config, result.config)) then
    return nil
  end
  return result
end

--- The possible values of the status of a run.
M.STATUSES = { "finished", "diverged", "failed", "running", "stopped", "waiting", "stale" }

--- The statuses of runs without measurements, in the order in which tables count them.
M.UNFINISHED = { "diverged", "failed", "running", "stopped", "waiting" }

---@class Run
---@field folder string
---@field status string "finished", "diverged" (ended, but without measurements), "failed",
---   "running", "stopped" after some steps, or "waiting" to be started
---@field config? table
---@field provenance table[] records of version, commit and machine, each with the step at which it
---   begins; more than one if the run was resumed with another version or machine
---@field metrics table[]
---@field step integer of the last entry of the metrics
---@field result? table of a finished or diverged run
---@field samples? Sample[] of a finished run
---@field battery BatteryVerdict[] on the position schemes of users
---@field failure? string the error of a failed run, or why a run diverged
---@field owner? table of its claim

--- Reads a run.
---
--- Errors, if no configuration is given: the folder does not exist or contains no run.
---
---     > config = roper.experiment.configure("addition", {preset = "smoke"})
---     > roper.runs.read("runs/nothing-here", config).status
---     "waiting"
---@param folder string
---@param config? table of the run, if its folder may not exist yet
---@return Run run
function M.read(folder, config)
  arguments.check("runs.read", "folder", "string", folder, "config", "table?", config)
  if not config then
    files.check_folder("runs", folder)
  end
  local content = about(folder)
  if not content and not config then
    error(("runs: expected a run in %s, found no config.json of one"):format(folder), 0)
  end
  local run = { folder = folder, config = config or content.config,
    provenance = provenance.of(content),
    metrics = require("roper.training.metrics").read(folder .. "/metrics.jsonl"),
    battery = require("roper.workbench.study.run.battery").of(folder) }
  run.step = run.metrics[#run.metrics] and run.metrics[#run.metrics].step or 0
  run.result = M.result(folder, run.config)
  if run.result then
    run.failure = measures.divergence(run.result)
    run.status = run.failure and "diverged" or "finished"
    local samples = files.decode(folder .. "/samples.json")
    run.samples = samples and schema.fits(samples, SAMPLES) and samples or nil
  else
    local found = claims.read(folder)
    local is_begun = run.step > 0 or files.stat(folder .. "/checkpoint.safetensors")
    run.status = found.state ~= "free" and found.state or is_begun and "stopped" or "waiting"
    run.failure, run.owner = found.message, found.owner
  end
  return run
end

-- Returns the names in a folder; nil for the folder of a run.
local function names_in(folder)
  return not about(folder) and files.names(folder) or nil
end

-- Collects the folders of runs, and the errors for folders that cannot be read.
local function search(folder, found, problems)
  local ok, names = pcall(names_in, folder)
  if diagnostics.is_interrupt(names) then
    error(names, 0)
  elseif not ok then
    problems[#problems + 1] = names
  elseif not names then
    found[#found + 1] = folder
  else
    for _, name in ipairs(names) do
      local path = folder .. "/" .. name
      local stat = not files.is_link(path) and files.stat(path)
      if stat and stat.type == "directory" then
        search(path, found, problems)
      end
    end
  end
end

--- Finds the folders of runs in a folder and below it.
---
---     > roper.runs.find "runs/nothing-here"
---     {}	{}
---@param folder string
---@return string[] folders sorted
---@return string[] problems errors for folders that cannot be read
function M.find(folder)
  arguments.check("runs.find", "folder", "string", folder)
  local found, problems = {}, {}
  search(folder, found, problems)
  return found, problems
end

-- Creates the task of a run. For text, it encodes and decodes like the task of the run, but has no
-- files, because they may have been moved.
local function task_of(run)
  if experiment.has_problems(run.config) then
    return experiment.task(run.config)
  end
  return require("roper.tasks").text { length = run.config.length,
    tokenizer = require("roper.workbench.study.run.language").tokenizer(run.folder, run.config) }
end

-- Returns the tensors of a file in the folder of a run. Raises an error if they belong to another
-- run.
local function tensors_of(run, name)
  local path = ("%s/%s"):format(run.folder, name)
  if not files.stat(path) then
    error(("runs: %s has no %s"):format(run.folder, name), 0)
  end
  local tensors, metadata = tensor_file.load_safetensors(path)
  local there = files.parse(metadata.config or "{}") or {}
  for _, difference in ipairs(M.differences(there, as_run(run.config, there))) do
    if there[difference.field] ~= nil then
      error(("runs: %s belongs to another run: %s is %s in the file, %s in the run"):format(path,
        difference.field, difference.a, difference.b or "not set"), 0)
    end
  end
  return tensors, path
end

-- Returns the name of the file with the weights that `which` selects. Raises an error if there is
-- no such snapshot.
local function file_of(run, which)
  if which == "last" or which == "best" then
    return which == "last" and "checkpoint.safetensors" or "best.safetensors"
  end
  local step = math.tointeger(tonumber(which))
  local names = tables.map(snapshots.steps(run.folder), tostring)
  if not step or not tables.set(names)[tostring(step)] then
    error(("runs.model: which: expected last, best or the step of a snapshot, got %s%s"):format(
      tostring(which), names[1] and "; there are " .. table.concat(names, ", ")
      or "; it has no snapshots"), 0)
  end
  return snapshots.path(run.folder, step):match "[^/]+$"
end

--- Loads the model of a run from its checkpoint.
---
--- Errors: the checkpoint is missing, damaged or of another run; the position scheme is not
--- registered; a file that made the run is loaded with another content; the tokenizer of a run on
--- text is missing.
---
---     > config = roper.experiment.configure("addition", {preset = "smoke"})
---     > run = roper.runs.read("runs/nothing-here", config)
---     > (pcall(roper.runs.model, run))
---     false
---@param run Run
---@param which? "last"|"best"|integer the weights at its last checkpoint, those with the smallest
---   loss on test sequences, or those of the snapshot of a step; "last" by default
---@return Transformer model
---@return task task for text, without files and rows
function M.model(run, which)
  arguments.check("runs.model", "run", "table", run, "which", "string|number?", which)
  arguments.check("runs.model", "run.folder", "string", run.folder,
    "run.config", "table", run.config, "run.provenance", "table?", run.provenance)
  local name = file_of(run, which or "last")
  local is_last = name == "checkpoint.safetensors"
  require("roper.workbench.study.experiment.needs").check(run)
  local tensors, path = tensors_of(run, name)
  local parts = experiment.build(run.config, task_of(run))
  require("roper.model.checkpoint").load_state(path, parts.model, is_last and "model." or "",
    tensors)
  parts.model:training(false)
  return parts.model, parts.task
end

return M
