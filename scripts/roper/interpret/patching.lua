--- Activation patching: which activations of a run on one input restore its result in a run on
--- another.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local format = require "roper.text.format"
local modules = require "roper.model.module"
local options_of = require "roper.options.rows"
local record = require "roper.interpret.record"
local scoped = require "roper.base.scoped"
local tables = require "roper.base.tables"

local M = {}

local PATCH <const> = options_of.define("PatchOptions", {
  parent = "InterpretOptions",
  { "at", "table?", nil, "indices of the tokens to patch, from 1; by default all",
    type = "integer[]" },
})

-- Raises an error unless both inputs have the same shape.
local function check_inputs(name, clean, corrupted)
  if format.summary(clean) ~= format.summary(corrupted) or clean:rank() ~= 2
    or clean:count() == 0 then
    error(("%s: expected two inputs of tokens [batch, time], got %s and %s"):format(name,
      format.summary(clean), format.summary(corrupted)), 3)
  end
end

-- A tensor [1, time, 1] that is 1 at the given tokens.
local function mask_of(name, at, time)
  local list = {}
  for i = 1, time do
    list[i] = at and 0 or 1
  end
  for i, index in ipairs(at or {}) do
    if math.type(index) ~= "integer" or not list[index] then
      error(("%s: at: expected integers from 1 to %d, got %s as element %d"):format(name, time,
        options_of.shown(index), i), 0)
    end
    list[index] = 1
  end
  return core.tensor(list, "int32"):view { 1, time, 1 }
end

-- The hook for a part: the name of its module, and a function from the module's output and its
-- input to the activation, one from a patched activation to a new output, and the mask.
local function place_of(name, model, part, mask)
  if type(part) == "string" then
    return { name = part, activation = function(output) return output end,
      output = function(_, activation) return activation end, mask = mask }
  end
  local attentions = record.multi_head(name, model)
  local layer, head = table.unpack(type(part) == "table" and part or {})
  local attention = attentions[layer]
  if not attention or math.type(head) ~= "integer" or head < 1 or head > attention.heads then
    error(("%s: parts: expected names of modules or {layer, head}, got %s"):format(name,
      type(part) == "table" and ("{%s, %s}"):format(options_of.shown(layer),
        options_of.shown(head)) or options_of.shown(part)), 0)
  end
  local width = attention.module.output.weight:size(2) // attention.heads
  local of_head = core.arange(0, width * attention.heads, 1, "float64")
  of_head = (of_head / width):floor():eq(head - 1):view { 1, 1, width * attention.heads }
  return { name = attention.name, activation = function(_, x) return x end,
    output = function(module, x) return module(x) end, mask = mask * of_head }
end

-- The places of parts, by the name of their modules.
local function places_of(name, model, parts, mask)
  local by_name = {}
  for _, part in ipairs(parts) do
    local place = place_of(name, model, part, mask)
    local other = by_name[place.name]
    if other then
      place.mask = core.maximum(place.mask:ne(0), other.mask:ne(0))
    end
    by_name[place.name] = place
  end
  if next(by_name) == nil then
    error(name .. ": parts: expected names of modules or {layer, head}, got none", 0)
  end
  return by_name
end

-- Runs a model with a hook for each place; returns its logits.
local function run(model, places, hook_of, tokens, positions)
  local hooks = {}
  for name, place in pairs(places) do
    hooks[name] = hook_of(name, place)
  end
  return model:with_hooks(hooks, modules.logits, model, tokens, nil, positions)
end

-- Runs a model; returns its logits, and the activations at places for each call.
local function activations_of(model, places, tokens, positions)
  local saved = {}
  return run(model, places, function(name, place)
    saved[name] = {}
    return function(output, _, x)
      table.insert(saved[name], place.activation(output, x))
    end
  end, tokens, positions), saved
end

-- Runs a model with saved activations in place of its own; returns its logits.
local function patched(caller, model, places, saved, tokens, positions)
  local calls = {}
  local logits = run(model, places, function(name, place)
    calls[name] = 0
    return function(output, module, x)
      calls[name] = calls[name] + 1
      local own, clean = place.activation(output, x), saved[name][calls[name]]
      return place.output(module, clean and core.where(place.mask, clean, own) or own)
    end
  end, tokens, positions)
  for name, count in pairs(calls) do
    if count == 0 then
      error(("%s: expected the model to call %s, it did not"):format(caller, name), 0)
    end
  end
  return logits
end

--- Returns the logits of a run in which the activations of some parts are those of a run on another
--- input (activation patching; Meng et al. 2022, Wang et al. 2022).
---
--- Errors: inputs of different shapes; a part or a token that does not exist; a part that the model
--- does not call.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > clean = roper.tensor({{0, 3, 1}}, "int32")
---     > corrupted = roper.tensor({{2, 3, 1}}, "int32")
---     > parts = {"layers.1", {2, 1}} -- the output of layer 1; layer 2, head 1
---     > logits = roper.interpret.patch(model, clean, corrupted, parts, {at = {1}})
---     > all = roper.interpret.patch(model, clean, corrupted, {"layers.3"})
---     > (all - model(clean)):abs():max():item()
---     0.0
---@param model Module maps tokens to logits
---@param clean tensor [batch, time], int32: the input of the activations
---@param corrupted tensor [batch, time], int32: the input of the patched run
---@param parts table names of modules, for their outputs, or {layer, head}, for those of heads
---@param options? PatchOptions
---@return tensor logits [batch, time, vocabulary]
function M.patch(model, clean, corrupted, parts, options)
  arguments.check("patch", "model", "module", model, "clean", "tensor", clean,
    "corrupted", "tensor", corrupted, "parts", "table", parts)
  local o = options_of.check("patch", options, PATCH)
  check_inputs("patch", clean, corrupted)
  local places = places_of("patch", model, parts, mask_of("patch", o.at, clean:size(2)))
  return scoped.without_training(model, function()
    local _, saved = activations_of(model, places, clean, o.positions)
    return patched("patch", model, places, saved, corrupted, o.positions)
  end)
end

local PARTS <const> = { "layers", "attention", "feed_forward", "heads" }

local PATCHING <const> = options_of.define("PatchingOptions", {
  parent = "InterpretOptions",
  { "parts", PARTS, "layers", "what is patched: the output of a layer, of its attention or "
    .. "feed-forward part, at one token; or the output of a head, at all tokens" },
  { "targets", "tensor?", nil, "[batch], the token after each input; by default the most likely "
    .. "one of the clean run" },
})

-- The mean log-probability of the targets after the last token.
local function score(logits, targets)
  local last = logits:narrow(2, logits:size(2), 1):squeeze(2)
  return -core.cross_entropy(last, targets):item()
end

-- The parts to patch, in rows: lists of {part, at}.
local function grid(model, kind, time)
  local rows = {}
  if kind == "heads" then
    for layer, attention in ipairs(record.multi_head("patching", model)) do
      rows[layer] = {}
      for head = 1, attention.heads do
        rows[layer][head] = { { layer, head } }
      end
    end
    return rows
  end
  for layer = 1, type(model.layers) == "table" and #model.layers or 0 do
    rows[layer] = {}
    for i = 1, time do
      rows[layer][i] = { ("layers.%d"):format(layer) .. (kind == "layers" and "" or "." .. kind),
        { i } }
    end
  end
  if not rows[1] then
    error("patching: expected a model with the field layers, such as a Transformer", 0)
  end
  return rows
end

--- Returns how much each activation of a clean run restores the prediction of that run in a run on
--- a corrupted input: the share of the difference of log-probabilities of the target between the
--- two runs (Meng et al. 2022; Zhang and Nanda 2024). 0: nothing is restored, 1: everything.
---
---     (log p_patched − log p_corrupted) / (log p_clean − log p_corrupted)
---
--- Errors: inputs of different shapes; two runs that predict the target with the same probability.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > clean = roper.tensor({{0, 3, 1}}, "int32")
---     > corrupted = roper.tensor({{2, 3, 1}}, "int32")
---     > roper.interpret.patching(model, clean, corrupted):shape()
---     {3, 3}
---     > roper.interpret.patching(model, clean, corrupted, {parts = "heads"}):shape()
---     {3, 2}
---@param model Module maps tokens to logits; with the fields of a Transformer
---@param clean tensor [batch, time], int32
---@param corrupted tensor [batch, time], int32
---@param options? PatchingOptions
---@return tensor restored [layers, time], or [layers, heads] with parts = "heads"; float64
function M.patching(model, clean, corrupted, options)
  arguments.check("patching", "model", "module", model, "clean", "tensor", clean,
    "corrupted", "tensor", corrupted)
  local o = options_of.check("patching", options, PATCHING)
  check_inputs("patching", clean, corrupted)
  local rows = grid(model, o.parts, clean:size(2))
  return scoped.without_training(model, function()
    local all = {}
    for _, row in ipairs(rows) do
      for _, cell in ipairs(row) do
        all[#all + 1] = cell[1]
      end
    end
    local everywhere = mask_of("patching", nil, clean:size(2))
    local logits, saved = activations_of(model, places_of("patching", model, all, everywhere),
      clean, o.positions)
    local targets = o.targets or logits:narrow(2, clean:size(2), 1):squeeze(2):argmax(2) - 1
    local before = score(modules.logits(model, corrupted, nil, o.positions), targets)
    local difference = score(logits, targets) - before
    if difference == 0 then
      error("patching: expected a target whose probability the corruption changes; it does not", 0)
    end
    local function restored(cell)
      local mask = mask_of("patching", cell[2], clean:size(2))
      local places = places_of("patching", model, { cell[1] }, mask)
      return (score(patched("patching", model, places, saved, corrupted, o.positions), targets)
        - before) / difference
    end
    return core.tensor(tables.map(rows, function(row) return tables.map(row, restored) end),
      "float64")
  end)
end

return M
