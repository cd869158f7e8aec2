--- Products of one linear map for each token, H_t = I − β_t w_t w_tᵀ, from the token after a key
--- to that of a query. H_t is a Householder reflection if w_t has length 1 and β_t = 2.
---
--- Tokens are divided into blocks. With the rows w_t and k_t of a block as matrices W and K, the UT
--- transform (Joffrain et al. 2006; Yang et al. 2025, section 3) replaces products of H by products
--- of matrices:
---
---     L = tril(diag(β) W Wᵀ, −1),   T = (I + L)⁻¹,   U = T diag(β) W
---     C = T tril(diag(β) W Kᵀ, −1)
---     H_r ⋯ H_1 = I − Σ_{t<=r} w_t u_tᵀ,   H_r ⋯ H_{j+1} k_j = k_j − Σ_{t<=r} w_t C_tj
---
--- A pair of tokens of different blocks takes three steps: from the key to the end of its block,
--- through the blocks between, each with its matrix M = I − Wᵀ U, and to the query in its block.
local core = require "roper.core"

local M = {}

--- The products along a text.
---@class Householder
---@field block integer tokens of a block
---@field count integer number of blocks
---@field keys integer number of tokens
---@field batch integer
---@field heads integer
---@field rows integer batch * heads
---@field w tensor [rows, count, block, d]; the last block is filled up with zeros
---@field l tensor L, [rows, count, block, block]
---@field t tensor T, [rows, count, block, block], without a gradient
---@field u tensor U, [rows, count, block, d]
---@field scaled tensor β_t w_t, [rows, count, block, d]
---@field map tensor M, [rows, count, d, d]
local Householder = {}
Householder.__index = Householder

local BLOCK <const> = 32

-- a b. Small products are faster if the rows of the second factor are stored one after the other.
local function times(a, b)
  return a:matmul(b:contiguous())
end

-- a b with its gradients.
local product = core.differentiable(times, function(dy, a, b)
  return times(dy, b:transpose(3, 4)), times(a:transpose(3, 4), dy)
end)

-- A [size, size] matrix of ones on and below a diagonal, zeros above it.
local function lower(size, diagonal, dtype)
  local at = core.arange(0, size, 1, "float64")
  return at:le(at:unsqueeze(2) + diagonal):to(dtype)
end

-- x with `before` and `after` tokens of zeros at the ends of an axis.
local function padded(x, axis, before, after)
  local function zeros(size)
    local shape = x:shape()
    shape[axis] = size
    return core.zeros(shape, x:dtype())
  end
  local list = { x }
  if before > 0 then
    table.insert(list, 1, zeros(before))
  end
  if after > 0 then
    list[#list + 1] = zeros(after)
  end
  return #list > 1 and core.cat(list, axis) or x
end

-- x:narrow, without an operation if it is all of x.
local function part(x, axis, first, size)
  return size == x:size(axis) and x or x:narrow(axis, first, size)
end

-- (I + l)⁻¹ for the part of l below the diagonal; its size is a power of 2. Blocks of 1, 2, 4, ...
-- are inverted. All of them are products of H, so no number grows as in a sum of powers of l.
--
--     (A 0; B D)⁻¹ = (A⁻¹ 0; −D⁻¹ B A⁻¹ D⁻¹)
local function inverse_of(l)
  local rows, count, size = l:size(1), l:size(2), l:size(4)
  local x = core.eye(size):to(l:dtype()):expand(l:shape()):contiguous()
  local half = 1
  l = l:contiguous()
  while half < size do
    local shape = { rows, count, size // (2 * half), half, half }
    local strides = { count * size * size, size * size, 2 * half * (size + 1), size, 1 }
    local function quarter(of, row, column)
      return of:as_strided(shape, strides, half * (row * size + column))
    end
    local below = quarter(l, 1, 0)
    if half > 1 then -- the inverse of a block of 1 is 1
      below = quarter(x, 1, 1):matmul(below):matmul(quarter(x, 0, 0))
    end
    quarter(x, 1, 0):copy(-below)
    half = 2 * half
  end
  return x
end

-- The solution x of (I + l) x = y, where `inverse` is (I + l)⁻¹.
local function solve(l, y, inverse)
  local x
  return core.differentiable(function(_, right)
    x = times(inverse, right)
    return x
  end, function(dx)
    local dy = times(inverse:transpose(3, 4), dx)
    return -times(dy, x:transpose(3, 4)), dy
  end)(l, y)
end

--- Prepares the products.
---@param w tensor [batch, heads, keys, d]
---@param beta tensor [batch, heads, keys]
---@return Householder
function M.new(w, beta)
  local batch, heads, keys, d = table.unpack(w:shape())
  local block = 1
  while block < math.min(keys, BLOCK) do
    block = 2 * block
  end
  local count = math.max(1, -(-keys // block))
  local self = setmetatable({ block = block, count = count, keys = keys, rows = batch * heads,
    batch = batch, heads = heads }, Householder)
  self.w = self:blocks(w)
  self.scaled = self:blocks(w * beta:unsqueeze(4))
  self.l = product(self.scaled, self.w:transpose(3, 4)) * lower(block, -1, w:dtype())
  self.t = core.no_grad(inverse_of, self.l:detach())
  self.u = solve(self.l, self.scaled, self.t)
  self.map = core.eye(d):to(w:dtype()) - product(self.w:transpose(3, 4), self.u)
  return self
end

-- [batch, heads, time, d], for the last tokens, as [rows, blocks, block, d], with zeros before the
-- first token and after the last. Returns the number of blocks before it and of zeros before x.
function Householder:blocks(x)
  local time = x:size(3)
  local skipped = (self.keys - time) // self.block
  local before = self.keys - time - skipped * self.block
  local y = padded(x, 3, before, self.count * self.block - self.keys):contiguous()
  return y:view { self.rows, self.count - skipped, self.block, x:size(4) }, skipped, before
end

-- The last blocks of a list of all.
local function last(x, count)
  return part(x, 2, x:size(2) - count + 1, count)
end

-- C for the keys or values x.
function Householder:corrections(x)
  local y = product(self.scaled, x:transpose(3, 4)) * lower(self.block, -1, x:dtype())
  return solve(self.l, y, self.t)
end

-- For each block j but the last, the queries of all blocks after it, carried back to its end.
local function carried_back(q, map, skipped)
  local list, far = {}, nil
  for j = map:size(2), 2, -1 do
    far = far and times(far, map:narrow(2, j, 1):squeeze(2))
    if j > skipped then
      local near = q:narrow(2, j - skipped, 1):squeeze(2)
      far = far and core.cat({ near, far }, 2) or near
    end
    list[j - 1] = far
  end
  return list
end

-- The columns of block j in the rows of the blocks after it.
local function column(s, j, block, skipped)
  local first = math.max(0, (j - skipped) * block)
  return s:narrow(2, first + 1, s:size(2) - first):narrow(3, (j - 1) * block + 1, block)
end

-- The sums Σⱼ aᵢⱼ vⱼ over the tokens of earlier blocks, carried to the start of the query's block;
-- and for each block j those over the blocks before it, in the rows after block j.
local function carried_sums(a, v, map, skipped)
  local rows, count, block, features = table.unpack(v:shape())
  local done, list, sums = {}, {}, nil
  local none = core.zeros({ rows, block, features }, v:dtype())
  for j = 1, count - 1 do
    if j > skipped then -- the sums of the queries in block j are complete
      done[#done + 1] = sums and sums:narrow(2, 1, block) or none
      sums = sums and sums:narrow(2, block + 1, sums:size(2) - block)
    end
    list[j] = sums
    local own = column(a, j, block, skipped):matmul(v:narrow(2, j, 1):squeeze(2))
    sums = sums and times(sums, map:narrow(2, j, 1):squeeze(2):transpose(2, 3)) + own or own
  end
  done[#done + 1] = sums or none
  return core.cat(done, 2), list
end

-- The blocks on the diagonal of s [rows, queries, keys], [rows, blocks, block, block].
local function diagonal(s, block, skipped)
  local queries, keys = s:size(2), s:size(3)
  return s:as_strided({ s:size(1), queries // block, block, block },
    { queries * keys, block * (keys + 1), keys, 1 }, skipped * block)
end

-- The products q_i · M ⋯ M kⱼ of different blocks, [rows, queries, keys].
local function products(far, k, queries, skipped)
  local rows, count, block = table.unpack(k:shape())
  local s = core.zeros({ rows, queries, count * block }, k:dtype())
  for j, q in pairs(far) do
    column(s, j, block, skipped):copy(times(q, k:narrow(2, j, 1):squeeze(2):transpose(2, 3)))
  end
  return s
end

-- The gradients of keys or values, and of the maps, in Σᵢⱼ a_ij q_i · M ⋯ M kⱼ.
local function gradients(a, far, sums, k, map, skipped)
  local dk, dmap = core.zeros(k:shape(), k:dtype()), core.zeros(map:shape(), map:dtype())
  for j, q in pairs(far) do
    dk:narrow(2, j, 1):copy(column(a, j, k:size(3), skipped):transpose(2, 3):matmul(q):unsqueeze(2))
    if sums[j] then
      dmap:narrow(2, j, 1):copy(q:transpose(2, 3):matmul(sums[j]):unsqueeze(2))
    end
  end
  return dk, dmap
end

-- The scores of all pairs: of those of the same block from `near`, of the others from q and k.
local function joined_scores(q, k, map, near, skipped)
  local block, queries, far = k:size(3), q:size(2) * q:size(3), nil
  return core.differentiable(function(given, keys, maps, own)
    far = carried_back(given, maps, skipped)
    local s = products(far, keys, queries, skipped)
    diagonal(s, block, skipped):copy(own)
    return s
  end, function(ds, given, keys, maps)
    ds = ds:contiguous()
    local dq, sums = carried_sums(ds, keys, maps, skipped)
    local dk, dmap = gradients(ds, far, sums, keys, maps, skipped)
    return dq:view(given:shape()), dk, dmap, diagonal(ds, block, skipped):contiguous()
  end)(q, k, map, near)
end

-- The sums over earlier blocks, [rows, blocks, block, d], and the weights of tokens of the same
-- block, [rows, blocks, block, block].
local function split_sums(a, v, map, skipped)
  local rows, count, block, features = table.unpack(v:shape())
  local shape, sums = { rows, count - skipped, block, features }, nil
  local both = core.differentiable(function(weights, values, maps)
    local done
    done, sums = carried_sums(weights, values, maps, skipped)
    return core.cat({ done:view(shape), diagonal(weights, block, skipped) }, 4)
  end, function(dy, weights, values, maps)
    local far = carried_back(dy:narrow(4, 1, features), maps, skipped)
    local da = products(far, values, weights:size(2), skipped)
    diagonal(da, block, skipped):copy(dy:narrow(4, features + 1, block))
    return da, gradients(weights, far, sums, values, maps, skipped)
  end)(a, v, map)
  return both:narrow(4, 1, features), both:narrow(4, features + 1, block)
end

--- The products of queries and keys along the text.
---
---     yᵢⱼ = qᵢ · H_i H_{i−1} ⋯ H_{j+1} kⱼ
---@param q tensor [batch, heads, queries, d], of the last tokens
---@param k tensor [batch, heads, keys, d]
---@return tensor y [batch, heads, queries, keys]; undefined for a key after the query
function Householder:scores(q, k)
  local queries = q:size(3)
  local skipped, before
  q, skipped, before = self:blocks(q)
  k = self:blocks(k)
  local count = q:size(2)
  local c, visible = self:corrections(k), lower(self.block, 0, q:dtype())
  local by_w = product(q, last(self.w, count):transpose(3, 4)) * visible
  local near = product(q, last(k, count):transpose(3, 4)) - product(by_w, last(c, count))
  local s = joined_scores(q - product(by_w, last(self.u, count)),
    k - product(c:transpose(3, 4), self.w), self.map, near, skipped)
  return part(part(s, 2, before + 1, queries), 3, 1, self.keys):contiguous()
    :view { self.batch, self.heads, queries, self.keys }
end

--- The sums of values that are carried along the text.
---
---     yᵢ = Σⱼ aᵢⱼ H_i H_{i−1} ⋯ H_{j+1} vⱼ
---@param a tensor [batch, heads, queries, keys], of the last tokens; 0 for a key after the query
---@param v tensor [batch, heads, keys, d]
---@return tensor y [batch, heads, queries, d]
function Householder:sums(a, v)
  local queries, features = a:size(3), v:size(4)
  local skipped = (self.keys - queries) // self.block
  local before = self.keys - queries - skipped * self.block
  local after = self.count * self.block - self.keys
  a = padded(padded(a, 3, before, after), 4, 0, after):contiguous()
    :view { self.rows, (self.count - skipped) * self.block, self.count * self.block }
  v = self:blocks(v)
  local count = self.count - skipped
  local c, visible = self:corrections(v), lower(self.block, 0, a:dtype())
  local far, near = split_sums(a, v - product(c:transpose(3, 4), self.w), self.map, skipped)
  local by_w = (product(near, last(c, count):transpose(3, 4))
    + product(far, last(self.u, count):transpose(3, 4))) * visible
  local y = product(near, last(v, count)) + far - product(by_w, last(self.w, count))
  y = y:view { self.batch, self.heads, count * self.block, features }
  return part(y, 3, before + 1, queries)
end

return M
