--- Writes attention with a position scheme as a module of PyTorch, for models of users.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local format = require "roper.text.format"
local files = require "roper.system.file"
local module_text = require "roper.model.pytorch.module"
local options_of = require "roper.options.rows"
local position = require "roper.position"
local python = require "roper.model.pytorch.python"
local reference = require "roper.model.pytorch.reference"
local schemes = require "roper.model.pytorch.schemes"
local tables = require "roper.base.tables"
local traverse = require "roper.model.traverse"

local M = {}

-- The trained tensors of a scheme, as `named_parameters` returns those of a model.
local function parameters_of(scheme)
  local list = {}
  traverse.walk({ scheme = scheme }, function(path, value)
    if format.is_tensor(value) and value:is_parameter() then
      list[#list + 1] = { name = path, tensor = value }
    end
  end)
  return list
end

-- The text of the module.
local function text_of(name, parts, classes, flags, about, dtype)
  for _, one in ipairs(parts) do
    flags.trained = flags.trained or next(one.shapes) or next(one.constants)
  end
  local values = tables.merged(module_text.values(about, dtype), {
    file = name, scheme = module_text.expression(parts), x = flags.reads_x and ", x" or "",
    x_argument = flags.reads_x and ", x" or "", x_or_none = flags.reads_x and "x" or "None" })
  local of_schemes = module_text.classes(classes, flags, #parts > 1)
  local attend = module_text.attend(flags)
  local function piece(one)
    return python.piece(one, flags, values)
  end
  return python.module(tables.joined({ piece "attention_header", piece "tensors" },
    module_text.helpers(tables.joined(of_schemes, { attend }), flags), of_schemes,
    { attend, piece "attention_alone", piece "check_scheme", piece "attention_check" }))
end

options_of.define("ExportAttentionOptions", {
  { "heads", "size", 8, "heads of queries, for schemes with trained tensors" },
  { "dim", "size", 64, "features of a head, for schemes with trained tensors" },
  { "d_model", "size?", nil, "features of the input of a layer, for schemes that compute from it",
    shown = "heads * dim" },
  { "causal", "boolean", true, "a query does not see later keys" },
})

--- Writes attention with a position scheme as a file of PyTorch, a function `attention(q, k, v,
--- positions)` for a model of your own, and the tensors of its check beside it. Its documentation
--- shows the layouts of nn.MultiheadAttention and transformers; `python FILE --check` compares it
--- with roper, and exits with 1 if it differs.
---
--- Errors: an unknown scheme; a scheme that only adds positions to embeddings; a path that does not
--- end in ".py", or exists; a scheme of a user without its text in PyTorch (`pytorch`).
---
---     > path = os.tmpname() .. ".py"
---     > roper.export_attention("roper{base=500000}", path)
---     > code = io.open(path):read "a"
---     > code:match "def attention%b()"
---     "def attention(q, k, v, positions, scheme=SCHEME)"
---@param scheme string|table|Scheme|rotary as for `roper.attention`
---@param path string a new file that ends in ".py"
---@param options? ExportAttentionOptions
function M.export_attention(scheme, path, options)
  arguments.check("export_attention", "scheme", "position", scheme, "path", "string", path)
  local o = options_of.check("export_attention", options,
    options_of.rows "ExportAttentionOptions")
  o.d_model = o.d_model or o.heads * o.dim
  local base = path:match "^(.*[^/])%.py$"
  if not base then
    error(("export_attention: path: expected the name of a new file that ends in .py, got %s")
      :format(options_of.shown(path)), 2)
  end
  for _, one in ipairs { path, base .. ".safetensors" } do
    if files.exists(one) then
      error(("export_attention: path: expected a new file, got %s, which exists"):format(one), 2)
    end
  end
  local made = position.resolve(scheme, tables.merged(o, { length = 1 })) or position.none()
  local parts = schemes.of(made, schemes.named(scheme)[1], o, parameters_of(made), "scheme.",
    o.causal)
  for _, one in ipairs(parts) do
    if one.is_stub then
      error(("export_attention: the position scheme %s has no text in PyTorch; add pytorch = "
        .. "[[...]] to its definition (?Scheme)"):format(one.name), 2)
    elseif not one.text:find "def forward" then
      error(("export_attention: the position scheme %s adds positions to embeddings, which "
        .. "attention does not have; export a model"):format(one.name), 2)
    end
  end
  local classes, flags = schemes.classes(parts, o.causal)
  local tensors, dtype = reference.attention(made, schemes.constants(parts), o, o.causal)
  if not flags.reads_x then
    tensors.x, tensors["gradient x"] = nil, nil
  end
  files.write(path, text_of(path:match "[^/]+$", parts, classes, flags, schemes.title(scheme),
    dtype))
  core.save_safetensors(base .. ".safetensors", tensors)
end

return M
