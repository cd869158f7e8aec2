--- The forgetting transformer: each token has a gate for each head, and the unnormalized weight of
--- a key is multiplied by the gates of all tokens after it, up to the query (Lin et al. 2025). The
--- gates are computed from the input of the layer: outside a model, pass it as the option `input`.
--- A cache keeps ln f of earlier tokens. Weight decay applies to the weights of the gates as to
--- those of linear layers.
---
---     f_t = sigmoid(w · x_t + b),   F_i = Σ_{t<=i} ln f_t,   sᵢⱼ += F_i − F_j
---
--- Errors: `heads` or `d_model` is missing; attention that is not causal; no input for a key.
---
---     > fox = roper.position.fox{heads = 1, d_model = 2}
---     > q, x = roper.zeros{1, 1, 3, 2}, roper.zeros{1, 3, 2} -- all gates are 0.5
---     > options = {position = fox, input = x, causal = true}
---     > roper.attention_weights(q, q, options)[1][1]
---     float32 [3, 3]
---     1.0000 0.0000 0.0000
---     0.3333 0.6667 0.0000
---     0.1429 0.2857 0.5714
---@param options FoxOptions
---@return Scheme scheme
local core = require "roper.core"
local trained = require "roper.position.trained"

return {
  takes = { class = "FoxOptions",
    { "heads", "size", nil, "number of heads" },
    { "d_model", "size", nil, "features of the input of a layer" },
  },
  per_layer = true,
  decays = { "gate_weight" },
  init = function(self)
    self.gate_weight = trained.table(self.heads, self.d_model)
    self.gate_bias = core.zeros({ self.heads }):parameter()
  end,
  state = { "gates" },
  bias = function(self, _, _, positions, x)
    local sums = positions:accumulate(self, "gates", x, function()
      return -(-core.linear(x, self.gate_weight:to(x:dtype()), self.gate_bias:to(x:dtype())))
        :softplus()
    end):transpose(2, 3) -- [batch, heads, keys]
    return { positions:of_queries(sums, 3):to(positions.dtype):unsqueeze(4),
      -sums:to(positions.dtype):unsqueeze(3) }
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    gates = F.logsigmoid(F.linear(x, self.gate_weight, self.gate_bias))
    sums = gates.double().cumsum(1).transpose(1, 2)  # [batch, heads, keys]
    return {"bias": (sums[:, :, -q.shape[2]:, None] - sums[:, :, None]).to(q.dtype)}
]],
  relative = true,
  summary = "gates from the input reduce the weights of earlier keys",
  formula = "sᵢⱼ = qᵢ · kⱼ / √d + Σ_{t=j+1..i} ln sigmoid(w · x_t + b)",
  source = "the forgetting transformer, Lin et al. 2025, section 3",
}
