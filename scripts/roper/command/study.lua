--- `roper study`: the study in small, from the identities to the report.
local M = {}

M.summary = "Check the identities, train RoPE and RoPER from the same seeds, write a report."

--- Say what the command takes.
---@param command table an argparse command
function M.define(command)
  command:option("--seeds"):argname("N"):default("3"):convert(math.tointeger)
    :description "Runs of each method."
  command:option("--folder"):argname("DIR"):default("runs/study")
    :description "Where runs and report are kept; finished runs there are not repeated."
  command:argument("fields"):args("*"):argname("field=value")
    :convert(require("roper.command.train").assignment)
    :description "Fields of the experiment to set, such as preset=smoke steps=500."
end

--- Run the study.
---@param parsed table what argparse made of the arguments
---@return string? usage_error what is wrong with the arguments
function M.run(parsed)
  local fields = {}
  for _, pair in ipairs(parsed.fields) do
    fields[pair[1]] = pair[2]
  end
  local preset = fields.preset
  fields.preset = nil
  local ok, message = pcall(require("roper.experiment").configure, "substring_index", fields)
  if not ok then
    return message
  elseif parsed.seeds < 1 then
    return "--seeds takes a whole number from 1 on"
  end
  require("roper.study").run { seeds = parsed.seeds, folder = parsed.folder, fields = fields,
    preset = preset }
end

return M
