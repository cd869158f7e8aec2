--- `Module:trace`: records the results of all parts of a model during a forward pass.
local argument = require "roper.base.arguments"
local format = require "roper.base.format"
local scoped = require "roper.base.scoped"
local hooks = require "roper.base.hooks"
local Module = require("roper.model.module").Module

-- Copies tensors, which may be changed in place later.
local function kept(value)
  return format.is_tensor(value) and value:clone() or value
end

--- Calls the module, without dropout and gradients, and returns the result of each of its parts by
--- name.
---
--- The output of `model.layers[1].attention` has the name "layers.1.attention"; its attention
--- weights, [batch, heads, queries, keys], have the name "layers.1.attention.weights". The output
--- of the traced module has the name of its class. A module that is not in any field has the name
--- of its caller and its class, joined by a dot. Further results of the same name get "#2", "#3",
--- ... appended.
---
--- Errors: as for calling the module.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > tokens = roper.tensor({{0, 3, 1}}, "int32")
---     > trace = model:trace(tokens)
---     > trace["layers.2.attention.weights"]:shape()
---     {1, 2, 3, 3}
---     > guess = model.logits(model.norm(trace["layers.1"]))       -- the logit lens
---     > guess:shape(), trace.Transformer:shape()
---     {1, 3, 4}	{1, 3, 4}
---@param ... any arguments of the module
---@return table<string, any> trace a tensor for each part, or a list if a part returns several
---   values
function Module:trace(...)
  argument.self("Module:trace", self, Module)
  local given, names, counts, trace = table.pack(...), {}, {}, {}
  for _, entry in ipairs(self:named_modules()) do
    names[entry.module] = entry.name
  end
  names[self] = nil
  local function numbered(name)
    counts[name] = (counts[name] or 0) + 1
    return counts[name] == 1 and name or ("%s#%d"):format(name, counts[name])
  end
  local function watcher_of(path) -- hooks for calls inside the part with this path
    local watcher = {}
    function watcher.call(module, ...)
      local name = names[module] or path .. getmetatable(module).name
      local key, arguments = numbered(name), table.pack(...)
      local results = table.pack(hooks.watched(watcher_of(name .. "."), function()
        return module:forward(table.unpack(arguments, 1, arguments.n))
      end))
      local values = {}
      for i = 1, results.n do
        values[i] = kept(results[i])
      end
      trace[key] = results.n == 1 and values[1] or values
      return table.unpack(results, 1, results.n)
    end
    function watcher.weights(weights)
      trace[numbered(path .. "weights")] = kept(weights)
    end
    return watcher
  end
  scoped.without_training(self, function()
    hooks.watched(watcher_of "", function()
      self(table.unpack(given, 1, given.n))
    end)
  end)
  return trace
end
