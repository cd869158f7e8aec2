--- `roper study`: checks the identities, compares RoPE and RoPER on one experiment, and writes a
--- report.
local arguments = require "roper.workbench.session.command.arguments"
local design = require "roper.workbench.study.experiment.design"

return {
  summary = "Check the identities, train RoPE and RoPER from the same seeds, write a report.",
  define = function(command)
    local experiment = command:argument("experiment"):args("?"):description("One of: "
      .. table.concat(require("roper.workbench.study.experiment").list(), ", ")
      .. ("; %s by default."):format(design.EXPERIMENT))
    arguments.define_fields(command, "field=value",
      "Fields of the experiment to set, such as preset=smoke steps=500.", experiment)
    arguments.define_options(command, "StudyOptions", { "seeds", { "folder", "DIR" }, "jobs",
      "threads" })
  end,
  run = function(parsed)
    local fields = arguments.fields(parsed, "experiment")
    if fields.position or fields.seed then
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
      threads = parsed.threads,
      resume_command = require("roper.workbench.session.resume_command").line() }
    arguments.check_failed(study.failed)
  end,
}
