-- The programs that are killed, and what must be in their folders.

local checkpoint = require("roper.model.checkpoint")
local core = require("roper.core")
local files = require("roper.system.file")
local mpi = require("tests.mpi")
local process = require("tests.process")
local tables = require("roper.base.tables")
local uv = require("luv")

local M = {}

local ROPER <const> = uv.fs_realpath("roper")

local FIELDS <const> = { "preset=smoke", "letters=3", "length=21", "d_model=8", "layers=1",
  "batch=2", "steps=8", "problems=2", "test_sequences=2", "evaluate_every=4", "checkpoint_every=2" }

local function is_there(path)
  return assert(files.stat(path), path .. " is missing")
end

-- The checkpoint of a run must have at least the step that was last reported.
local function check_checkpoint(run, output)
  local reported = 0
  for step in output:gmatch("saved (%d+)\n") do
    reported = math.max(reported, math.tointeger(step))
  end
  if reported > 0 then
    is_there(run .. "/checkpoint.safetensors")
    local step = checkpoint.training_step(run .. "/checkpoint.safetensors")
    assert(step >= reported, ("saved step %d, found %d"):format(reported, step))
    local metrics = require("roper.training.metrics").read(run .. "/metrics.jsonl")
    assert(#metrics > 0 and metrics[#metrics].step >= step - 1, "metrics are missing")
  end
end

-- Results of trials that were reported as finished must be there.
local function check_sweep(folder, output)
  for name in output:gmatch("\n([%w-]+): %d+ of %d+ solved by sampling") do
    assert(files.decode(("%s/sweep/%s/result.json"):format(folder, name)), name .. " has no result")
  end
  for path in output:gmatch("Report: (%S+)\n") do
    assert((files.read(path) or ""):find("</html>", 1, true), path .. " is incomplete")
  end
end

local function tokens(tokenizer)
  return {
    command = function(folder)
      return { ROPER, "tests/kills/job/tokens.lua", folder, tokenizer }
    end,
    whom = { "command" },
    check = function(folder, output)
      local found = false
      for _, name in ipairs(files.names(folder .. "/cache")) do
        found = found or name:find("%.tokens$") ~= nil
      end
      assert(found or not output:find("tokenized"), "tokens are missing")
    end,
  }
end

local function in_folder(folder, words)
  return { "sh", "-c", 'cd "$0" && exec "$@"', folder, table.unpack(words) }
end

local function sweep(...)
  local words = { ROPER, ... }
  return {
    command = function(folder)
      return tables.joined(words, { "--jobs", "2", "--folder", folder .. "/sweep" }, FIELDS)
    end,
    whom = { "caller", "other", "command", "all" },
    check = check_sweep,
  }
end

---@class Job
---@field command fun(folder: string): string[] the line that is run, and run again
---@field whom string[] whom to kill
---@field check fun(folder: string, output: string, last_output: string) raises an error unless what
---   the output of all runs, and of the last one, reports as saved is there
---@field is_launcher? boolean the command works before it starts roper, so only calls are counted
---@field missing? fun(): string? why it cannot run here

--- The jobs by name.
---@type table<string, Job>
M.all = {
  train = {
    command = function(folder) return { ROPER, "tests/kills/job/train.lua", folder .. "/run" } end,
    whom = { "command" },
    check = function(folder, output) check_checkpoint(folder .. "/run", output) end,
  },
  command = {
    command = function(folder)
      local run = "runs/copy-roper-1"
      local resumes = files.stat(("%s/%s/checkpoint.safetensors"):format(folder, run))
      return in_folder(folder, resumes and { ROPER, "train", "--resume", run }
        or { ROPER, "train", "copy", table.unpack(FIELDS) })
    end,
    whom = { "command" },
    check = function(folder, output)
      if output:find("solved by sampling", 1, true) then
        is_there(folder .. "/runs/copy-roper-1/result.json")
      end
    end,
  },
  save = {
    command = function(folder) return { ROPER, "tests/kills/job/save.lua", folder } end,
    whom = { "command" },
    check = function(folder, output, last_output)
      for name in output:gmatch("saved (%S+)") do
        is_there(folder .. "/" .. name)
      end
      local reported = {}
      for name, value in last_output:gmatch("saved (%S+) (%d+)\n") do
        reported[name] = tonumber(value)
      end
      for name, value in pairs(reported) do
        local found = core.load(folder .. "/" .. name)
        local x = type(found) == "table" and (found.x or found["weight"]) or found
        assert(x:min():item() >= value, name)
      end
    end,
  },
  ["tokens-bytes"] = tokens("bytes"),
  ["tokens-pieces"] = tables.merged(tokens("sentencepiece"), {
    missing = function() return process.missing("spm_train", "spm_encode") end,
    whom = { "caller", "command", "all" },
  }),
  sweep = sweep("sweep", "substring_index", "position=rope,roper", "seed=1"),
  study = sweep("study", "copy", "--seeds", "1"),
  mpi = {
    command = function(folder)
      return mpi.command(2, ROPER, "tests/kills/job/train.lua", folder .. "/run")
    end,
    whom = { "caller", "other", "command", "all" },
    check = function(folder, output) check_checkpoint(folder .. "/run", output) end,
    missing = mpi.missing,
    is_launcher = true,
  },
}

return M
