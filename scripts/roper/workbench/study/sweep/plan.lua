--- The trials of a sweep: their configurations, their names, and the file sweep.json. It also lists
--- stale trials: a method's trials are made by the same loaded files, and those made by other ones
--- are stale, with their folders kept.
local clock = require "roper.system.clock"
local core = require "roper.core"
local claims = require "roper.workbench.study.claim"
local configuration = require "roper.workbench.study.configuration"
local escape = require "roper.base.escape"
local experiment = require "roper.workbench.study.experiment"
local files = require "roper.system.file"
local hash = require "roper.base.hash"
local file_name = require("roper.position.text").file_name
local finally = require("roper.base.scoped").finally
local tables = require "roper.base.tables"

local M = {}

-- Maximum number of values in a range.
local MOST_VALUES <const> = 100000

local MOST_SWEEPS <const> = 5 -- in a message

--- Returns the values in a text such as "rope,roper", "1..10" or "1..3,7".
function M.values(field, text)
  local list = {}
  for _, part in ipairs(require("roper.position.syntax").choices(text)) do
    local first, last = part:match "^(-?%d+)%.%.(-?%d+)$"
    if part == "" then
      error(("field %s: expected values with commas between them, got %q"):format(field, text), 0)
    elseif not first then
      list[#list + 1] = part
    else
      first, last = math.tointeger(tonumber(first)), math.tointeger(tonumber(last))
      if not first or not last or last < first then
        error(("field %s: expected a range from a smaller to a larger integer, got %s")
          :format(field, part), 0)
      elseif not math.ult(last - first, MOST_VALUES) then -- unsigned: the difference may overflow
        error(("field %s: expected at most %d values, got %s"):format(field, MOST_VALUES, part), 0)
      end
      for number = first, last do
        list[#list + 1] = number
      end
    end
  end
  return list
end

-- A table without a list, such as {type = "yarn", factor = 4}, is one value.
local function is_list(values)
  return type(values) == "table" and values[1] ~= nil
end

--- Returns every combination of the fields' values. Seeds vary slowest, so that an unfinished sweep
--- has complete pairs; the other fields vary in their order, the last one fastest.
---@param given table[] {field, list of values or one value} each
---@return table[] tables of fields
function M.product(given)
  local ordered = {}
  for _, pair in ipairs(given) do
    table.insert(ordered, pair[1] == "seed" and 1 or #ordered + 1, pair)
  end
  local list = { {} }
  for _, pair in ipairs(ordered) do
    local field, values = pair[1], pair[2]
    local longer = {}
    for _, fields in ipairs(list) do
      for _, value in ipairs(is_list(values) and values or { values }) do
        longer[#longer + 1] = tables.merged({ [field] = value }, fields)
      end
    end
    list = longer
  end
  return list
end

--- Returns the configurations of an experiment with every combination of the fields' values.
---@param name string of the experiment
---@param given table[] as for `product`
---@return table[] configurations
function M.configure(name, given)
  return tables.map(M.product(given), function(fields)
    return experiment.configure(name, fields)
  end)
end

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
  for _, more in ipairs(M.product(given)) do
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

--- Returns the hash of a configuration: of its JSON with sorted keys, without fields that are
--- false.
---@param config table
---@return string sixteen hexadecimal digits
function M.hash(config)
  local set = {}
  for name, value in pairs(config) do
    set[name] = value or nil
  end
  return hash.of(core.json_encode(set))
end

-- Returns the hash of a configuration without some fields.
local function hash_without(config, ...)
  local rest = tables.merged(config)
  for _, name in ipairs { ... } do
    rest[name] = nil
  end
  return M.hash(rest)
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

-- Creates a trial from its configuration.
local function new_trial(folder, config)
  local id = M.hash(config)
  local name = ("%s%s-%d-%s"):format(file_name(config.position),
    config.rotate and "-" .. config.rotate or "", config.seed, id:sub(1, 8))
  return { id = id, name = name, folder = folder .. "/" .. name, config = config }
end

local function path_of(folder)
  return folder .. "/sweep.json"
end

--- Reads the trials of a sweep.
---@param folder string
---@return table[]? trials {id, name, folder, config} in the order in which they were added; nil if
---   the folder contains no sweep
---@return table[]? stale trials that were made by other loaded files than the current trials of
---   their method
function M.read(folder)
  local text = files.read(path_of(folder))
  if not text then
    return nil
  end
  local content = files.parse(text)
  if not content or type(content.trials) ~= "table" or #content.trials == 0
    or type(content.stale or {}) ~= "table" then
    error(("sweep: %s: expected a list of trials, got another file"):format(path_of(folder)), 0)
  end
  local function trial_of(config, i)
    if not configuration.is_valid(config) then
      error(("sweep: %s: trial %d: expected the configuration of an experiment"):format(
        path_of(folder), i), 0)
    end
    return new_trial(folder, config)
  end
  return tables.map(content.trials, trial_of), tables.map(content.stale or {}, trial_of)
end

--- Reads a single run of an experiment as a sweep of one trial.
---@param folder string of the run
---@return table[]? trials nil if the folder contains no such run
function M.lone(folder)
  local about = files.decode(folder .. "/config.json")
  if not about or not configuration.is_valid(about.config) then
    return nil
  end
  local trial = new_trial(folder, about.config)
  trial.folder = folder
  return { trial }
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
  files.write(path_of(folder), core.json_encode({ version = require "roper.base.version",
    trials = configs(trials), stale = stale[1] and configs(stale) or nil }, { indent = 2 }) .. "\n")
end

-- Moves the trials that a new one replaces from `trials` to `stale`, and puts trials with its
-- loaded files and their seeds in their places. Returns the stale ones, each with the trial in its
-- place as its field `instead`, and those trials.
local function replace(folder, trials, stale, config)
  local gone, instead = {}, {}
  for i, old in ipairs(trials) do
    if is_replaced(old.config, config) then
      local new = new_trial(folder, tables.merged(config, { seed = old.config.seed }))
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
    local all, stale = M.read(folder)
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
      local trial = new_trial(folder, config)
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

-- Names the sweeps in a folder; "" without one.
local function sweeps_in(folder)
  local found = tables.map(files.names(folder), function(name)
    local path = (folder == "." and "" or folder:gsub("/*$", "/")) .. name
    return files.exists(path_of(path)) and escape.line(path) or nil
  end)
  return found[1] and (#found == 1 and "; it contains the sweep " or "; it contains the sweeps ")
    .. table.concat(found, ", ", 1, math.min(#found, MOST_SWEEPS))
    .. (#found > MOST_SWEEPS and ", ..." or "") or ""
end

--- Reads the trials of a sweep like `read`, with an error instead of nil.
---
--- Errors: the folder contains no sweep.
function M.require(folder)
  files.check_folder("sweep", folder)
  local trials, stale = M.read(folder)
  if not trials then
    error(("sweep: expected the folder of a sweep, got %s, which has no sweep.json%s"):format(
      folder == "." and "the current folder" or escape.line(folder), sweeps_in(folder)), 0)
  end
  return trials, stale
end

return M
