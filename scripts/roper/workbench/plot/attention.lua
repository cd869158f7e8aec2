--- Heatmaps of attention weights, by key or by distance.
local core = require "roper.core"
local data = require "roper.workbench.plot.data"
local text = require "roper.workbench.plot.text"

local M = {}

-- Returns the positions first, first + 1, ... as a row or a column.
local function positions(first, count, is_column)
  local list = core.arange(first, first + count, 1, "int32")
  return list:view(is_column and { count, 1 } or { 1, count })
end

-- Returns the weights with a column for each distance from the query, beginning at `nearest`; nan
-- if there is no key at a distance.
local function by_distance(weights, first_query, nearest)
  local queries, keys = weights:size(1), weights:size(2)
  local key = positions(first_query, queries, true) - positions(nearest, keys - nearest)
  local index = core.minimum(core.maximum(key, 0), keys - 1)
  local is_key = key:eq(index)
  return core.where(is_key, core.gather(weights, 2, index + 1), 0 / 0)
end

-- Returns labels for the tokens; a string is split into characters.
local function labels(tokens, count)
  if type(tokens) == "string" then
    local characters = {}
    local pattern = utf8.len(tokens) and utf8.charpattern or "."
    for character in tokens:gmatch(pattern) do
      characters[#characters + 1] = character
    end
    tokens = characters
  end
  return data.texts("plot.attention: tokens", tokens, count, text.token)
end

--- Returns the figure of `plot.attention`.
---@param value any the weights
---@param o table the options
---@return table figure with matrix, rows, columns, first_row, first_column, gap
function M.figure(value, o)
  local weights = data.matrix("plot.attention", value)
  local queries, keys = weights:size(1), weights:size(2)
  local first_query = keys - queries -- the last query has the position of the last key
  if first_query < 0 then
    error(("plot.attention: expected no more queries than keys, got [%d, %d]"):format(queries,
      keys), 0)
  end
  local is_future = positions(0, keys):gt(positions(first_query, queries, true))
  local is_causal = o.causal
  if is_causal == nil then
    is_causal = core.where(is_future, weights, 0):abs():max():item() == 0
  end
  if is_causal then
    weights = core.where(is_future, 0 / 0, weights)
  end
  local tokens = labels(o.tokens, keys)
  local figure = {
    rows = tokens and table.move(tokens, first_query + 1, keys, 1, {}),
    columns = tokens,
    first_row = first_query,
    first_column = 0,
    gap = "no key",
    from_zero = true,
  }
  if o.distance then
    figure.first_column = is_causal and 0 or 1 - queries
    figure.columns = nil
    weights = by_distance(weights, first_query, figure.first_column)
  end
  figure.matrix = weights
  return figure
end

return M
