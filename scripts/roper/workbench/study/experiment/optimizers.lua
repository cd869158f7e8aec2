--- The fields of an experiment that choose and set its optimizer, from their declarations.
local options_of = require "roper.options.rows"
local tables = require "roper.base.tables"
require "roper.training.optim" -- declares the optimizers
local kinds = require("roper.training.optimizer").kinds

local M = {}

--- The declaration of the optimizer of a configuration.
---@param config table
---@return OptimizerKind
function M.kind(config)
  local field = config.optimizer or kinds[1].field
  for _, kind in ipairs(kinds) do
    if kind.field == field then
      return kind
    end
  end
  error(("field optimizer: expected one of %s, got %s"):format(
    table.concat(tables.map(kinds, function(kind) return kind.field end), ", "),
    options_of.shown(field)), 0)
end

--- The field `optimizer`, and those of the options of each optimizer.
---@return Field[]
function M.fields()
  local names = tables.map(kinds, function(kind) return kind.field end)
  local list = { { "optimizer", names, false, "optimizer; with decay, adam is AdamW", names[1] } }
  for _, kind in ipairs(kinds) do
    for _, pair in ipairs(kind.fields) do
      local row = kind.rows[pair[1]]
      list[#list + 1] = { pair[2], row[2], false, kind.name .. ": " .. row[4], row[3] or nil }
    end
  end
  return list
end

--- Raises an error if a field is set that has no effect with the optimizer of a configuration.
---
--- Errors: as above.
---@param config table
function M.check(config)
  local chosen = M.kind(config)
  for _, kind in ipairs(kinds) do
    for _, pair in ipairs(kind.fields) do
      if config[pair[2]] and kind ~= chosen then
        error(("field %s: has an effect only with optimizer=%s"):format(pair[2], kind.field), 0)
      end
    end
  end
  for _, pair in ipairs(chosen.needs or {}) do
    if config[pair[1]] and not config[pair[2]] then
      error(("field %s: has an effect only with %s=..."):format(pair[1], pair[2]), 0)
    end
  end
end

return M
