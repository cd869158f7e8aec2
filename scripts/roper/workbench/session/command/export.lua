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
    require("roper.model.published.export").export(model, parsed.folder,
      { type = parsed.type, length = parsed.length })
  end,
}
