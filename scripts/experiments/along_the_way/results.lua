-- The table of runs: a CSV file from which tables.lua and figure.lua compute the results.
--
-- A row is a run. The runs that choose the rate have their `loss` at the trained length. The runs
-- that are compared have their accuracy (that of a language model: loss) at each tested length,
-- `at_1` the trained one. A run that diverged has neither.
local files = require "roper.system.file"
local tables = require "roper.base.tables"

local M = {}

-- The method is quoted if it contains a comma.
local ROW <const> = '^([^,]*),("?)(.-)%2,([^,]*),([^,]*),([^,]*),([^,]*),(.*)$'

-- A number rounded to 5 decimals.
local function rounded(number)
  return (("%.5f"):format(number):gsub("%.?0+$", ""))
end

local function measure_of(task)
  return task.is_text and "loss" or "accuracy"
end

-- The seeds that choose the rate of a task.
local function choosing(design, name)
  local seeds = {}
  for _, stage in ipairs(design.stages) do
    seeds = tables.joined(seeds, tables.set(stage.tasks)[name] and stage.choosing or {})
  end
  return tables.set(seeds)
end

--- Returns the head of the table.
---@param design table
---@return string line
function M.head(design)
  return "task,method,rate,seed,seconds,loss,at_1"
    .. table.concat(tables.map(design.times, function(times) return ",at_" .. times end))
end

--- Returns the rows of the ended runs of a sweep, sorted by method, rate and seed.
---@param design table
---@param name string of the task
---@param sweep Sweep
---@return string[] lines
function M.lines(design, name, sweep)
  local task, chooses = design.tasks[name], choosing(design, name)
  local measure = measure_of(task)
  local trials = tables.map(sweep.trials, function(trial) return trial.run.result and trial end)
  table.sort(trials, function(a, b)
    a, b = a.config, b.config
    if a.position ~= b.position or a.rate ~= b.rate then
      return a.position < b.position or a.position == b.position and a.rate < b.rate
    end
    return a.seed < b.seed
  end)
  return tables.map(trials, function(trial)
    local config, result = trial.config, trial.run.result
    local is_choosing, finished = chooses[config.seed], trial.run.status == "finished"
    local cells = tables.map(tables.joined({ result }, result.longer or {}), function(at)
      local value = finished and not is_choosing and at[measure]
      return value and rounded(value) or ""
    end)
    local method = config.position:find(",", 1, true) and ('"%s"'):format(config.position)
      or config.position
    return ("%s,%s,%g,%d,%.0f,%s,%s"):format(name, method, config.rate, config.seed,
      result.seconds, finished and is_choosing and ("%.4g"):format(result.loss) or "",
      table.concat(cells, ","))
  end)
end

-- Returns the trial of a row, as in a sweep.
local function trial_of(design, line, path)
  local name, _, method, rate, seed, seconds, loss, cells = line:match(ROW)
  local task = design.tasks[name]
  if not (task and tonumber(rate) and math.tointeger(tonumber(seed)) and tonumber(seconds)) then
    error(("results.lua: %s: expected task, method, rate, seed and seconds, got %s"):format(path,
      line:sub(1, 60)), 0)
  end
  local values, count = {}, 0
  for cell in (cells .. ","):gmatch "([^,]*)," do
    count = count + 1
    values[count] = tonumber(cell)
  end
  local measure = measure_of(task)
  local result = { seconds = tonumber(seconds), loss = tonumber(loss), longer = {} }
  result[measure] = result[measure] or values[1]
  for i, times in ipairs(design.times) do
    result.longer[i] = { times = times, [measure] = values[i + 1] }
  end
  return name, { method = method, seed = math.tointeger(tonumber(seed)),
    config = { experiment = task.experiment, rate = tonumber(rate) },
    run = { status = (result.loss or values[1]) and "finished" or "diverged", result = result } }
end

--- Reads a table of runs.
---
--- Errors: a row is not one of the design.
---@param design table
---@param path string
---@return table<string, Sweep> sweeps by task: trials and what they vary
function M.read(design, path)
  local sweeps = {}
  for line in files.read(path):gmatch("[^\n]+", #M.head(design) + 1) do
    local name, trial = trial_of(design, line, path)
    sweeps[name] = sweeps[name] or { trials = {}, varied = { "position", "rate", "seed" } }
    table.insert(sweeps[name].trials, trial)
  end
  return sweeps
end

return M
