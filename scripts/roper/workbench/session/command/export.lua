--- `roper export`: writes the model of a run in Hugging Face's layout, or as a module of PyTorch.
local arguments = require "roper.workbench.session.command.arguments"

return {
  summary = "Write the model of a run in Hugging Face's layout, or for PyTorch.",
  define = function(command)
    arguments.define_run(command)
    command:argument("folder"):argname("FOLDER"):description("A new or empty folder for "
      .. "config.json, model.safetensors and, with --pytorch, model.py.")
    command:flag("--pytorch"):description("Write a module of PyTorch, with any position scheme; "
      .. "python FOLDER/model.py --check compares it with roper.")
    arguments.define_options(command, "ExportOptions", { "type", "length" })
  end,
  run = function(parsed)
    if parsed.pytorch and (parsed.type or parsed.length) then
      error("export: --type and --length are options of Hugging Face's layout; leave them out with "
        .. "--pytorch", 0)
    end
    local model, task = arguments.model(parsed)
    if parsed.pytorch then
      require("roper.model.pytorch").export_pytorch(model, parsed.folder,
        { tokens = task:vocabulary() })
      return
    end
    local is_published = require("roper.model.published.files").has_model(parsed.run)
    require("roper.model.published.export").export(model, parsed.folder, { type = parsed.type,
      length = parsed.length, like = is_published and parsed.run
        or require("roper.workbench.study.run.language").published(parsed.run) })
  end,
}
