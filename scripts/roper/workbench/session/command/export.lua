--- `roper export`: writes the model of a run in Hugging Face's layout.
local arguments = require "roper.workbench.session.command.arguments"

return {
  summary = "Write the model of a run in Hugging Face's layout.",
  define = function(command)
    arguments.define_run(command)
    command:argument("folder"):argname("FOLDER"):description("A new or empty folder for "
      .. "config.json and model.safetensors.")
    arguments.define_options(command, "ExportOptions", { "type", "length" })
  end,
  run = function(parsed)
    local model = arguments.model(parsed)
    local is_published = require("roper.model.published.files").has_model(parsed.run)
    require("roper.model.published.export").export(model, parsed.folder, { type = parsed.type,
      length = parsed.length, like = is_published and parsed.run
        or require("roper.workbench.study.run.language").published(parsed.run) })
  end,
}
