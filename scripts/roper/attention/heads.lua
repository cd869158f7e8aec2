--- Grouped-query attention: heads of queries that share keys and values.
local format = require "roper.text.format"

local M = {}

-- Repeats each head, so that consecutive heads are equal.
local function expanded(x, heads)
  local batch, shared, time, features = table.unpack(x:shape())
  return x:unsqueeze(3):expand { batch, shared, heads // shared, time, features }:contiguous()
    :view { batch, heads, time, features }
end

--- Keys and values with the heads of q: those of grouped-query attention are repeated. Other
--- tensors are returned unchanged, for the core to accept or refuse.
---@param q tensor [batch, heads, queries, d]
---@param k tensor [batch, kv_heads, keys, d]
---@param v? tensor [batch, kv_heads, keys, dv]
---@return tensor k [batch, heads, keys, d]
---@return tensor? v [batch, heads, keys, dv]
function M.repeated(q, k, v)
  local function has_heads(x)
    return format.is_tensor(x) and x:rank() == 4
  end
  local is_pair = v == nil or has_heads(v) and has_heads(k) and v:size(2) == k:size(2)
  if not (has_heads(q) and has_heads(k) and is_pair) then
    return k, v
  end
  local heads, shared = q:size(2), k:size(2)
  if shared == heads or shared == 0 or heads == 0 or heads % shared ~= 0 then
    return k, v
  end
  local all = expanded(k, heads)
  return all, v and (v == k and all or expanded(v, heads))
end

return M
