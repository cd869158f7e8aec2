--- Reading the folders that runs leave behind.
local arguments = require "roper.base.arguments"
local core = require "roper.core"
local claims = require "roper.workbench.study.claim"
local experiment = require "roper.workbench.study.experiment"
local diagnostics = require "roper.base.diagnostics"
local files = require "roper.base.file"
local schema = require "roper.base.schema"
local provenance = require "roper.training.provenance"
local tables = require "roper.base.tables"
local uv = require "luv"

local M = {}

-- What a result tells; a number is missing where it was not finite.
local RESULT <const> = { config = "table", parameters = "integer", problems = "integer",
  solved = "integer", solved_greedy = "integer", accuracy = "number", loss = "number",
  loss_answers = "number", loss_questions = "number", test_floor = "number",
  test_floor_answers = "number", test_floor_questions = "number", floor = "number",
  floor_error = "number", steps_to_90 = "number", last_half = "number", seconds = "number",
  perplexity = "number", bits_per_byte = "number", tokens = "integer",
  by_position = { first = "integer", last = "integer" },
  by_distance = { distance = "number", right = "number", count = "number" },
  longer = { name = "string" } }

local SAMPLE <const> = { question = "string", answer = "string", text = "string",
  solved = "boolean" }
local SAMPLES <const> = { sampled = SAMPLE, greedy = SAMPLE,
  written = { prompt = "string", text = "string" } }

-- What a folder's config.json tells of a run; nil where there is none, or another's file.
local function about(folder)
  local content = files.decode(folder .. "/config.json")
  return content and type(content.config) == "table" and content or nil
end

-- A value without JSON's null.
local function clean(content)
  for name, value in pairs(content or {}) do
    if value == core.json_null then
      content[name] = nil
    end
  end
  return content
end

--- Do two configurations agree in every field? A field that is not set may be absent.
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

--- Where two configurations differ.
---
---     > roper.runs.differences({seed = 1, layers = 3}, {seed = 2, layers = 3})
---     {{a = 1, b = 2, field = "seed"}}
---@param a table
---@param b table
---@return table[] list field, a, b each, sorted by field; nil where one is not set
function M.differences(a, b)
  arguments.check("runs.differences", "a", "table", a, "b", "table", b)
  local list = {}
  for _, name in ipairs(tables.keys(a, b)) do
    if (a[name] or nil) ~= (b[name] or nil) then
      list[#list + 1] = { field = name, a = a[name] or nil, b = b[name] or nil }
    end
  end
  return list
end

-- A configuration as a run may have had it: with the hash of its text, where it asks for none, and
-- with activations computed again or not, which gives the same bits.
local function as_run(config, by)
  return tables.merged(config, { hash = config.hash or by.hash or false,
    recompute = by.recompute or false })
end

--- The result of a finished run.
---
---     > roper.runs.result("runs/nothing-here")
---     nil
---@param folder string
---@param config? table that it must be of
---@return table? result nil where there is none, a damaged one, or one of another configuration
function M.result(folder, config)
  arguments.check("runs.result", "folder", "string", folder, "config", "table?", config)
  local result = clean(files.decode(folder .. "/result.json"))
  if not result or not result.config or not schema.fits(result, RESULT)
    or config and not M.same(result.config, as_run(config, result.config)) then
    return nil
  end
  return result
end

-- What a finished run answered; nil where no file tells, or a damaged one.
local function samples_of(folder)
  local samples = files.decode(folder .. "/samples.json")
  return samples and schema.fits(samples, SAMPLES) and samples or nil
end

--- What the status of a run may be.
M.STATUSES = { "finished", "failed", "running", "stopped", "waiting" }

---@class Run
---@field folder string
---@field status string "finished", "failed", "running", "stopped" with steps that were done, or
---   "waiting" for somebody to begin it
---@field config? table
---@field provenance table[] version, commit, machine, and step from which on: one, or more where a
---   run went on with others
---@field metrics table[]
---@field step integer of the last of these
---@field result? table of a finished run
---@field samples? Sample[] of a finished run
---@field failure? string what a failed one died of
---@field owner? table of its lease

--- What is known of a run.
---
--- Errors: a folder that does not exist or holds no run, without its configuration.
---
---     > config = roper.experiment.configure("addition", {preset = "smoke"})
---     > roper.runs.read("runs/nothing-here", config).status
---     "waiting"
---@param folder string
---@param config? table of the run, where its folder may not tell yet
---@return Run run
function M.read(folder, config)
  arguments.check("runs.read", "folder", "string", folder, "config", "table?", config)
  if not config then
    files.check_folder("runs", folder)
  end
  local told = about(folder)
  if not told and not config then
    error(("runs: %s holds no run: it has no config.json of one"):format(folder), 0)
  end
  local run = { folder = folder, config = config or told.config, provenance = provenance.of(told),
    metrics = require("roper.training.metrics").read(folder .. "/metrics.jsonl") }
  run.step = run.metrics[#run.metrics] and run.metrics[#run.metrics].step or 0
  run.result = M.result(folder, run.config)
  if run.result then
    run.status = "finished"
    run.samples = samples_of(folder)
  else
    local found = claims.read(folder)
    local is_begun = run.step > 0 or files.stat(folder .. "/checkpoint.safetensors")
    run.status = found.state ~= "free" and found.state or is_begun and "stopped" or "waiting"
    run.failure, run.owner = found.message, found.owner
  end
  return run
end

-- The names in a folder; nil where it is that of a run.
local function names_in(folder)
  return not about(folder) and files.names(folder) or nil
end

-- Collect the folders of runs, and why some folders could not be looked into.
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
      local stat = uv.fs_lstat(path)
      if stat and stat.type == "directory" then
        search(path, found, problems)
      end
    end
  end
end

--- The folders of runs in a folder and those below it, sorted.
---
---     > roper.runs.find "runs/nothing-here"
---     {}	{}
---@param folder string
---@return string[] folders
---@return string[] problems folders that may hold runs and cannot be read, and why
function M.find(folder)
  local found, problems = {}, {}
  search(folder, found, problems)
  return found, problems
end

-- The task of a run; of text, one that encodes and decodes as the run did: the text itself may be
-- elsewhere.
local function task_of(run)
  if experiment.has_problems(run.config) then
    return experiment.task(run.config)
  end
  return require("roper.tasks").text { length = run.config.length,
    tokenizer = require("roper.workbench.study.language").tokenizer(run.folder, run.config) }
end

-- The tensors of a file in the folder of a run, refused where it tells that they are another's.
local function tensors_of(run, name)
  local path = ("%s/%s"):format(run.folder, name)
  if not files.stat(path) then
    error(("runs: %s has no %s"):format(run.folder, name), 0)
  end
  local tensors, metadata = core.load_safetensors(path)
  local there = files.parse(metadata.config or "{}") or {}
  for _, difference in ipairs(M.differences(there, as_run(run.config, there))) do
    if there[difference.field] ~= nil then
      error(("runs: %s belongs to another run: %s is %s there and %s here"):format(path,
        difference.field, difference.a, difference.b or "not set"), 0)
    end
  end
  return tensors, path
end

--- The model that a run left behind.
---
--- Errors: a run without a checkpoint, whose checkpoint is damaged or another's, or whose position
--- scheme is not there; of text, one without its tokenizer.
---
---     > config = roper.experiment.configure("addition", {preset = "smoke"})
---     > run = roper.runs.read("runs/nothing-here", config)
---     > (pcall(roper.runs.model, run))
---     false
---@param run Run
---@param which? "last"|"best" the weights at its last checkpoint, or those with the smallest
---   loss on test sequences; "last" by default
---@return Transformer model
---@return task task of text, without its files: it has no rows
function M.model(run, which)
  arguments.check("runs.model", "run", "table", run,
    "which", "string?", which)
  arguments.check("runs.model", "run.folder", "string", run.folder,
    "run.config", "table", run.config)
  local is_best = which == "best"
  require("roper.workbench.study.experiment.position").require(run.folder, run.config)
  local tensors, path = tensors_of(run, is_best and "best.safetensors" or "checkpoint.safetensors")
  local parts = experiment.build(run.config, task_of(run))
  require("roper.model.checkpoint").load_state(path, parts.model, is_best and "" or "model.",
    tensors)
  parts.model:training(false)
  return parts.model, parts.task
end

return M
