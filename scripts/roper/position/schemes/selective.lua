--- Selective RoPE: each token chooses angles from its content, and queries and keys are rotated by
--- the sums of the angles so far (Movahedi et al. 2026). The tokens between a key and a query
--- decide the rotation. The angles are computed from the input of the layer: outside a model, pass
--- it as the option `input`. A cache keeps f and the terms of Φ for each token.
---
---     f_t = W₂ W₁ x̂_t; x̂ is x with the part of each head divided by its length
---     w_t = Σ_k c_k f_{t−k}, 0 <= k < width; without convolution, w_t = f_t − f_{t−1}
---     Φ_t = τ Σ_{s<=t} g_s (w_s + exp b),   τ_p = base^(−2p/d),   g_s = sigmoid(u · x̂_s + a)
---     sᵢⱼ = qᵢ · R_{Φⱼ−Φᵢ} kⱼ / √d
---
--- The terms exp b and g are options. With `bias`, this is RoPE if f is 0; without it, there is
--- almost no rotation at first. As in the models of the released code, the weights W, c and u are
--- initially normal with standard deviation 0.02, and a and b are 0. That code also has maps of
--- full rank for each head, an activation after the convolution, and other τ, all of which are
--- missing here. With `rotate = "qkvo"`, values are rotated as keys are, and the output is rotated
--- back.
---
--- Errors: `dim`, `heads` or `d_model` is missing; `dim` is odd; `heads` does not divide `d_model`;
--- attention that is not causal; no input for a key.
---
---     > selective = roper.position.selective{dim = 4, heads = 1, d_model = 2, bias = true}
---     > q, x = roper.randn{1, 1, 3, 4}, roper.zeros{1, 3, 2}
---     > options = {position = selective, input = x, causal = true}
---     > rope = roper.position.rope{dim = 4, base = 500000}
---     > o = roper.attention(q, q, q, {position = rope, causal = true})
---     > (roper.attention(q, q, q, options) - o):abs():max():item() < 1e-5
---     true
---@param options SelectiveOptions
---@return Scheme scheme
local accumulate = require "roper.position.accumulate"
local core = require "roper.core"
local equation = require "roper.position.equation"
local trained = require "roper.position.trained"

local EPSILON <const> = 1e-6 -- added to squared lengths

-- The parts of x [batch, time, d_model] that belong to the heads, each divided by its length.
local function normalized(x, heads)
  local size = x:size(3) // heads
  local gain = core.full({ size }, size ^ -0.5, x:dtype())
  return core.rms_norm(x:contiguous():view { x:size(1), x:size(2), heads, size }, gain,
    EPSILON / size):view(x:shape())
end

-- The angles that the tokens of x add: [batch, time, heads, pairs].
local function steps_of(self, positions, x)
  local function own(name)
    return self[name]:to(x:dtype())
  end
  local unit = normalized(x, self.heads)
  local phases = positions:keep(self, "inputs", x, function()
    return core.linear(core.linear(unit, own "down_weight"), own "up_weight")
  end)
  local tau = own("tau"):view { -1, 1 }
  local kernel, time = own "convolution_weight" * tau, x:size(2)
  local before = math.min(phases:size(2) - time, kernel:size(2) - 1)
  local last = phases:narrow(2, phases:size(2) - time - before + 1, before + time)
  local steps = core.causal_convolution(last, kernel):narrow(2, before + 1, time):contiguous()
    :view { x:size(1), time, self.heads, self.dim // 2 }
  if self.log_bias then
    steps = steps + own "log_bias":exp() * tau:view { self.heads, self.dim // 2 }
  end
  if self.gate then
    local gate = core.linear(unit, own "gate_weight", own "gate_bias"):sigmoid()
    steps = steps * gate:unsqueeze(4)
  end
  return steps
end

return {
  takes = { class = "SelectiveOptions",
    { "dim", "size", nil, "features of a head" },
    { "heads", "size", nil, "number of heads" },
    { "d_model", "size", nil, "features of the input of a layer" },
    { "rotate", "string", "qk", 'which tensors are rotated: any letters of "qkvo"' },
    { "rank", "size", 16, "of W₂ W₁" },
    { "convolution", "boolean", true, "sum f over `width` tokens with trained weights" },
    { "width", "size", 4, "tokens of the convolution" },
    { "bias", "boolean", false, "add exp b to each angle" },
    { "gate", "boolean", false, "multiply the angles of a head by a gate" },
    { "base", "positive", 500000, "of the factors τ" },
  },
  per_layer = true,
  state = { "inputs", "step" },
  init = function(self)
    local heads, pairs, tau = self.heads, accumulate.frequencies(self)
    self.tau = tau
    if self.d_model % heads ~= 0 then
      error(("selective: expected d_model to be a multiple of heads, got %d and %d"):format(
        self.d_model, heads), 0)
    end
    self.down_weight = trained.table(self.rank, self.d_model)
    self.up_weight = trained.table(heads * pairs, self.rank)
    self.decays = { "down_weight", "up_weight" }
    if self.convolution then
      self.convolution_weight = trained.table(heads * pairs, self.width)
      table.insert(self.decays, "convolution_weight")
    else
      self.convolution_weight = core.tensor({ { -1, 1 } }):expand { heads * pairs, 2 }:contiguous()
    end
    if self.bias then
      self.log_bias = core.zeros({ heads, pairs }):parameter()
    end
    self.bias = nil -- also the name of a method
    if self.gate then
      self.gate_weight = trained.table(heads, self.d_model)
      self.gate_bias = core.zeros({ heads }):parameter()
      table.insert(self.decays, "gate_weight")
    end
  end,
  turns = function(self, part, positions, x)
    return accumulate.turns(self, part, positions, x, function()
      return steps_of(self, positions, x)
    end)
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    batch, keys, heads = x.shape[0], x.shape[1], q.shape[1]
    unit = x.view(batch, keys, heads, -1)
    unit = (unit * torch.rsqrt(unit.square().sum(-1, keepdim=True) + 1e-6)).flatten(2)
    f = F.linear(F.linear(unit, self.down_weight), self.up_weight).transpose(1, 2)
    kernel = self.convolution_weight[:, None]  # [heads * pairs, 1, width]  #? convolution
    step = F.conv1d(F.pad(f, (kernel.shape[2] - 1, 0)), kernel, groups=len(f[0]))  #? convolution
    step = f - F.pad(f, (1, -1))  #? not convolution
    step = step.view(batch, heads, -1, keys).transpose(2, 3)  # [batch, heads, keys, pairs]
    step = step + self.log_bias.exp()[:, None]  #? bias
    gate = F.linear(unit, self.gate_weight, self.gate_bias).sigmoid()  #? gate
    step = step * gate.transpose(1, 2)[..., None]  #? gate
    angle = step.double().cumsum(2) * powers(self.base, q.shape[-1], q.device)
    return turned(self, q, k, v, angle)
]],
  relative = true,
  summary = "RoPE with angles from the input, summed over the tokens between key and query",
  formula = function(o)
    local step = o.bias and "(w_s + exp b)" or "w_s"
    return equation.text { rotate = o.rotate, at = { "Φ" },
      before = ("Φ_t = τ Σ_{s<=t} %s%s"):format(o.gate and "sigmoid(u · x̂_s + a) " or "", step),
      after = o.convolution and "w = conv(W₂ W₁ x̂)" or "w_t = W₂ W₁ (x̂_t − x̂_{t−1})" }
  end,
  source = "Selective RoPE, Movahedi et al. 2026, arXiv 2511.17388, and its released code",
}
