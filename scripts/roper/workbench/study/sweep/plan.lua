--- Adds trials to a sweep: to its file sweep.json, which also lists stale trials. A method's trials
--- are made by the same loaded files; those made by other ones are stale, and keep their folders.
local clock = require "roper.system.clock"
local core = require "roper.core"
local claims = require "roper.workbench.study.run.claim"
local configuration = require "roper.workbench.study.experiment.configuration"
local experiment = require "roper.workbench.study.experiment"
local files = require "roper.system.file"
local finally = require("roper.base.scoped").finally
local grid = require "roper.workbench.study.experiment.grid"
local sweep_file = require "roper.workbench.study.run.sweep_file"
local tables = require "roper.base.tables"

local M = {}

--- Loads the trials that a Lua file returns: a list of tables of fields. The field `experiment` is
--- in each of them or in the list itself.
---@param path string
---@param given table[] {field, list of values} each, added to every trial
---@return table[] configurations
function M.load(path, given)
  local chunk, message = loadfile(path)
  if not chunk then
    error(("sweep: %s"):format(message), 0)
  end
  require("roper.system.module_path").add_folder_of(path)
  local found = chunk()
  if type(found) ~= "table" then
    error(("sweep: %s: expected a list of trials, got %s"):format(path, type(found)), 0)
  end
  local configs = {}
  for _, more in ipairs(grid.product(given)) do
    for i, trial in ipairs(found) do
      if type(trial) ~= "table" then
        error(("sweep: %s: trial %d: expected a table of fields, got %s"):format(path, i,
          type(trial)), 0)
      end
      local fields = tables.merged(trial, more)
      local name = fields.experiment or found.experiment
      fields.experiment = nil
      local ok, config = pcall(experiment.configure, name, fields)
      if not name or not ok then
        error(("sweep: %s: trial %d: %s"):format(path, i,
          name and config or "expected an experiment, got none"), 0)
      end
      configs[#configs + 1] = config
    end
  end
  return configs
end

-- Returns the hash of a configuration without some fields.
local function hash_without(config, ...)
  local rest = tables.merged(config)
  for _, name in ipairs { ... } do
    rest[name] = nil
  end
  return configuration.hash(rest)
end

local method_hashes = setmetatable({}, { __mode = "k" }) -- by configuration

-- Returns the hash of what a method is, without the files that define it.
local function method_hash(config)
  local hashed = method_hashes[config] or hash_without(config, "loaded", "origin", "seed")
  method_hashes[config] = hashed
  return hashed
end

-- Returns true if a trial and one that is added later cannot be in the same statistics: they have
-- the same method, but other loaded files, or the same seed, but other weights to start from.
local function is_replaced(old, new)
  local differ = (old.loaded or nil) ~= (new.loaded or nil)
    or old.seed == new.seed and old.origin ~= new.origin
  return differ and method_hash(old) == method_hash(new)
end

--- Returns what made a trial besides its fields: its loaded files, and the weights it started from.
---@param config table
---@return string text
function M.made_with(config)
  return (config.loaded or "no loaded files") .. (config.origin and ", " .. config.origin or "")
end

-- Calls f with a lock, so that no other process changes the file of the sweep.
local function locked(folder, f)
  local lock = folder .. "/lock"
  files.make(lock)
  local held, other = claims.take(lock)
  while not held do
    if other.problem then
      error("sweep: " .. other.problem, 0)
    end
    clock.sleep(0.02)
    held, other = claims.take(lock)
  end
  return finally(function()
    files.clean(lock)
    held:forget_others()
    return f()
  end, function() held:leave "finished" end)
end

-- Writes the file of a sweep.
local function write(folder, trials, stale)
  local function configs(list)
    return core.json_array(tables.map(list, function(trial) return trial.config end))
  end
  files.write(sweep_file.path(folder), core.json_encode({ version = require "roper.base.version",
    trials = configs(trials), stale = stale[1] and configs(stale) or nil }, { indent = 2 }) .. "\n")
end

-- Moves the trials that a new one replaces from `trials` to `stale`, and puts trials with its
-- loaded files and their seeds in their places. Returns the stale ones, each with the trial in its
-- place as its field `instead`, and those trials.
local function replace(folder, trials, stale, config)
  local gone, instead = {}, {}
  for i, old in ipairs(trials) do
    if is_replaced(old.config, config) then
      local new = sweep_file.new_trial(folder, tables.merged(config, { seed = old.config.seed }))
      old.instead = new
      gone[#gone + 1], stale[#stale + 1] = old, old
      instead[#instead + 1], trials[i] = new, new
    end
  end
  return gone, instead
end

-- Returns a list without the trials whose names are keys of a table.
local function without(list, names)
  return tables.map(list, function(trial) return not names[trial.name] and trial or nil end)
end

--- Adds trials to the file of a sweep, which is created if it is missing. Trials of the same
--- methods that were made by other loaded files become stale; trials with the same seeds and the
--- loaded files of now take their places. A stale trial becomes current again if it is added.
---@param folder string
---@param configs table[] from `experiment.configure`
---@return table[] trials of these configurations, in their order, without duplicates, and of those
---   that take the places of stale ones
---@return table[] stale the trials that became stale, each with the trial `instead` of it
function M.add(folder, configs)
  files.make(folder)
  return locked(folder, function()
    files.clean(folder, "sweep.json")
    local all, stale = sweep_file.read(folder)
    all, stale = all or {}, stale or {}
    local asked, gone, known, wanted = {}, {}, {}, {}
    local had = #all
    local function ask(trial)
      if not wanted[trial.name] then
        asked[#asked + 1], wanted[trial.name] = trial, true
      end
    end
    for _, trial in ipairs(all) do
      known[trial.name] = trial
    end
    for _, config in ipairs(configs) do
      local trial = sweep_file.new_trial(folder, config)
      local replaced, instead = replace(folder, all, stale, config)
      for i, new in ipairs(instead) do
        gone[#gone + 1], known[replaced[i].name], known[new.name] = replaced[i], nil, new
      end
      local old = known[trial.name]
      if old and old.id ~= trial.id then
        error(("sweep: two configurations have the same name, %s; change the seed of one")
          :format(trial.name), 0)
      elseif not old then
        all[#all + 1], known[trial.name] = trial, trial
      end
      ask(known[trial.name])
      for _, new in ipairs(instead) do
        ask(new)
      end
    end
    if #all > had or gone[1] then
      write(folder, all, without(stale, known))
    end
    return asked, gone
  end)
end

return M
