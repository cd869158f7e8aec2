--- What commands share: counts, fields as `field=value`, runs, trials that failed.
local M = {}

--- A converter for argparse: whole numbers from 1 on.
---@param option string its name, for the message
---@return fun(text: string): integer? convert its result is nil and a message for anything else
function M.count(option)
  return function(text)
    local count = math.tointeger(tonumber(text))
    if count and count >= 1 then
      return count
    end
    return nil, ("%s takes a whole number from 1 on, got '%s'"):format(option, text)
  end
end

--- `field=value` as a pair, for argparse.
---@param text string
---@return string[]? pair nil and a message where it is none
function M.field(text)
  local field, value = text:match "^([%a_][%w_]*)=(.*)$"
  if not field then
    return nil, ("expected field=value, got '%s'"):format(text)
  end
  return { field, value }
end

--- The fields of a command as a table.
---@param parsed table what argparse made of the arguments
---@param before string? an argument in whose place the first of them may stand
---@return table? fields nil and a message where a field is given twice
---@return string? message
function M.fields(parsed, before)
  local first = before and parsed[before] and M.field(parsed[before])
  if first then
    table.insert(parsed.fields, 1, first)
    parsed[before] = nil
  end
  local fields = {}
  for _, pair in ipairs(parsed.fields) do
    if fields[pair[1]] then
      return nil, ("field '%s' is given twice"):format(pair[1])
    end
    fields[pair[1]] = pair[2]
  end
  return fields
end

--- The run of an experiment in a folder.
---
--- Errors: a folder that holds none; a position scheme that is not there.
---@param folder string
---@return Run run
function M.run(folder)
  local run = require("roper.workbench.study.runs").read(folder)
  if type(run.config.experiment) ~= "string" then
    error(("%s: expected the run of an experiment, got one of roper.train{run = ...}"):format(
      folder), 0)
  end
  require("roper.workbench.study.experiment.position").require(folder, run.config)
  return run
end

--- What eval and sample take: a run, and which of its checkpoints.
---@param command table of argparse
function M.define_run(command)
  command:argument("run"):argname("RUN"):description "The folder of a run."
  command:option("--checkpoint"):choices({ "last", "best" }):default("last")
    :description "Its last one (last), or that with the smallest loss while it was trained (best)."
end

--- An error where trials failed.
---@param count integer
function M.check_failed(count)
  if count > 0 then
    error(require("roper.base.escape").count(count, "trial")
      .. " failed; said again, they are tried again", 0)
  end
end

return M
