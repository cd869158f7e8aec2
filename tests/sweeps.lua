-- Runs sweeps of tiny trials, of about a tenth of a second each, as programs.

local files = require("roper.system.file")
local stored = require("roper.workbench.study.run.runs")
local sweep_file = require("roper.workbench.study.run.sweep_file")
local process = require("tests.process")
local uv = require("luv")

local M = {}

local FIELDS <const> = { "preset=smoke", "letters=3", "length=41", "d_model=16", "problems=2",
                         "test_sequences=4", "evaluate_every=20", "checkpoint_every=5" }

--- The fields of a small trial, as a table.
---@param more table? further fields
---@return table
function M.fields(more)
  local fields = {}
  for _, text in ipairs(FIELDS) do
    local name, value = text:match("^(.-)=(.*)$")
    fields[name] = value
  end
  for name, value in pairs(more or {}) do
    fields[name] = value
  end
  return fields
end

--- The command of a sweep of small trials.
---@param folder string
---@param ... string further words: fields and options
---@return string[]
function M.command(folder, ...)
  local words = { "./roper", "sweep", "substring_index", "--folder", folder }
  for _, list in ipairs({ FIELDS, { ... } }) do
    table.move(list, 1, #list, #words + 1, words)
  end
  return words
end

--- Run the loop for some milliseconds, or until the programs have ended.
---@param processes table[]
---@param milliseconds integer? until they have ended
function M.wait(processes, milliseconds)
  local timer, is_late = uv.new_timer(), false
  local function are_open()
    for _, program in ipairs(processes) do
      if program.status == nil then
        return true
      end
    end
    return false
  end
  uv.update_time()
  timer:start(milliseconds or process.PATIENCE, 0, function() is_late = true end)
  while are_open() and not is_late do
    uv.run("once")
  end
  timer:close()
  uv.run("nowait")
  assert(milliseconds or not are_open(), "a program does not end")
end

--- The content of result.json of each finished trial, by its name.
---@param folder string
---@return table<string, string>
---@return integer count
function M.results(folder)
  local results, count = {}, 0
  for _, trial in ipairs(sweep_file.read(folder) or {}) do
    results[trial.name] = files.read(trial.folder .. "/result.json")
    count = count + (results[trial.name] and 1 or 0)
  end
  return results, count
end

--- Ids of the worker processes of a sweep.
---@param folder string
---@return integer[]
function M.workers(folder)
  local list = {}
  for _, trial in ipairs(sweep_file.read(folder) or {}) do
    local run = stored.read(trial.folder, trial.config)
    list[#list + 1] = run.status == "running" and run.owner.pid or nil
  end
  return list
end

return M
