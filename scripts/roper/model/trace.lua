--- `Module:trace`: records the results of all parts of a model during a forward pass.
local format = require "roper.text.format"
local scoped = require "roper.base.scoped"
local hooks = require "roper.attention.hooks"
local Module = require("roper.model.module").Module

local M = {}

---@class TraceVisitor
---@field output? fun(name: string, results: table) called with the packed results of each part
---@field attention? fun(path: string, mark: string, call: AttentionCall) called for each attention:
---   its weights have the name path .. "weights" .. mark in a trace

--- Calls a module, without dropout and gradients, and shows the visitor each part of the pass.
---@param module Module
---@param visitor TraceVisitor
---@param ... any arguments of the module
---@return any ... its results
function M.visit(module, visitor, ...)
  local given, names, counts = table.pack(...), {}, {}
  for _, entry in ipairs(module:named_modules()) do
    names[entry.module] = entry.name
  end
  names[module] = nil
  local function numbered(name)
    counts[name] = (counts[name] or 0) + 1
    return counts[name] == 1 and name or ("%s#%d"):format(name, counts[name])
  end
  local function watcher_of(path) -- of calls inside the part with this path
    local watcher = {}
    function watcher.call(part, ...)
      local name = names[part] or path .. getmetatable(part).name
      local key, arguments = numbered(name), table.pack(...)
      local results = table.pack(hooks.watched(watcher_of(name .. "."), function()
        return hooks.forward(part, table.unpack(arguments, 1, arguments.n))
      end))
      if visitor.output then
        visitor.output(key, results)
      end
      return table.unpack(results, 1, results.n)
    end
    watcher.attention = visitor.attention and function(call)
      visitor.attention(path, numbered(path .. "weights"):sub(#path + #"weights" + 1), call)
    end
    return watcher
  end
  return scoped.without_training(module, function()
    return hooks.watched(watcher_of "", function()
      return module(table.unpack(given, 1, given.n))
    end)
  end)
end

-- Copies tensors, which may be changed in place later.
local function kept(value)
  return format.is_tensor(value) and value:clone() or value
end

--- Calls the module, without dropout and gradients, and returns the result of each of its parts by
--- name.
---
--- The output of `model.layers[1].attention` has the name "layers.1.attention"; its attention
--- weights, [batch, heads, queries, keys], have the name "layers.1.attention.weights", and its
--- scores before the softmax, -inf for keys that are not seen, "layers.1.attention.scores". The
--- output of the traced module has the name of its class. A module that is not in any field has the
--- name of its caller and its class, joined by a dot. Further results of the same name get "#2",
--- "#3", ... appended.
---
--- Errors: as for calling the module.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > tokens = roper.tensor({{0, 3, 1}}, "int32")
---     > trace = model:trace(tokens)
---     > trace["layers.2.attention.weights"]:shape()
---     {1, 2, 3, 3}
---     > trace["layers.2.attention.scores"][{1, 1, 2, 3}] -- of a later key
---     -inf (float32)
---     > trace.Transformer:shape()
---     {1, 3, 4}
---@param ... any arguments of the module
---@return table<string, any> trace a tensor for each part, or a list if a part returns several
---   values
function Module:trace(...)
  local trace = {}
  M.visit(self, {
    output = function(name, results)
      local values = {}
      for i = 1, results.n do
        values[i] = kept(results[i])
      end
      trace[name] = results.n == 1 and values[1] or values
    end,
    attention = function(path, mark, call)
      trace[path .. "weights" .. mark] = kept(call.weights)
      trace[path .. "scores" .. mark] = call.scores()
    end,
  }, ...)
  return trace
end

return M
