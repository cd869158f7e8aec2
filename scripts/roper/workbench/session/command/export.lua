--- `roper export`: writes the model of a run in Hugging Face's layout or as a module of PyTorch, or
--- attention with a position scheme as a file of PyTorch.
local arguments = require "roper.workbench.session.command.arguments"

local LAYOUT <const> = { "type", "length" } -- options of Hugging Face's layout
local ATTENTION <const> = { "heads", "dim", "d_model" } -- options of --scheme

-- Raises an error if one of the options is given.
local function refuse(parsed, names, advice)
  for _, name in ipairs(names) do
    if parsed[name] then
      error(("export: --%s is an option %s"):format(name:gsub("all_", "all-"), advice), 0)
    end
  end
end

-- Writes attention with a position scheme.
local function export_attention(parsed)
  if parsed.folder or not parsed.run then
    error("export: --scheme: expected one name, that of the file to write, such as "
      .. "attention.py", 0)
  end
  refuse(parsed, { "pytorch", table.unpack(LAYOUT) }, "for the model of a run; leave it out with "
    .. "--scheme")
  require("roper.model.pytorch.attention").export_attention(parsed.scheme, parsed.run,
    { heads = parsed.heads, dim = parsed.dim, d_model = parsed.d_model,
      causal = not parsed.all_keys })
end

-- Writes the model of a run.
local function export_model(parsed)
  if not parsed.folder then
    error("export: expected RUN and FOLDER, or --scheme SCHEME FILE.py", 0)
  end
  refuse(parsed, { "all_keys", table.unpack(ATTENTION) }, "for attention alone; add --scheme "
    .. "SCHEME")
  if parsed.pytorch then
    refuse(parsed, LAYOUT, "of Hugging Face's layout; leave it out with --pytorch")
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
end

return {
  summary = "Write the model of a run in Hugging Face's layout, or for PyTorch.",
  define = function(command)
    arguments.define_run(command, true)
    command:argument("folder"):argname("FOLDER"):args("?"):description("A new or empty folder for "
      .. "config.json, model.safetensors and, with --pytorch, model.py.")
    command:flag("--pytorch"):description("Write a module of PyTorch, with any position scheme; "
      .. "python FOLDER/model.py --check compares it with roper.")
    arguments.define_options(command, "ExportOptions", { { LAYOUT[1], "TYPE" }, LAYOUT[2] })
    command:option("--scheme"):argname("SCHEME"):description("Write attention with this position "
      .. "scheme, such as 'roper{base=500000}', to a new file of PyTorch: roper export --scheme "
      .. "SCHEME FILE.py.")
    arguments.define_options(command, "ExportAttentionOptions", ATTENTION)
    command:flag("--all-keys"):target("all_keys"):description("Attention with --scheme is not "
      .. "causal: a query also sees later keys.")
  end,
  run = function(parsed)
    if parsed.scheme then
      export_attention(parsed)
    else
      export_model(parsed)
    end
  end,
}
