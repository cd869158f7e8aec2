--- Reads the trials of a sweep: their configurations are in the file sweep.json of its folder, and
--- each is a run with a folder of its own.
local configuration = require "roper.workbench.study.experiment.configuration"
local escape = require "roper.base.escape"
local file_name = require("roper.position.text").file_name
local files = require "roper.system.file"
local tables = require "roper.base.tables"

local M = {}

local MOST_SWEEPS <const> = 5 -- in a message

---@class Trial
---@field id string hash of its configuration
---@field name string of its folder
---@field folder string
---@field config table

--- Creates a trial of a sweep from its configuration.
---@param folder string of the sweep
---@param config table
---@return Trial trial
function M.new_trial(folder, config)
  local id = configuration.hash(config)
  local name = ("%s%s-%d-%s"):format(file_name(config.position),
    config.rotate and "-" .. config.rotate or "", config.seed, id:sub(1, 8))
  return { id = id, name = name, folder = folder .. "/" .. name, config = config }
end

--- Returns the path of the file in the folder of a sweep.
function M.path(folder)
  return folder .. "/sweep.json"
end

--- Reads the trials of a sweep.
---@param folder string
---@return table[]? trials {id, name, folder, config} in the order in which they were added; nil if
---   the folder contains no sweep
---@return table[]? stale trials that were made by other loaded files than the current trials of
---   their method
function M.read(folder)
  local text = files.read(M.path(folder))
  if not text then
    return nil
  end
  local content = files.parse(text)
  if not content or type(content.trials) ~= "table" or #content.trials == 0
    or type(content.stale or {}) ~= "table" then
    error(("sweep: %s: expected a list of trials, got another file"):format(M.path(folder)), 0)
  end
  local function trial_of(config, i)
    if not configuration.is_valid(config) then
      error(("sweep: %s: trial %d: expected the configuration of an experiment"):format(
        M.path(folder), i), 0)
    end
    return M.new_trial(folder, config)
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
  local trial = M.new_trial(folder, about.config)
  trial.folder = folder
  return { trial }
end

-- Names the sweeps in a folder; "" without one.
local function sweeps_in(folder)
  local found = tables.map(files.names(folder), function(name)
    local path = (folder == "." and "" or folder:gsub("/*$", "/")) .. name
    return files.exists(M.path(path)) and escape.line(path) or nil
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
