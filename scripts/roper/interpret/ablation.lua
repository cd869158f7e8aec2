--- Ablation of heads: what changes in a model without some of its attention heads.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local format = require "roper.text.format"
local modules = require "roper.model.module"
local options_of = require "roper.options.rows"
local record = require "roper.interpret.record"
local scoped = require "roper.base.scoped"
local tables = require "roper.base.tables"

local M = {}

local BY <const> = { "zero", "mean" }

-- Raises an error unless `given` is a list of {layer, head}.
local function check_heads(name, attentions, given)
  for i, entry in ipairs(given) do
    local layer, head = table.unpack(type(entry) == "table" and entry or {})
    local attention = attentions[layer]
    if not attention or math.type(head) ~= "integer" or head < 1 or head > attention.heads then
      local counts = table.concat(tables.map(attentions, function(one) return one.heads end), ", ")
      error(("%s: heads: expected {layer, head} with layers of %s heads, got %s as element %d")
        :format(name, counts, type(entry) == "table" and ("{%s, %s}"):format(
          options_of.shown(layer), options_of.shown(head)) or options_of.shown(entry), i), 0)
    end
  end
  if given[1] == nil then
    error(name .. ": heads: expected a list of {layer, head}, got none", 0)
  end
end

-- A hook on the map after attention that replaces the outputs of some heads before it.
local function hook_of(count, is_ablated, by)
  return function(_, output, x)
    local width = x:size(3) // count
    local kept = {}
    for head = 1, count do
      kept[head] = is_ablated[head] and 0 or 1
    end
    kept = core.tensor(kept, "int32"):view { count, 1 }:expand { count, width }
    local instead = 0
    if by == "mean" then
      if x:size(1) < 2 then
        error(("ablation by mean: expected a batch of at least 2 rows, got %d"):format(x:size(1)),
          0)
      end
      instead = x:mean(1, true)
    end
    return output(core.where(kept:contiguous():view { count * width }, x, instead))
  end
end

--- Returns hooks for `Module:with_hooks` that ablate heads: in the input of the map
--- `attention.output`, they replace the output of these heads by 0 ("zero", as if the weights of
--- the map were 0 there), or by its mean over the batch at each token ("mean", Wang et al. 2022).
--- They work for every position scheme: with RoPER, the output of a head is that after the rotation
--- back.
---
--- Errors: a head that does not exist; when used with "mean", a batch of one row.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > tokens = roper.tensor({{0, 3, 1}}, "int32")
---     > hooks = roper.interpret.ablation_hooks(model, {{1, 2}, {2, 1}})  -- {layer, head}
---     > without = model:with_hooks(hooks, model, tokens)
---     > (without - model(tokens)):abs():max():item() > 0
---     true
---@param model Module with MultiHeadAttention
---@param heads integer[][] a list of {layer, head}, both from 1
---@param by? "zero"|"mean" = "zero"
---@return table<string, function> hooks
function M.ablation_hooks(model, heads, by)
  arguments.check("ablation_hooks", "model", "module", model, "heads", "table", heads)
  local refusal = by ~= nil and options_of.refusal(BY, by)
  if refusal then
    error("ablation_hooks: by: " .. refusal, 2)
  end
  local attentions = record.multi_head("ablation_hooks", model)
  check_heads("ablation_hooks", attentions, heads)
  local ablated, hooks = {}, {}
  for _, entry in ipairs(heads) do
    local layer, head = entry[1], entry[2]
    ablated[layer] = ablated[layer] or {}
    ablated[layer][head] = true
    hooks[attentions[layer].name] = hook_of(attentions[layer].heads, ablated[layer], by or "zero")
  end
  return hooks
end

local ABLATION <const> = options_of.define("AblationOptions", {
  parent = "InterpretOptions",
  { "by", BY, "zero", "what replaces the output of a head: 0, or its mean over the batch" },
  { "mask", "tensor?", nil, "[batch, time], not 0 for the tokens whose prediction counts, such as "
    .. "those of answers; by default all" },
  { "targets", "tensor?", nil, "[batch, time], int32, the tokens to predict, from `task:targets`; "
    .. "by default the tokens themselves" },
})

-- Raises an error unless a mask is a tensor that selects tokens after the first.
local function check_mask(mask, tokens)
  local shape = table.concat(tokens:shape(), ", ")
  if table.concat(mask:shape(), ", ") ~= shape then
    error(("ablation: mask: expected a tensor [%s], as the tokens, got %s"):format(shape,
      modules.kind_of(mask)), 0)
  elseif mask:narrow(2, 2, mask:size(2) - 1):ne(0):sum():item() == 0 then
    error("ablation: mask: expected at least one token after the first that is not 0, found none",
      0)
  end
end

-- The mean cross-entropy of the tokens that count, given those before them.
local function loss_of(model, tokens, o)
  local last = tokens:size(2) - 1
  local positions = o.positions and o.positions:narrow(2, 1, last)
  local logits = scoped.without_training(model, function()
    return modules.logits(model, tokens:narrow(2, 1, last), nil, positions)
  end)
  local targets = (o.targets or tokens):narrow(2, 2, last)
  local loss = core.cross_entropy(logits, targets, { reduction = "none" }):to "float64"
  if not o.mask then
    return loss:mean():item()
  end
  local counted = o.mask:narrow(2, 2, last):ne(0):to "float64"
  return ((loss * counted):sum() / counted:sum()):item()
end

--- Returns by how much the loss increases if a head is ablated, for each head: the mean
--- cross-entropy of the next token, in nats, minus that of the whole model (Michel et al. 2019).
--- Layers that share a module count as one, of which a head is ablated in each call.
---
--- Errors: fewer than 2 tokens; heads of different numbers in the layers; with by = "mean", a batch
--- of one row.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > tokens = roper.tensor({{0, 3, 1}, {1, 1, 2}}, "int32")
---     > roper.interpret.ablation(model, tokens, {by = "mean"}):shape()
---     {3, 2}
---@param model Module with MultiHeadAttention; maps tokens to logits
---@param tokens tensor [batch, time], int32
---@param options? AblationOptions
---@return tensor increase [layers, heads], float64, nats per token
function M.ablation(model, tokens, options)
  arguments.check("ablation", "model", "module", model, "tokens", "tensor", tokens)
  local o = options_of.check("ablation", options, ABLATION)
  if tokens:rank() ~= 2 or tokens:size(1) == 0 or tokens:size(2) < 2 then
    error("ablation: expected tokens [batch, time] with at least 2 tokens, got "
      .. modules.kind_of(tokens), 2)
  elseif o.mask ~= nil then
    check_mask(o.mask, tokens)
  end
  if o.positions ~= nil and (not format.is_tensor(o.positions) or o.positions:rank() < 2) then
    error("ablation: option positions: expected a tensor [batch, time], got "
      .. modules.kind_of(o.positions), 2)
  end
  if o.targets ~= nil and format.summary(o.targets) ~= format.summary(tokens) then
    error(("ablation: targets: expected a tensor as the tokens, %s, got %s"):format(
      modules.kind_of(tokens), modules.kind_of(o.targets)), 2)
  end
  local loss, rows = loss_of(model, tokens, o), {}
  for layer, attention in ipairs(record.multi_head("ablation", model)) do
    rows[layer] = {}
    for head = 1, attention.heads do
      local hooks, called = M.ablation_hooks(model, { { layer, head } }, o.by), false
      local hook = hooks[attention.name]
      hooks[attention.name] = function(...)
        called = true
        return hook(...)
      end
      rows[layer][head] = model:with_hooks(hooks, loss_of, model, tokens, o) - loss
      if not called then
        error(("ablation: expected the model to call %s, it did not"):format(attention.name), 0)
      end
    end
    if attention.heads ~= #rows[1] then
      error(("ablation: expected layers with the same number of heads, got %d and %d"):format(
        #rows[1], attention.heads), 0)
    end
  end
  return core.tensor(rows, "float64")
end

return M
