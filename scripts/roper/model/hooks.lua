--- `Module:with_hooks`: functions that see and may replace the outputs of modules.
local arguments = require "roper.options.arguments"
local hooks = require "roper.attention.hooks"
local Module = require("roper.model.module").Module
local options_of = require "roper.options.rows"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

-- The modules of a model by their names in a trace: that of the model itself is its class.
local function by_name(model)
  local found = {}
  for _, entry in ipairs(model:named_modules()) do
    local name = entry.module == model and getmetatable(model).name or entry.name
    found[name] = found[name] ~= model and found[name] or entry.module
  end
  return found
end

--- Raises an error if a module of a model has a hook.
---@param model Module
---@param name string of the function that the hooks prevent
function M.refuse(model, name)
  for _, entry in ipairs(hooks.outputs and model:named_modules() or {}) do
    if hooks.outputs[entry.module] then
      error(("%s: expected a model without hooks, got one on %s; a file would not contain it: save "
        .. "outside of with_hooks"):format(name, entry.name ~= "" and entry.name
        or getmetatable(model).name), 0)
    end
  end
end

--- Calls f with hooks on the outputs of modules, and removes the hooks afterwards, also after an
--- error.
---
--- Each time a module is called, its hook is called with its output and may return a replacement of
--- the same dtype and shape; if it returns nil, the output stays. If a module returns several
--- values, the hook gets the first. Gradients flow through a replacement. While a hook runs, hooks
--- and traces are off, so a hook may call its module. Hooks of an inner `with_hooks` run after
--- those of the outer one. `trace` records replaced outputs. A model with hooks cannot be saved,
--- because the file would not contain them.
---
--- Errors: no module has this name; a replacement of another dtype or shape; saving the model.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > tokens = roper.tensor({{0, 3, 1}}, "int32")
---     > hooks = {["layers.2.attention"] = function(output) return 0 * output end}
---     > without = model:with_hooks(hooks, model, tokens)
---     > model:with_hooks(hooks, function()
---     >>   return model:trace(tokens)["layers.2.attention"]:abs():max():item()
---     >> end)
---     0.0
---@param list table<string, function> a function (output, module, ...) for each name of a module,
---   as in `Module:named_modules`; "..." are the arguments of the module; the name of the model
---   itself is its class
---@param f function or a module
---@param ... any arguments of f
---@return any ... the results of f
function Module:with_hooks(list, f, ...)
  arguments.check("with_hooks", "list", "table", list, "f", "callable", f)
  local modules = by_name(self)
  local outputs = tables.merged(hooks.outputs)
  for name, hook in pairs(list) do
    local module = modules[name]
    if not module then
      error(("with_hooks: list: expected the name of a module, got %s%s"):format(
        options_of.shown(name),
        suggest.hint(tostring(name), tables.keys(modules), "the model has")), 2)
    end
    arguments.check("with_hooks", name, "callable", hook)
    outputs[module] = table.move(outputs[module] or {}, 1, #(outputs[module] or {}), 1, {})
    table.insert(outputs[module], hook)
  end
  local given = table.pack(...)
  return hooks.scoped(hooks.current, outputs, function()
    return f(table.unpack(given, 1, given.n))
  end)
end

return M
