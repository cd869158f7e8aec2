--- `roper study`: the study in small, from the identities to the report.
local assignment = require "roper.session.command.assignment"
local count = require "roper.session.command.count"

local M = {}

M.summary = "Check the identities, train RoPE and RoPER from the same seeds, write a report."

--- Say what the command takes.
---@param command table an argparse command
function M.define(command)
  command:option("--seeds"):argname("N"):default("3"):convert(count.of "--seeds")
    :description "Runs of each method."
  command:option("--folder"):argname("DIR"):default("runs/study")
    :description "Where runs and report are kept; finished runs there are not repeated."
  command:option("--jobs"):argname("N"):convert(count.of "--jobs")
    :description "Processes at a time; one a thread of the machine by default."
  command:argument("fields"):args("*"):argname("field=value"):convert(assignment.parse)
    :description "Fields of the experiment to set, such as preset=smoke steps=500."
end

--- Run the study.
---@param parsed table what argparse made of the arguments
---@return string? usage_error what is wrong with the arguments
function M.run(parsed)
  local fields, repeated = assignment.fields(parsed.fields)
  if not fields then
    return repeated
  elseif fields.position or fields.seed then
    return "position and seed cannot be set: RoPE and RoPER are trained from the same --seeds"
  end
  local ok, message = pcall(require("roper.study.experiment").configure, "substring_index", fields)
  if not ok then
    return message
  end
  local study = require("roper.study.small").run { seeds = parsed.seeds, folder = parsed.folder,
    fields = fields, jobs = parsed.jobs }
  if study.failed > 0 then
    error(("%d %s failed; said again, they are tried again"):format(study.failed,
      study.failed == 1 and "trial" or "trials"), 0)
  end
  return nil
end

return M
