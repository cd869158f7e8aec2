--- Values that a scheme computes from the input of a layer, token by token. A cache keeps them for
--- later passes.
local core = require "roper.core"
local format = require "roper.text.format"
local options_of = require "roper.options.rows"
local suggest = require "roper.base.suggest"

local M = {}

--- The state of the schemes of a layer, as a cache passes it to attention.
---@class SchemeState
---@field earlier integer number of tokens that the cache holds before those of this pass
---@field length integer capacity of a row in tokens
---@field tensors table<table, table<string, tensor>> by scheme or module and name, [batch, length,
---   ...] each
---@field rotated table<string, tensor> keys and values, "k" and "v", rotated by angles
---@field mask? tensor [batch, 1, 1, keys], 0 for padding

local function fail(scheme, message, ...)
  error(("position: %s: " .. message):format(scheme.name, ...), 0)
end

-- Raises an error unless `x` has the input of the layer for each key that no cache holds.
local function check_input(positions, scheme, x)
  if not positions.causal then
    fail(scheme, "expected causal attention, got attention that is not; pass causal = true")
  elseif not format.is_tensor(x) then
    fail(scheme, "expected the input of the layer, got %s; use %s in a model, or pass the option "
      .. "input", x == nil and "none" or type(x), scheme.name)
  elseif not x:dtype():find "^float" then
    fail(scheme, "expected an input of floats, got %s", x:dtype())
  end
  local state = positions.state
  local rows, time = positions.batch, positions.keys - (state and state.earlier or 0)
  local features = x:size(-1)
  if x:rank() ~= 3 or x:size(1) ~= rows or x:size(2) ~= time
    or features ~= (scheme.d_model or features) then
    fail(scheme, "expected an input [%d, %d, %s], one token for each key, got [%s]", rows, time,
      scheme.d_model or "d_model", table.concat(x:shape(), ", "))
  end
end

-- Raises an error unless a scheme declares a state of this name.
local function check_declared(scheme, name)
  if not scheme.state then
    fail(scheme, "expected a scheme that declares what it keeps, got none; add state = {%s}",
      options_of.shown(name))
  end
  for _, declared in ipairs(scheme.state) do
    if declared == name then
      return
    end
  end
  fail(scheme, "expected one of the names in its state, got %s%s", options_of.shown(name),
    suggest.hint(tostring(name), scheme.state))
end

--- Returns values that a scheme computed; raises an error unless there is one for each token of x.
---@param scheme Scheme
---@param name string
---@param new any
---@param x tensor [batch, time, d_model]
---@return tensor new [batch, time, ...]
function M.checked(scheme, name, new, x)
  if not format.is_tensor(new) or new:rank() < 2 or new:size(1) ~= x:size(1)
    or new:size(2) ~= x:size(2) then
    fail(scheme, "state: expected %s of shape [%d, %d, ...], got %s", name, x:size(1), x:size(2),
      format.is_tensor(new) and "[" .. table.concat(new:shape(), ", ") .. "]" or type(new))
  end
  return new
end

-- Values with 0 for padding, which precedes the tokens of a shorter prompt.
local function without_padding(state, new)
  if not state.mask then
    return new
  end
  local time = new:size(2)
  local shape = { new:size(1), time }
  for axis = 3, new:rank() do
    shape[axis] = 1
  end
  local shown = state.mask:narrow(4, state.mask:size(4) - time + 1, time):contiguous():view(shape)
  return core.where(shown:ne(0), new, 0)
end

--- Adds values to those that a cache holds; padding gets 0.
---@param state SchemeState
---@param owner table the scheme or module that computed them
---@param name string
---@param new tensor [batch, time, ...]
---@return tensor values of all tokens so far
function M.store(state, owner, name, new)
  local own = state.tensors[owner] or {}
  state.tensors[owner] = own
  if not own[name] then
    local shape = new:shape()
    shape[2] = state.length
    own[name] = core.zeros(shape, new:dtype())
  end
  local all = own[name]
  all:narrow(2, state.earlier + 1, new:size(2)):copy(without_padding(state, new):detach())
  return all:narrow(2, 1, state.earlier + new:size(2))
end

--- The values of a scheme for all keys; see `Positions:keep`.
---@param positions Positions
---@param scheme Scheme
---@param name string
---@param x tensor? [batch, time, d_model]
---@param compute fun(before: tensor?): tensor
---@return tensor values [batch, keys, ...]
function M.keep(positions, scheme, name, x, compute)
  check_declared(scheme, name)
  local known = positions.kept[scheme] or {}
  positions.kept[scheme] = known
  if not known[name] then
    check_input(positions, scheme, x)
    local state = positions.state
    local own = state and state.tensors[scheme]
    local before = own and own[name] and state.earlier > 0
      and own[name]:narrow(2, 1, state.earlier) or nil
    if state and state.earlier > 0 and not before then
      fail(scheme, "expected a cache with %s of %d earlier tokens, got one without; make a new "
        .. "cache", name, state.earlier)
    end
    local new = M.checked(scheme, name, compute(before), x)
    known[name] = state and M.store(state, scheme, name, new) or new
  end
  return known[name]
end

return M
