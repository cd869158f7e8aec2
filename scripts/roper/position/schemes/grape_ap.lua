--- Biases summed along the path from the key to the query: each token on it subtracts a penalty
--- that depends on the token and on the query (GRAPE-AP, Zhang et al. 2026, section 5). It compares
--- vectors p of `width` features, which are computed from the input of the layer: outside a model,
--- pass it as the option `input`. A cache keeps the vectors of earlier tokens.
---
---     sᵢⱼ += Σ_{l=j+1..i} m_h ln sigmoid(pᵢ · R_l p_l / (width |p_l|)),   p_t = W_h x_t
---
--- |p| is the root mean square of p, R_l rotates all pairs of features by the angle l, and m_h are
--- the slopes of ALiBi. pᵢ is not rotated, so the sum depends on absolute positions. The features
--- of a pair are t and t + width/2. In the paper, pᵢ is normalized as well; here it is not, as in
--- the authors' code. That code rotates by −l; this is equivalent, up to the signs of the second
--- half of the rows of W_h.
---
--- Errors: `heads` or `d_model` is missing; `width` is odd; attention that is not causal; no input
--- for a key; positions with several coordinates.
---
---     > grape = roper.position.grape_ap{heads = 2, d_model = 2}
---     > q, x = roper.zeros{1, 2, 3, 2}, roper.zeros{1, 3, 2} -- each token adds m ln 0.5
---     > options = {position = grape, input = x, causal = true}
---     > roper.attention_weights(q, q, options)[1][1]
---     float32 [3, 3]
---     1.0000 0.0000 0.0000
---     0.4892 0.5108 0.0000
---     0.3190 0.3331 0.3479
---@param options GrapeApOptions
---@return Scheme scheme
local alibi = require "roper.position.schemes.alibi"
local core = require "roper.core"
local frequencies = require "roper.position.frequencies"

local EPSILON <const> = 2 ^ -23 -- that of torch.nn.functional.rms_norm in float32

-- p for all keys: [batch, heads, keys, width].
local function path_of(self, positions, x)
  local p = positions:keep(self, "path", x, function()
    return core.linear(x, self.path_weight:to(x:dtype()))
  end)
  return p:view { p:size(1), p:size(2), self.heads, self.width }:transpose(2, 3)
end

return {
  takes = { class = "GrapeApOptions",
    { "heads", "size", nil, "number of heads" },
    { "d_model", "size", nil, "features of the input of a layer" },
    { "width", "size", 8, "features of p for each head, an even number" },
  },
  per_layer = true,
  state = { "path" },
  decays = { "path_weight" },
  init = function(self)
    if self.width % 2 ~= 0 then
      error(("grape_ap: option width: expected an even number, got %d"):format(self.width), 0)
    end
    self.slopes = alibi.make({ heads = self.heads }).slopes
    self.path_weight = (core.randn { self.heads * self.width, self.d_model }
      * (0.5 * self.d_model ^ -0.5)):parameter()
  end,
  bias = function(self, _, _, positions, x)
    local p = path_of(self, positions, x)
    local unit = p * (p:square():mean(4, true) + EPSILON) ^ -0.5
    local angle = frequencies.angles(self.name, positions.key, core.ones { self.width // 2 })
    local products = positions:of_queries(p, 3):matmul(core.rotate(unit, angle):transpose(3, 4))
    local penalty = (products * (-1 / self.width)):softplus() -- -ln sigmoid
    local added = penalty * -self.slopes:to(p:dtype()):unsqueeze(3)
    added = core.where(positions:visible():ne(0), added, 0)
    return (added:flip(4):cumsum(4):flip(4) - added):to(positions.dtype)
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    p = F.linear(x, self.path_weight)
    p = p.view(x.shape[0], x.shape[1], q.shape[1], -1).transpose(1, 2)
    unit = p * torch.rsqrt(p.square().mean(-1, keepdim=True) + 2 ** -23)
    angle = positions[:, None, :, None].expand(-1, -1, -1, p.shape[-1] // 2)
    products = p[:, :, -q.shape[2]:] @ rotate(unit, angle).transpose(2, 3)
    penalty = slopes(q).to(q.dtype) * F.logsigmoid(products / p.shape[-1]) * causal(q, k)
    return {"bias": penalty.flip(-1).cumsum(-1).flip(-1) - penalty}
]],
  summary = "each token between key and query reduces the score, by its match with the query",
  formula = "sᵢⱼ = qᵢ · kⱼ / √d + "
    .. "Σ_{l=j+1..i} m_h ln sigmoid(pᵢ · R_l p_l / (width |p_l|)), p = W x",
  source = "GRAPE-AP, Zhang et al. 2026, eq. 5.1 and 5.2; normalized as in the authors' code",
}
