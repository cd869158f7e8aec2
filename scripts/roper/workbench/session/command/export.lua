--- `roper export`: writes the model of a run in Hugging Face's layout.
local arguments = require "roper.workbench.session.command.arguments"

return {
  summary = "Write the model of a run in Hugging Face's layout.",
  define = function(command)
    arguments.define_run(command)
    command:argument("folder"):argname("FOLDER"):description("A new or empty folder for "
      .. "config.json and model.safetensors.")
    command:option("--type"):choices { "llama", "qwen2", "mistral", "gpt_neox", "gpt2" }
      :description "model_type of config.json; by default the first that fits."
    command:option("--length"):argname("N"):convert(arguments.number("--length", "size"))
      :description("max_position_embeddings; by default the option length of the model, for a run "
        .. "its longest sequence, or 2048.")
  end,
  run = function(parsed)
    local model = arguments.model(parsed)
    require("roper.model.published.export").export(model, parsed.folder,
      { type = parsed.type, length = parsed.length })
  end,
}
