--- `roper train`: run an experiment, or go on with a run of it.
local format = require "roper.format"

local M = {}

M.summary = "Train a model as an experiment says."

--- `field=value` as a pair, for argparse.
---@param text string
---@return string[]? pair nil and a message where it is none
function M.assignment(text)
  local field, value = text:match "^([%a_][%w_]*)=(.*)$"
  if not field then
    return nil, ("expected field=value, got '%s'"):format(text)
  end
  return { field, value }
end

--- Say what the command takes.
---@param command table an argparse command
function M.define(command)
  command:argument("experiment"):description("One of: "
    .. table.concat(require("roper.experiment").list(), ", ") .. ".")
  command:argument("fields"):args("*"):argname("field=value"):convert(M.assignment)
    :description "What to set, such as position=rope preset=mini seed=3; --dry-run shows all."
  command:option("--resume"):argname("DIR"):description "Go on with the run in this folder."
  command:flag("--dry-run"):description "Print the configuration and train nothing."
end

-- Train in the folder of a run to go on with, or in a new one, and tell the result.
local function train(config, resume)
  local folders = require "roper.folder"
  local run = resume or folders.fresh(("runs/%s-%s"):format(config.experiment, config.position))
  if resume and not require("luv").fs_stat(resume .. "/checkpoint.safetensors") then
    error(("no checkpoint in %s to resume from"):format(resume), 0)
  end
  local result = require("roper.experiment").run(config, { run = run, resume = resume ~= nil })
  io.stdout:write(("%d of %d solved, accuracy on answers %.3f, loss %.4f (floor %.4f), in %s\n")
    :format(result.solved, result.problems, result.accuracy, result.loss, result.floor, run))
end

--- Train.
---@param parsed table what argparse made of the arguments
---@return string? usage_error what is wrong with the arguments
function M.run(parsed)
  local experiment = require "roper.experiment"
  local fields = {}
  for _, pair in ipairs(parsed.fields) do
    if fields[pair[1]] then
      return ("field '%s' is given twice"):format(pair[1])
    end
    fields[pair[1]] = pair[2]
  end
  local ok, config = pcall(experiment.configure, parsed.experiment, fields)
  if not ok then
    return config
  elseif parsed.dry_run then
    io.stdout:write(format.value(config), "\n")
  else
    train(config, parsed.resume)
  end
end

return M
