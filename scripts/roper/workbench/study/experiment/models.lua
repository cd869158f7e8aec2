--- The field `model` of experiments: Transformer, or a class of your own.
local core = require "roper.core"
local modules = require "roper.model.module"
local options_of = require "roper.options.rows"
local scoped = require "roper.base.scoped"
local syntax = require "roper.position.syntax"
local tables = require "roper.base.tables"
local texts = require "roper.position.text"
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

-- The class and the text of its options in a value of the field.
local function split(value)
  return tostring(value):match "^([^{]*)(.*)$"
end

--- Returns the name of a class in a configuration that is not defined.
---@param config table
---@return string? name nil if it is defined
function M.missing(config)
  local name = split(config.model or M.DEFAULT)
  return not tables.set(M.names())[name] and name or nil
end

-- The rows of the options that a class declares in its list `takes`.
local function rows_of(name)
  local class = name ~= M.DEFAULT and modules.find_class(name)
  local takes = class and class.takes or {}
  for i, row in ipairs(type(takes) == "table" and takes or { false }) do
    local refusal = type(row) ~= "table" and "expected a row {name, kind, default, documentation}"
      or type(row[1]) ~= "string" and "expected a name as the first element of a row"
      or options_of.kind_refusal(row[2])
    if refusal then
      error(("model %s: takes: row %d: %s"):format(name, i, refusal), 0)
    elseif options_of.rows "TransformerOptions"[row[1]] then
      error(("model %s: takes: %s is a field of every experiment; rename the option"):format(name,
        row[1]), 0)
    end
  end
  return options_of.rows_of(takes)
end

-- The name of the class in a value of the field, and its options, checked.
local function parse(value)
  local list = syntax.parse(value, "field model")
  local scheme = not list[2] and not list[1][2] and list[1][1]
    or error(('field model: expected one class, such as Own or Own{times=4}, got "%s"'):format(
      value), 0)
  local rows = rows_of(scheme.type)
  if scheme.options and #rows == 0 then
    error(("field model: %s takes no options%s"):format(scheme.type, scheme.type == M.DEFAULT
      and "; those of the Transformer are fields" or ("; to declare some: %s.takes = {{\"times\", "
      .. "\"size\", 2, \"what it does\"}}"):format(scheme.type)), 0)
  end
  return scheme.type, texts.checked(scheme, rows, "field model")
end

--- Returns the canonical text of a value of the field: options sorted by name, without those that
--- have their default value.
---
--- Errors: a class that is not defined; an option that it does not declare, or of another kind.
---@param value any
---@return string text
function M.canonical(value)
  local refusal = type(value) ~= "string" and options_of.refusal("string", value)
    or M.missing { model = value } and options_of.refusal(M.names(), (split(value)))
  if refusal then
    error("field model: " .. refusal, 0)
  end
  local _, checked = parse(value)
  return syntax.text { { checked } }
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
--- `vocabulary`, and the options that it declares; its model is checked with two tokens.
---
--- Errors: the class is not defined, or has the name of roper's own; its model does not map tokens
--- to logits.
---@param config table
---@param options table of Transformer
---@return Module model
function M.create(config, options)
  local name, text = split(config.model or M.DEFAULT)
  if name == M.DEFAULT then
    if tables.set(modules.class_names())[name] then
      error(("model %s: a class of your own has the name of roper's; give it another name"):format(
        name), 0)
    end
    return require("roper.model").Transformer(options)
  end
  local class = not M.missing(config) and modules.find_class(name) or error(
    ("model %s: define this class first (roper.nn.class), in a file for --load"):format(name), 0)
  local _, checked = parse(name .. text)
  local own = options_of.check("model " .. name, checked.given, rows_of(name), 0)
  local given, tokens = tables.merged(options, own), options.vocabulary
  given.vocabulary = type(tokens) == "table" and #tokens or tokens
  local model = class(given)
  check(name, model, given)
  return model
end

return M
