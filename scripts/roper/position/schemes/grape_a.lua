--- ALiBi with gates: each head subtracts a multiple of the distance that depends on the query and
--- the key (GRAPE-A, Zhang et al. 2026, eq. 4.6). `gates` selects the gate of the query, that of
--- the key, or the sum of both.
---
---     sᵢⱼ −= |i − j| m_h ω_h (softplus(v_h · qᵢ / √d) + softplus(u_h · kⱼ / √d))
---
--- m_h are the slopes of ALiBi, ω_h is the softplus of a trained number, initially 1, and v_h and
--- u_h are trained unit vectors. Slopes and unit length follow the authors' code; the paper has
--- neither. Queries and keys are those before rotation. The authors' models normalize them first;
--- those of roper do not.
---
--- Errors: `dim` or `heads` is missing.
---
---     > grape = roper.position.grape_a{dim = 4, heads = 2}
---     > q = roper.zeros{1, 2, 3, 4} -- each gate is ln 2
---     > roper.attention_weights(q, q, {position = grape})[1][1]
---     float32 [3, 3]
---     0.3626 0.3325 0.3049
---     0.3236 0.3529 0.3236
---     0.3049 0.3325 0.3626
---@param options GrapeAOptions
---@return Scheme scheme
local alibi = require "roper.position.schemes.alibi"
local core = require "roper.core"

-- softplus(vector · x / √d) for the unit vector of each head: [batch, heads, time, 1].
local function gate(vectors, x)
  local unit = vectors * (vectors:square():sum(-1, true) + 1e-12) ^ -0.5
  local product = x:matmul(unit:to(x:dtype()):unsqueeze(3))
  return (product * x:size(4) ^ -0.5):softplus()
end

return {
  takes = { class = "GrapeAOptions",
    { "dim", "size", nil, "features of a head" },
    { "heads", "size", nil, "number of heads" },
    { "gates", { "qk", "q", "k" }, "qk", "gates from queries, keys or both" },
  },
  per_layer = true,
  init = function(self)
    self.slopes = alibi.make({ heads = self.heads }).slopes
    self.omega = core.full({ self.heads }, math.log(math.exp(1) - 1)):parameter()
    for _, part in ipairs { { "q", "query_gate" }, { "k", "key_gate" } } do -- in order: they draw
      local letter, name = table.unpack(part)
      if self.gates:find(letter) then
        self[name] = (core.randn { self.heads, self.dim } * self.dim ^ -0.5):parameter()
      end
    end
  end,
  bias = function(self, q, k, positions)
    local slopes = self.slopes * self.omega:to("float64"):softplus():unsqueeze(2)
    local penalty = positions:by_distance(function(distance)
      return -slopes * distance:abs()
    end)
    local of_query = self.query_gate and gate(self.query_gate, q)
    local of_key = self.key_gate and gate(self.key_gate, k):transpose(3, 4)
    return penalty * (of_query and of_key and of_query + of_key or of_query or of_key)
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    def gate(vectors, y):
        unit = vectors * torch.rsqrt(vectors.square().sum(-1, keepdim=True) + 1e-12)
        return F.softplus(y @ unit[:, :, None] * y.shape[-1] ** -0.5)

    gates = gate(self.query_gate, q) + gate(self.key_gate, k).transpose(2, 3)  #? gates=qk
    gates = gate(self.query_gate, q)  #? gates=q
    gates = gate(self.key_gate, k).transpose(2, 3)  #? gates=k
    slope = slopes(q) * F.softplus(self.omega.double())[:, None, None]
    return {"bias": (-slope * distances(positions, q).abs()).to(q.dtype) * gates}
]],
  relative = true,
  summary = "a multiple of the distance, chosen by query and key, is subtracted from scores",
  formula = function(o)
    local gates = { q = "softplus(v · qᵢ / √d)", k = "softplus(u · kⱼ / √d)",
      qk = "(softplus(v · qᵢ / √d) + softplus(u · kⱼ / √d))" }
    return ("sᵢⱼ = qᵢ · kⱼ / √d − m_h ω |i − j| %s"):format(gates[o.gates])
  end,
  source = "GRAPE-A, Zhang et al. 2026, eq. 4.6; slopes and unit vectors of the authors' code",
}
