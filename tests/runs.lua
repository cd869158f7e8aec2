-- Runs training, and reads the files of runs.

local assert = require("luassert")
local metrics = require("roper.training.metrics")
local models = require("tests.models")
local roper = require("roper")
local scratch = require("tests.scratch")
local uv = require("luv")

local M = {}

--- Train a small model with dropout.
---@param options? table of roper.train
---@param seed? integer = 1
---@return table result
---@return table model
function M.train(options, seed)
  local model = models.small({ seed = seed or 1, dropout = 0.1 })
  local all = { model = model, task = models.task({ seed = seed or 1 }), steps = 10, batch = 2,
    optimizer = roper.optim.Adam(), progress = false }
  for name, value in pairs(options or {}) do
    all[name] = value
  end
  return roper.train(all), all.model
end

--- The content of every file of a folder.
---@param folder string
---@return table<string, string>
function M.files(folder)
  local all = {}
  for name in uv.fs_scandir_next, assert(uv.fs_scandir(folder)) do
    all[name] = scratch.read(folder .. "/" .. name)
  end
  return all
end

--- True if the checkpoints of two folders have the same bytes.
---@param a string
---@param b string
---@return boolean
function M.same_checkpoint(a, b)
  local name = "/checkpoint.safetensors"
  return scratch.read(a .. name) == scratch.read(b .. name)
end

--- The metrics of a run without its timings and memory.
---@param folder string
---@return table[]
function M.timeless(folder)
  local list = metrics.read(folder .. "/metrics.jsonl")
  for _, entry in ipairs(list) do
    assert.is_true(entry.seconds >= 0)
    entry.seconds, entry.tokens_per_second, entry.memory = nil, nil, nil
  end
  return list
end

--- A field of every entry.
---@param history table[]
---@param name string
---@return any[]
function M.numbers(history, name)
  local list = {}
  for i, entry in ipairs(history) do
    list[i] = entry[name]
  end
  return list
end

return M
