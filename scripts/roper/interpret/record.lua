--- Records the attentions of a model, and finds the parts of a model by layer.
local core = require "roper.core"
local format = require "roper.text.format"
local options_of = require "roper.options.rows"
local tables = require "roper.base.tables"
local trace = require "roper.model.trace"

local M = {}

--- Options of functions that run a model.
M.OPTIONS = options_of.define("InterpretOptions", {
  { "positions", "tensor?", nil, "[batch, time], of the tokens; by default 0, 1, ...",
    type = "tensor" },
})

--- Runs a model and reduces each of its attentions to a tensor. Attentions are in the order in
--- which `named_modules` lists their modules; those of other modules follow, in the order of calls.
---
--- Errors: there are no tokens; the model computes no attention; the results have different shapes.
---@param name string of the calling function, for messages
---@param model Module
---@param tokens tensor [batch, time]
---@param positions tensor?
---@param reduce fun(call: AttentionCall, path: string): tensor
---@return tensor results [attentions, ...]
function M.attentions(name, model, tokens, positions, reduce)
  local order, list = {}, {}
  if tokens:count() == 0 then
    error(name .. ": expected at least one token, got " .. format.summary(tokens), 0)
  end
  for i, entry in ipairs(model:named_modules()) do
    order[entry.name .. "."] = i
  end
  trace.visit(model, { attention = function(path, _, call)
    list[#list + 1] = { order[path] or math.huge, #list, reduce(call, path) }
  end }, tokens:clone(), nil, positions and positions:clone())
  table.sort(list, function(a, b)
    return a[1] < b[1] or a[1] == b[1] and a[2] < b[2]
  end)
  if #list == 0 then
    error(name .. ": expected a model with attention, found none", 0)
  end
  local shape = list[1][3]:shape()
  return core.cat(tables.map(list, function(entry)
    if table.concat(entry[3]:shape(), " ") ~= table.concat(shape, " ") then
      error(("%s: expected attentions of equal shapes, got [%s] and [%s]"):format(name,
        table.concat(shape, ", "), table.concat(entry[3]:shape(), ", ")), 0)
    end
    return entry[3]:unsqueeze(1)
  end), 1)
end

--- The modules of multi-head attention, in the order of `named_modules`.
---
--- Errors: there is none.
---@param name string of the calling function, for messages
---@param model Module
---@return {name: string, module: MultiHeadAttention, heads: integer}[] list name: of the map after
---   attention
function M.multi_head(name, model)
  local list = {}
  for _, entry in ipairs(model:named_modules()) do
    local module = entry.module
    if math.type(module.heads) == "integer" and type(module.query) == "table"
      and type(module.output) == "table" then
      list[#list + 1] = { name = entry.name == "" and "output" or entry.name .. ".output",
        module = module, heads = module.heads }
    end
  end
  if #list == 0 then
    error(name .. ": expected a model with MultiHeadAttention, found none", 0)
  end
  return list
end

return M
