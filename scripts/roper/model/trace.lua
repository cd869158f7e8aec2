--- What the parts of a model compute, kept while it runs.
local argument = require "roper.base.arguments"
local format = require "roper.base.format"
local scoped = require "roper.base.scoped"
local hooks = require "roper.base.hooks"
local Module = require("roper.model.module").Module

-- A value that stays, whatever is done in place later.
local function kept(value)
  return format.is_tensor(value) and value:clone() or value
end

--- What each part computed on the way to the result, by its name, without dropout and gradients.
---
--- The output of `model.layers[1].attention` is at "layers.1.attention", and the weights of the
--- attention in it, [batch, heads, queries, keys], at "layers.1.attention.weights". The output of
--- the whole has the name of its class, and so, behind the name of its caller, has a module that no
--- field holds. What comes again under a name has "#2", "#3", ... behind it.
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
---@param ... any what calling the module takes
---@return table<string, any> trace a tensor, or the list of results of a part that gives several
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
  local function watcher_of(path) -- of what computes inside a part
    local watcher = {}
    function watcher.call(module, ...)
      local name = names[module] or path .. getmetatable(module).name
      local place, arguments = numbered(name), table.pack(...)
      local results = table.pack(hooks.watched(watcher_of(name .. "."), function()
        return module:forward(table.unpack(arguments, 1, arguments.n))
      end))
      local values = {}
      for i = 1, results.n do
        values[i] = kept(results[i])
      end
      trace[place] = results.n == 1 and values[1] or values
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
