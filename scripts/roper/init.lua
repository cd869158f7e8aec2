--- roper: a workbench for rotary position encodings.
--- `require "roper"` returns one table: the functions of the C core (tensors, operations,
--- attention, tasks) and the Lua modules, each loaded on first use.
local arity = require "roper.options.arity"
local core = require "roper.core"

local M = {}

M.version = require "roper.base.version"

local attention = require "roper.attention"
M.position = arity.limit(require "roper.position")
arity.limit(attention)
M.attention = attention.attention
M.attention_weights = attention.attention_weights
M.linear_attention = attention.linear_attention

-- Loaded on first use, since it requires roper.model, which requires roper.position.
setmetatable(M.position, {
  __names = function()
    return { "check" }
  end,
  __index = function(position, name)
    if name == "check" then
      position.check = arity.limit(require "roper.model.battery").check
      return position.check
    end
  end,
})

--- Reference implementations of attention in float64: slow, to check the fast ones.
M.oracle = arity.limit(attention.oracle)

--- Attention in plain Lua, easy to read and to change.
M.eager = { attention = arity.limit(require "roper.attention.eager").attention }

-- Modules loaded on first use, to keep the start of short scripts fast.
local lazy = {
  checkpoint = "roper.model.checkpoint",
  evaluate = "roper.training.evaluation",
  experiment = "roper.workbench.study.experiment",
  format = "roper.text.format",
  interpret = "roper.interpret",
  nn = "roper.model",
  optim = "roper.training.optim",
  plot = "roper.workbench.plot",
  runs = "roper.workbench.study.run.runs",
  statistics = "roper.tensor.statistics",
  sweep = "roper.workbench.study.sweep",
  tasks = "roper.tasks",
}
-- Functions loaded on first use, with their modules.
local functions = {
  generate = { "roper.model.generate", "generate" },
  gradcheck = { "roper.tensor.gradcheck", "gradcheck" },
  identity = { "roper.identity", "identity" },
  lesson = { "roper.workbench.lesson", "lesson" },
  train = { "roper.training", "train" },
  ranks = { "roper.training.ranks", "ranks" },
  info = { "roper.system.info", "info" },
  help = { "roper.workbench.help", "help" },
  apropos = { "roper.workbench.help", "apropos" },
  debug = { "roper.text.diagnostics", "debug" },
  print_options = { "roper.text.format.options", "print_options" },
  einsum = { "roper.tensor.operations.einsum", "einsum" },
  matmul_precision = { "roper.tensor.precision", "matmul_precision" },
  ones_like = { "roper.tensor.create", "ones_like" },
  stack = { "roper.tensor.create", "stack" },
  zeros_like = { "roper.tensor.create", "zeros_like" },
  export = { "roper.model.published.export", "export" },
  export_attention = { "roper.model.pytorch.attention", "export_attention" },
  export_pytorch = { "roper.model.pytorch", "export_pytorch" },
  import = { "roper.model.published", "import" },
  load = { "roper.model.checkpoint", "load" },
  save = { "roper.model.checkpoint", "save" },
}

-- Functions of roper.native that are not public.
local internal = { "^attention_sums$", "^character_width$", "^corpus_", "^create_file$",
  "^flush_file$", "^folder_names$", "^gradient_sum$", "^hash$", "^hint$", "^interrupt", "^json_",
  "^lock$", "^machine$", "^memory_fail_after$", "^nearest$", "^options$", "^oracle_",
  "^output_kept$", "^pattern$", "^prepare_readline$", "^random_below$", "^random_permuted$",
  "^ranks_", "^shape_metatable$", "^tensor_metatable$", "^terminal_size$", "^write_file$" }

local function is_internal(name)
  for _, pattern in ipairs(internal) do
    if name:find(pattern) then
      return true
    end
  end
  return false
end

for name, value in pairs(core) do
  if not functions[name] and not lazy[name] and not is_internal(name) and M[name] == nil then
    M[name] = value
  end
end

for name, operation in pairs(arity.limit(require "roper.tensor.operations")) do
  M[name], core.tensor_metatable.methods[name] = operation, operation
end

-- All public names, loaded or not.
local function names()
  local list = {}
  for _, group in ipairs { M, lazy, functions } do
    for name in pairs(group) do
      list[#list + 1] = name
    end
  end
  return list
end

setmetatable(M, {
  __names = names,
  __tostring = function()
    return ("roper %s; roper.<Tab> lists its names, ?roper describes them"):format(M.version)
  end,
  __index = function(_, name)
    local value
    if lazy[name] then
      value = arity.limit(require(lazy[name]))
    elseif functions[name] then
      local module, key = table.unpack(functions[name])
      arity.limit_one(require(module), key)
      value = require(module)[key]
    else
      error(("roper has no field %q"):format(tostring(name))
        .. require("roper.base.suggest").hint(tostring(name), names()), 2)
    end
    M[name] = value
    return value
  end,
})

setmetatable(core.tensor_metatable.methods, {
  __index = function(methods, name)
    local known = { "grad" }
    for method in next, methods do
      known[#known + 1] = method
    end
    error(("a tensor has no field %q"):format(tostring(name))
      .. require("roper.base.suggest").hint(tostring(name), known), 3)
  end,
})

require "roper.tensor.sizes"

core.tensor_metatable.__tostring = function(tensor)
  return require("roper.text.format").tensor(tensor)
end

require("roper.base.public").root = M

return M
