-- Checks shared by the specs of gradients of attention and of linear attention.

local arrays = require("tests.arrays")
local golden = require("tests.golden")
local gradients = require("tests.gradients")
local roper = require("roper")

local M = {}

--- A scheme for 4 features whose frequencies are far apart.
---@param rotate string
---@param pairing string?
---@param fraction number?
---@param value_fraction number?
---@return userdata
function M.scheme(rotate, pairing, fraction, value_fraction)
  return roper.position.rope({ dim = 4, rotate = rotate, pairing = pairing, fraction = fraction,
    value_fraction = value_fraction, base = 50 })
end

--- Check the gradients of q, k and v of shapes {B, H, Tq, d}, {B, G, Tk, d}, {B, G, Tk, dv}.
---@param attend fun(q, k, v, options): userdata
---@param options table of attend
---@param sizes table? batch, heads = 1, shared = heads, queries, keys = 3, features,
--- value_features = 4; layouts = true for inputs of any memory layout
function M.check(attend, options, sizes)
  local o = sizes or {}
  local batch, heads, queries, keys = o.batch or 1, o.heads or 1, o.queries or 3, o.keys or 3
  gradients.check(function(q, k, v) return (attend(q, k, v, options)) end, {
    { batch, heads, queries, o.features or 4 },
    { batch, o.shared or heads, keys, o.features or 4 },
    { batch, o.shared or heads, keys, o.value_features or 4 },
  }, { layouts = o.layouts or false })
end

--- Compare the output and the gradients with another implementation's, in both precisions.
---@param attend fun(q, k, v, options): userdata
---@param name string of the golden values
---@param options table of attend
function M.check_golden(attend, name, options)
  golden.each(name, function(values, tolerance)
    local q, k, v = values.q:clone():parameter(), values.k:clone():parameter(),
      values.v:clone():parameter()
    local y = attend(q, k, v, options)
    y:backward(values.dy)
    for key, found in pairs({ y = y, dq = q.grad, dk = k.grad, dv = v.grad }) do
      arrays.close(values[key], found, tolerance, name .. " " .. key)
    end
  end)
end

return M
