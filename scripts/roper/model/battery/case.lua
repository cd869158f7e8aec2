--- A position scheme under test: creates the scheme and its inputs, and runs attention on them.
local core = require "roper.core"
local modules = require "roper.model.module"
local position = require "roper.position"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"

local M = {}

--- A position scheme under test.
---@class BatteryCase
---@field options table that create the scheme, with `type`
---@field name string
---@field context table dim, heads, d_model and length
---@field relative boolean whether the scheme claims to be relative
---@field modes boolean[] values of `causal` with which the scheme works
local Case = {}
Case.__index = Case

M.BATCH, M.QUERIES, M.KEYS = 2, 4, 6

local Holder = modules.class "Scheme" -- a module, so its parameters are found

-- Sets the parameter with a name from `named_parameters`.
local function replace(module, name, tensor)
  local owner, field = module, nil
  for part in name:gmatch "[^.]+" do
    owner = field and owner[field] or owner
    field = math.tointeger(tonumber(part)) or part
  end
  owner[field] = tensor
end

--- Creates the case of a scheme.
---@param options table that create the scheme
---@param context table
---@return BatteryCase
function M.new(options, context)
  local about = position.describe(options)
  return setmetatable({ options = options, name = about.name, relative = about.relative,
    context = context, modes = {} }, Case)
end

-- Returns the number of coordinates of a position.
local function coordinates_of(scheme)
  local count = 1
  if schemes.is_rotary(scheme) then
    for _, number in ipairs(scheme:options().coordinates or {}) do
      count = math.max(count, number)
    end
  else
    for _, part in ipairs(scheme.parts or {}) do
      count = math.max(count, coordinates_of(part))
    end
  end
  return count
end

--- Adds random numbers to all parameters of a module and converts them to a dtype. Parameters that
--- are 0 initially would hide errors.
---@param module Module
---@param dtype string
---@return Module module
function M.stir(module, dtype)
  for _, entry in ipairs(module:named_parameters()) do
    local x = entry.tensor:detach()
    replace(module, entry.name, (x + core.rand(x:shape()) * 0.25):to(dtype):parameter())
  end
  return module
end

--- Creates the scheme, in a module `{position = scheme}`.
---@param dtype? string = "float64"; of its parameters
---@return Module holder
---@return integer coordinates
function Case:make(dtype)
  core.seed(1)
  local scheme = position.resolve(self.options, self.context)
  return M.stir(setmetatable({ position = scheme }, Holder), dtype or "float64"),
    coordinates_of(scheme)
end

--- Returns random queries, keys, values and layer inputs.
---@param dtype? string = "float64"
---@param queries? integer = M.QUERIES
---@return tensor[] inputs q, k, v [batch, heads, time, dim], x [batch, keys, d_model]
function Case:inputs(dtype, queries)
  core.seed(2)
  local c, list = self.context, {}
  for i, time in ipairs { M.KEYS, M.KEYS, M.KEYS } do
    list[i] = core.randn({ M.BATCH, c.heads, time, c.dim }, "float64")
  end
  list[4] = core.randn({ M.BATCH, M.KEYS, c.d_model }, "float64")
  queries = queries or M.QUERIES
  list[1] = list[1]:narrow(3, M.KEYS - queries + 1, queries)
  for i, x in ipairs(list) do
    list[i] = x:to(dtype or "float64")
  end
  return list
end

--- Creates positions from rows of numbers, with the given number of coordinates each.
---@param rows number[][]
---@param coordinates integer
---@return tensor positions [rows, time], or [rows, time, coordinates]
function M.positions(rows, coordinates)
  local base = core.tensor(rows, "float64")
  if coordinates == 1 then
    return base
  end
  local list = {}
  for i = 1, coordinates do
    list[i] = base:unsqueeze(3) * (2 / (i + 1)) + (i - 1)
  end
  return core.cat(list, 3)
end

--- Runs attention on the inputs. If the scheme changes embeddings, the change is added to queries,
--- keys and values.
---@param attention function `roper.attention` or another with the same arguments
---@param holder Module
---@param inputs tensor[] from `inputs`
---@param how? table options of attention
---@return tensor output
---@return tensor? weights
function M.attend(attention, holder, inputs, how)
  local scheme = holder.position
  local q, k, v, x = table.unpack(inputs)
  local all = tables.merged(how)
  all.position, all.input = scheme, not schemes.is_rotary(scheme) and x or nil
  if not schemes.is_rotary(scheme) and scheme.embed then
    local places = position.positions(q, k, { causal = all.causal, offset = all.offset,
      query_positions = all.query_positions, key_positions = all.key_positions })
    local function split(y)
      return y:view { y:size(1), y:size(2), q:size(2), q:size(4) }:transpose(2, 3)
    end
    local seen = split(scheme:embed(x, places.key))
    q = q + split(scheme:embed(x:narrow(2, x:size(2) - q:size(3) + 1, q:size(3)), places.query))
    k, v = k + seen, v + seen
  end
  return attention(q, k, v, all)
end

--- Returns the parameters of a scheme, and a function that replaces them.
---@param holder Module
---@return tensor[] parameters
---@return fun(tensors: tensor[], offset: integer) put sets parameter i to tensors[offset + i]
function M.trained(holder)
  local named = holder:named_parameters()
  return holder:parameters(), function(tensors, offset)
    for i, entry in ipairs(named) do
      replace(holder, entry.name, tensors[offset + i])
    end
  end
end

--- Returns the largest absolute difference of two tensors; infinity if shapes differ or a
--- difference is NaN.
---@param a tensor
---@param b tensor
---@return number
function M.difference(a, b)
  if table.concat(a:shape(), " ") ~= table.concat(b:shape(), " ") then
    return math.huge
  end
  local worst = (a:detach():to "float64" - b:detach():to "float64"):abs():max():item()
  return worst == worst and worst or math.huge
end

return M
