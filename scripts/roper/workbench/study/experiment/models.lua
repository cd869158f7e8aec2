--- The field `model` of experiments: Transformer, or a class of your own.
local core = require "roper.core"
local modules = require "roper.model.module"
local scoped = require "roper.base.scoped"
local tables = require "roper.base.tables"
local traverse = require "roper.model.traverse"

local M = {}

--- The value of the field for roper's own model.
M.DEFAULT = "Transformer"

--- Returns the names that the field takes.
---@return string[] names
function M.names()
  return tables.joined({ M.DEFAULT }, tables.map(modules.class_names(), function(name)
    return name ~= M.DEFAULT and name or nil
  end))
end

--- Returns the name of a class in a configuration that is not defined.
---@param config table
---@return string? name nil if it is defined
function M.missing(config)
  local name = config.model or M.DEFAULT
  return not tables.set(M.names())[name] and tostring(name) or nil
end

-- Raises an error unless a model maps tokens to logits of its vocabulary.
local function check(name, model, options)
  local function fail(expected, got)
    error(("model %s: expected %s, got %s"):format(name, expected, got), 0)
  end
  if not traverse.is_module(model) then
    fail("a module", type(model))
  elseif #model:parameters() == 0 then
    fail("parameters to train", "none")
  end
  local before = { core.random_state() }
  local logits = scoped.finally(function()
    return scoped.without_training(model, function()
      return modules.logits(model, core.zeros({ 1, 2 }, "int32"))
    end)
  end, function() core.random_state(table.unpack(before)) end)
  if logits:size(3) ~= options.vocabulary then
    fail(("logits of %d tokens, the vocabulary of the task"):format(options.vocabulary),
      tostring(logits:size(3)))
  end
end

--- Creates the model of a configuration. A class of your own gets the number of tokens as
--- `vocabulary`, and its model is checked with two tokens.
---
--- Errors: the class is not defined, or has the name of roper's own; its model does not map tokens
--- to logits.
---@param config table
---@param options table of Transformer
---@return Module model
function M.create(config, options)
  local name = config.model or M.DEFAULT
  if name == M.DEFAULT then
    if tables.set(modules.class_names())[name] then
      error(("model %s: a class of your own has the name of roper's; give it another name"):format(
        name), 0)
    end
    return require("roper.model").Transformer(options)
  end
  local class = not M.missing(config) and modules.find_class(name) or error(
    ("model %s: define this class first (roper.nn.class), in a file for --load"):format(name), 0)
  local given, tokens = tables.merged(options), options.vocabulary
  given.vocabulary = type(tokens) == "table" and #tokens or tokens
  local model = class(given)
  check(name, model, given)
  return model
end

return M
