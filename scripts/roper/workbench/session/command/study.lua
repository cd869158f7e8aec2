--- `roper study`: the identities, RoPE and RoPER on one experiment, and the report.
local arguments = require "roper.workbench.session.command.arguments"
local design = require "roper.workbench.study.experiment.design"

return {
  summary = "Check the identities, train RoPE and RoPER from the same seeds, write a report.",
  define = function(command)
    command:argument("experiment"):args("?"):description("One of: "
      .. table.concat(require("roper.workbench.study.experiment").list(), ", ")
      .. ("; %s by default."):format(design.EXPERIMENT))
    command:argument("fields"):args("*"):argname("field=value"):convert(arguments.field)
      :description "Fields of the experiment to set, such as preset=smoke steps=500."
    command:option("--seeds"):argname("N"):convert(arguments.count "--seeds")
      :description "Runs of each method; those of the experiment's design by default."
    command:option("--folder"):argname("DIR")
      :description("Where runs and report are kept; runs/study/EXPERIMENT by default. Finished "
      .. "runs there are not repeated.")
    command:option("--jobs"):argname("N"):convert(arguments.count "--jobs")
      :description "Processes at a time; one a thread of the machine by default."
  end,
  run = function(parsed)
    local fields, repeated = arguments.fields(parsed, "experiment")
    if not fields then
      return repeated
    elseif fields.position or fields.seed then
      return "position and seed cannot be set: RoPE and RoPER are trained from the same --seeds"
    end
    local configure = require("roper.workbench.study.experiment").configure
    local experiment = parsed.experiment or design.EXPERIMENT
    local ok, message = pcall(configure, experiment, fields)
    if not ok then
      return message
    end
    local study = require("roper.workbench.study.quick_study").run { experiment = experiment,
      seeds = parsed.seeds, folder = parsed.folder, fields = fields, jobs = parsed.jobs,
      again = require("roper.workbench.session.resume_command").same() }
    arguments.check_failed(study.failed)
  end,
}
