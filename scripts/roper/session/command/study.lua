--- `roper study`: the study in small, from the identities to the report.
local arguments = require "roper.session.command.arguments"

return {
  summary = "Check the identities, train RoPE and RoPER from the same seeds, write a report.",
  define = function(command)
    command:option("--seeds"):argname("N"):default("3"):convert(arguments.count "--seeds")
      :description "Runs of each method."
    command:option("--folder"):argname("DIR"):default("runs/study")
      :description "Where runs and report are kept; finished runs there are not repeated."
    command:option("--jobs"):argname("N"):convert(arguments.count "--jobs")
      :description "Processes at a time; one a thread of the machine by default."
    command:argument("fields"):args("*"):argname("field=value"):convert(arguments.field)
      :description "Fields of the experiment to set, such as preset=smoke steps=500."
  end,
  run = function(parsed)
    local fields, repeated = arguments.fields(parsed)
    if not fields then
      return repeated
    elseif fields.position or fields.seed then
      return "position and seed cannot be set: RoPE and RoPER are trained from the same --seeds"
    end
    local configure = require("roper.study.experiment").configure
    local ok, message = pcall(configure, "substring_index", fields)
    if not ok then
      return message
    end
    local study = require("roper.study.small").run { seeds = parsed.seeds, folder = parsed.folder,
      fields = fields, jobs = parsed.jobs,
      again = require("roper.session.again").same() }
    arguments.check_failed(study.failed)
  end,
}
