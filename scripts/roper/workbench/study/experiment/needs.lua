--- Names in a configuration that users' files register: experiment, task, position scheme, model.
local definitions = require "roper.workbench.study.experiment.definitions"
local escape = require "roper.base.escape"
local loaded = require "roper.workbench.study.experiment.loaded"
local models = require "roper.workbench.study.experiment.models"
local position = require "roper.workbench.study.experiment.position"
local tables = require "roper.base.tables"
local tasks = require "roper.tasks"

local M = {}

--- Returns the first name that a configuration needs and that is not registered.
---@param config table
---@return string? missing such as "the task sort"; nil if everything is registered
function M.missing(config)
  local name = config.experiment
  local definition = definitions.find(name)
  local is_known = tables.set(tasks.list())[definition and definition.task]
  local scheme = type(config.position) == "string" and position.missing(config.position)
  local model = models.missing(config)
  return not definition and ("the experiment %s"):format(tostring(name))
    or not is_known and ("the task %s"):format(tostring(definition.task))
    or scheme and ("the position scheme %s"):format(scheme)
    or model and ("the model class %s"):format(model) or nil
end

--- Raises an error if a configuration needs a name that is not registered.
---@param where string the start of the message
---@param config table
function M.require(where, config)
  local missing = M.missing(config)
  if missing then
    error(("%s: needs %s: register it first, in a file for --load"):format(where, missing), 0)
  end
end

--- Raises an error if a file that made a run is loaded with another content, or if the run needs a
--- name that is not registered.
---@param run Run
---@return string? note if files that made the run are not loaded, or other ones are
function M.check(run)
  local difference, is_edited
  if run.config.loaded then
    difference, is_edited = loaded.difference(run.folder, run.config.loaded)
  end
  local note = difference and ("%s: %s"):format(escape.line(run.folder), difference)
  if is_edited then
    error(note, 0)
  end
  local ok, message = pcall(M.require, run.folder, run.config)
  if not ok then
    error(difference and ("%s; it was %s"):format(message, difference) or message, 0)
  end
  return note
end

return M
