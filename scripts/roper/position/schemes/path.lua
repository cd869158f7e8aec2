--- PaTH: on the way from a key to a query, each token applies a linear map that it computes from
--- its content (Yang et al. 2025). The map multiplies the part of a vector along w_t by 1 − β_t and
--- keeps the rest. It is computed from the input of the layer: outside a model, pass it as the
--- option `input`. A cache keeps w, β and the inputs f of the convolution.
---
---     H_t = I − β_t w_t w_tᵀ,   β_t = 2 sigmoid(u · x_t + b)
---     w_t = z_t / √(|z_t|² + 10⁻⁶),   z_t = silu(Σ_k c_k f_{t−k}), 0 <= k < width
---     f_t = W₂ W₁ x_t,   sᵢⱼ = qᵢ · H_i H_{i−1} ⋯ H_{j+1} kⱼ / √d
---
--- With `rotate = "qkvo"`, values travel by the same product: oᵢ = Σⱼ aᵢⱼ H_i ⋯ H_{j+1} vⱼ. RoPER
--- rotates each value by its position, and the output back. Here that is impossible: the product of
--- all maps up to a token has no inverse if a β is 1. For the same reason, queries cannot be
--- transformed without keys, nor values without the output.
---
--- With `gate`, scores also have the gates of FoX, sᵢⱼ += Σ_{t=j+1..i} ln sigmoid(g · x_t + a)
--- (PaTH-FoX). These terms are not multiplied by 1 / √d; in the released code, they are. As in the
--- models of that code, weights are initially normal with the standard deviation 0.02, and a and b
--- are 0.
---
--- A mask hides the keys of tokens, but their maps still apply. Padding in a cache applies none.
---
--- Errors: `dim`, `heads` or `d_model` is missing; `rotate` other than "qk" and "qkvo"; attention
--- that is not causal; no input for a key; with "qkvo", values that do not have `dim` features.
---
---     > path = roper.position.path{dim = 2, heads = 1, d_model = 2}
---     > path.beta_bias = roper.full({1}, -30):parameter() -- all maps are 1
---     > q, x = roper.randn{1, 1, 3, 2}, roper.randn{1, 3, 2}
---     > options = {position = path, input = x, causal = true}
---     > none = roper.attention(q, q, q, {causal = true})
---     > (roper.attention(q, q, q, options) - none):abs():max():item() < 1e-5
---     true
---@param options PathOptions
---@return Scheme scheme
local core = require "roper.core"
local fox = require "roper.position.schemes.fox"
local tables = require "roper.base.tables"
local trained = require "roper.position.trained"

local EPSILON <const> = 1e-6 -- added to squared lengths

-- [batch, time, heads * dim] as [batch, heads, time, dim].
local function by_head(self, x)
  return x:contiguous():view { x:size(1), x:size(2), self.heads, self.dim }:transpose(2, 3)
end

-- w of the last tokens of f [batch, keys, heads * dim], [batch, time, heads * dim].
local function directions_of(self, f, time)
  local before = math.min(f:size(2) - time, self.width - 1)
  local first = f:size(2) - time - before + 1
  local near = first == 1 and f or f:narrow(2, first, before + time)
  local z = core.causal_convolution(near, self.filter:to(f:dtype())):silu()
  if before > 0 then
    z = z:narrow(2, before + 1, time):contiguous()
  end
  z = z:view { z:size(1), time, self.heads, self.dim }
  local gain = core.full({ self.dim }, self.dim ^ -0.5, z:dtype())
  return core.rms_norm(z, gain, EPSILON / self.dim)
    :view { z:size(1), time, self.heads * self.dim }
end

-- w and β of all tokens, [batch, heads, keys, dim] and [batch, heads, keys].
local function maps_of(self, positions, x)
  local function own(name)
    return self[name]:to(x:dtype())
  end
  local maps = positions:once(self, "maps", function()
    local f = positions:keep(self, "inputs", x, function()
      return core.linear(core.linear(x, own "down_weight"), own "up_weight")
    end)
    local w = positions:keep(self, "directions", x, function()
      return directions_of(self, f, x:size(2))
    end)
    local beta = positions:keep(self, "factors", x, function()
      return core.linear(x, own "beta_weight", own "beta_bias"):sigmoid() * 2
    end)
    -- Packed once for scores and sums.
    return { by_head(self, w):to(positions.dtype):contiguous(),
      beta:transpose(2, 3):to(positions.dtype):contiguous() }
  end)
  return maps[1], maps[2]
end

local function transport(self, weights, v, positions, x)
  if v:size(4) ~= self.dim then
    error(("position: path: expected values of %d features, as queries have, got %d; with rotate = "
      .. '"qkvo" values travel by the same maps'):format(self.dim, v:size(4)), 0)
  end
  return core.householder_sums(weights, v, maps_of(self, positions, x))
end

return {
  takes = { class = "PathOptions",
    { "dim", "size", nil, "features of a head" },
    { "heads", "size", nil, "number of heads" },
    { "d_model", "size", nil, "features of the input of a layer" },
    { "rotate", "string", "qk", '"qk", or "qkvo": values travel too' },
    { "rank", "size", 32, "of W₂ W₁" },
    { "width", "size", 3, "tokens of the convolution; 1 multiplies by a number" },
    { "gate", "boolean", false, "add the gates of FoX" },
  },
  per_layer = true,
  state = { "inputs", "directions", "factors" },
  init = function(self)
    if self.rotate ~= "qk" and self.rotate ~= "qkvo" then
      error(('path: option rotate: expected "qk" or "qkvo", got %q; H_t has no inverse in general, '
        .. "so q cannot be transformed without k, nor v without o"):format(self.rotate), 0)
    end
    local features = self.heads * self.dim
    self.down_weight = trained.table(self.rank, self.d_model)
    self.up_weight = trained.table(features, self.rank)
    self.filter = trained.table(features, self.width)
    self.beta_weight = trained.table(self.heads, self.d_model)
    self.beta_bias = core.zeros({ self.heads }):parameter()
    self.decays = { "down_weight", "up_weight", "filter", "beta_weight" }
    if self.gate then
      fox.init(self)
      table.insert(self.decays, "gate_weight")
      self.bias, self.state = fox.bias, tables.joined(self.state, fox.state)
    end
    if self.rotate == "qkvo" then
      self.transport = transport
    end
  end,
  scores = function(self, q, k, positions, x)
    return core.householder_scores(q * positions.scale, k, maps_of(self, positions, x))
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    batch, keys, heads, dim = x.shape[0], x.shape[1], q.shape[1], q.shape[-1]
    f = F.linear(F.linear(x, self.down_weight), self.up_weight).transpose(1, 2)
    f = F.pad(f, (self.filter.shape[1] - 1, 0))
    z = F.silu(F.conv1d(f, self.filter[:, None], groups=f.shape[1]))
    z = z.view(batch, heads, dim, keys).transpose(2, 3)
    w = z * torch.rsqrt(z.square().sum(-1, keepdim=True) + 1e-6)
    beta = 2 * F.linear(x, self.beta_weight, self.beta_bias).sigmoid()
    beta = beta.transpose(1, 2)[..., None]  # [batch, heads, keys, 1]
    lower = (beta * w @ w.transpose(2, 3)).tril(-1) + torch.eye(keys, device=q.device)

    def removed(y):  # what map t takes from vector j on its way: [batch, heads, t, j]
        products = (beta * w @ y.transpose(2, 3)).tril(-1)
        return torch.linalg.solve_triangular(lower, products, upper=False)

    def passed(y):  # the maps up to each query apply
        return y.tril(keys - q.shape[2])

    products = q @ k.transpose(2, 3) - passed(q @ w.transpose(2, 3)) @ removed(k)
    terms = {"scores": products}
    terms["mix"] = lambda a, v: a @ v - passed(a @ removed(v).transpose(2, 3)) @ w  #? rotate=qkvo
    gates = F.logsigmoid(F.linear(x, self.gate_weight, self.gate_bias))  #? gate
    sums = gates.cumsum(1).transpose(1, 2)  #? gate
    terms["bias"] = sums[:, :, -q.shape[2]:, None] - sums[:, :, None]  #? gate
    return terms
]],
  relative = true,
  summary = "keys pass a linear map of each token on the way to the query",
  formula = function(o)
    local carries = o.rotate == "qkvo"
    return (table.concat({
      "sᵢⱼ = qᵢ · H_i H_{i−1} ⋯ H_{j+1} kⱼ / √d" .. (o.gate and " + Σ_{t=j+1..i} ln g_t" or ""),
      carries and "oᵢ = Σⱼ aᵢⱼ H_i H_{i−1} ⋯ H_{j+1} vⱼ" or "",
      "H_t = I − β_t w_t w_tᵀ, β_t = 2 sigmoid(u · x_t + b)",
      "w_t = z_t / |z_t|, z = silu(conv(W₂ W₁ x))" .. (o.gate and ", g_t as f_t of fox" or ""),
      carries and "Values travel from key to query by the product; nothing is rotated back, as H "
        .. "has no inverse if β = 1." or "",
    }, "\n"):gsub("\n+", "\n"):gsub("\n$", ""))
  end,
  source = "PaTH, Yang et al. 2025, arXiv 2505.16381, section 2",
}
