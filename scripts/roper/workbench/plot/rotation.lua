--- Arrows for the pairs of a vector, before and after a rotary scheme rotates them.
local arrows = require "roper.workbench.plot.arrows"
local color = require "roper.workbench.plot.color"
local data = require "roper.workbench.plot.data"
local format = require "roper.text.format"
local position = require "roper.position"
local schemes = require "roper.position.scheme"

local M = {}

-- Resolves a scheme and checks that it rotates pairs of `dim` features.
local function check_scheme(scheme, dim)
  if type(scheme) == "string" or type(scheme) == "table" then
    local ok, resolved = pcall(position.resolve, scheme, dim)
    if not ok then
      error(type(resolved) == "string"
        and "plot.rotation: " .. resolved:gsub("^[^ ]*:%d+: ", "") or resolved, 0)
    end
    scheme = resolved
  end
  if not schemes.is_rotary(scheme) then
    error(("plot.rotation: expected a rotary scheme, such as roper.position.rope{dim = %d}, got %s")
      :format(dim, tostring(scheme)), 0)
  elseif scheme:options().dim ~= dim then
    error(("plot.rotation: expected a vector of %d features for the scheme, got %d"):format(
      scheme:options().dim, dim), 0)
  end
  return scheme
end

-- Returns the pairs to draw: those in the options; by default the first ones, one for each colour.
local function check_pairs(asked, count)
  local list = {}
  for i, pair in ipairs(asked or {}) do
    if math.type(pair) ~= "integer" or pair < 1 or pair > count then
      error(("plot.rotation: pairs: expected integers from 1 to %d, got %s as element %d"):format(
        count, tostring(pair), i), 0)
    end
    list[i] = pair
  end
  if #list == 0 then
    for pair = 1, math.min(count, #color.SERIES) do
      list[pair] = pair
    end
  end
  return list
end

--- Returns the series of `plot.rotation`.
---@param value any the vector
---@param place number the position
---@param asked integer[]? pairs
---@return table[] series
---@return number reach the length of the longest arrow
---@return string? note names the pairs that are drawn, if these are not all
function M.series(value, scheme, place, asked)
  if format.is_tensor(value) and value:rank() > 1 then
    error(("plot.rotation: expected a vector [features], got shape [%s]; index it down to one, "
      .. "such as x[1][1]"):format(table.concat(value:shape(), ", ")), 0)
  end
  local vector = data.series("plot.rotation", value)[1]
  if not vector or #vector.y == 0 then
    error("plot.rotation: expected a vector [features], got an empty one", 0)
  end
  local before = vector.y
  scheme = check_scheme(scheme, #before)
  local after = scheme:rotate(require("roper.core").tensor(before, "float64"), place):totable()
  local thetas = scheme:thetas():totable()
  local is_half = scheme:options().pairing == "half"
  local list, reach = {}, 0
  for i, pair in ipairs(check_pairs(asked, #thetas)) do
    local a = is_half and pair or 2 * pair - 1
    local b = is_half and pair + #thetas or 2 * pair
    local x1, y1, x2, y2 = before[a], before[b], after[a], after[b]
    local xs, ys = arrows.arc(x1, y1, x2, y2, math.fmod(thetas[pair] * place, 2 * math.pi))
    if x1 + y1 + x2 + y2 ~= x1 + y1 + x2 + y2 then
      error(("plot.rotation: expected finite numbers in pair %d, got nan"):format(pair), 0)
    end
    reach = math.max(reach, (x1 ^ 2 + y1 ^ 2) ^ 0.5, (x2 ^ 2 + y2 ^ 2) ^ 0.5)
    list[#list + 1] = { index = i, x = xs, y = ys, thin = true }
    list[#list + 1] = { index = i, x = { 0, x1 }, y = { 0, y1 }, style = "arrow", dashed = true }
    list[#list + 1] = { index = i, x = { 0, x2 }, y = { 0, y2 }, style = "arrow",
      label = ("pair %d, θ = %.3g"):format(pair, thetas[pair]) }
  end
  local drawn = #list // 3
  return list, reach, drawn < #thetas and not asked
    and ("pairs 1 to %d of %d; pairs = {...} selects others"):format(drawn, #thetas) or nil
end

return M
