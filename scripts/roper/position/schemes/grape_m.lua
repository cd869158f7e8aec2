--- RoPE with trained frequencies, and positions that the content chooses (GRAPE-M, Zhang et al.
--- 2026). Each token advances the phase by a step between 0 and 1; a pair of features is rotated by
--- the phase times its frequency. Steps are computed from the input of the layer: outside a model,
--- pass it as the option `input`. A cache keeps the steps of earlier tokens. With `context =
--- false`, the phase is the position, and only the frequencies are trained.
---
---     R rotates pair t by Φ exp(l_t),   Φ_p = Σ_{s<p} sigmoid((w · x_s + b) / 16)
---     without context: R rotates pair t by p exp(l_t / 16)
---
--- The features of a pair are t and t + dim/2. The frequencies are initialized like those of RoPE;
--- w is initially 0 and softplus(b) 0.001, so each step is 0.39. The divisor 16 slows the training
--- of steps and, without context, of frequencies.
---
--- The paper leaves the function of the steps open; sigmoid, divisor and initial values follow the
--- authors' code. That code rotates in the other direction; this is equivalent, up to the signs of
--- the second feature of each pair. It also normalizes queries and keys after the rotation, which
--- this scheme does not. In the paper, planes that do not commute form a generator that rotates
--- pairs in another basis. The projections of queries and keys can contain this basis, so there is
--- no option for it.
---
--- Errors: `dim` is missing or odd; `rotate` has other letters; `heads` is missing with `per_head`
--- or `step_per_head`; with context, `d_model` is missing, attention is not causal, or there is no
--- input for a key.
---
---     > grape = roper.position.grape_m{dim = 4, context = false}
---     > q = roper.randn{1, 1, 3, 4}
---     > o = roper.attention(q, q, q, {position = grape})
---     > rope = roper.attention(q, q, q, {position = "rope"})
---     > (o - rope):abs():max():item() < 1e-5
---     true
---     > grape = roper.position.grape_m{dim = 4, d_model = 2}
---     > options = {position = grape, input = roper.ones{1, 3, 2}, causal = true}
---     > roper.attention(q, q, q, options):shape()
---     {1, 1, 3, 4}
---@param options GrapeMOptions
---@return Scheme scheme
local core = require "roper.core"
local equation = require "roper.position.equation"
local frequencies = require "roper.position.frequencies"

local DIVISOR <const> = 16

-- The angles of all keys, [batch, 1 or heads, keys, pairs].
local function angles_of_keys(self, positions, x)
  local step = positions:keep(self, "step", x, function()
    local logit = core.linear(x, self.step_weight:to(x:dtype()), self.step_bias:to(x:dtype()))
    return (logit / DIVISOR):sigmoid():to "float64"
  end)
  local phase = (step:cumsum(2) - step):transpose(2, 3):unsqueeze(4)
  return phase * self.log_theta:to("float64"):exp():view { -1, 1, self.dim // 2 }
end

return {
  takes = { class = "GrapeMOptions",
    { "dim", "size", nil, "features of a head" },
    { "heads", "size?", nil, "required with `per_head` or `step_per_head`" },
    { "d_model", "size?", nil, "features of the input of a layer; required with `context`" },
    { "context", "boolean", true, "the phase is a sum of steps; otherwise the position" },
    { "per_head", "boolean", false, "separate frequencies for each head" },
    { "step_per_head", "boolean", false, "separate steps for each head" },
    { "base", "positive", 10000, "base of the initial frequencies" },
    { "rotate", "string", "qk", 'which tensors are rotated: any letters of "qkvo"' },
  },
  per_layer = true,
  init = function(self)
    local pairs_of = frequencies.rotated("grape_m", { dim = self.dim, fraction = 1,
      rotate = self.rotate }) // 2
    for option, is_used in pairs { heads = self.per_head or self.step_per_head,
      d_model = self.context } do
      if is_used and not self[option] then
        error(("grape_m: option %s: expected a number, got nil"):format(option), 0)
      end
    end
    local log_theta = core.tensor(frequencies.powers(self.base, 2 * pairs_of)):log()
    if self.per_head then
      log_theta = log_theta:expand { self.heads, pairs_of }:contiguous()
    end
    self.log_theta = (self.context and log_theta or log_theta * DIVISOR):parameter()
    if self.context then
      self.state = { "step" }
      local steps = self.step_per_head and self.heads or 1
      self.step_weight = core.zeros({ steps, self.d_model }):parameter()
      self.step_bias = core.full({ steps }, math.log(math.exp(1e-3) - 1)):parameter()
      self.decays = { "step_weight" }
    end
  end,
  turns = function(self, part, positions, x)
    if not self.rotate:find(part, 1, true) then
      return nil
    end
    local is_of_query = part == "q" or part == "o"
    if self.context then
      local angle = positions:once(self, "angle", function()
        return angles_of_keys(self, positions, x)
      end)
      return is_of_query and positions:of_queries(angle, 3) or angle
    end
    return frequencies.angles(self.name, is_of_query and positions.query or positions.key,
      (self.log_theta:to "float64" / DIVISOR):exp(),
      frequencies.origin(self.rotate, part, positions))
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    step = (F.linear(x, self.step_weight, self.step_bias) / 16).sigmoid().double()  #? context
    phase = (step.cumsum(1) - step).transpose(1, 2)[..., None]  #? context
    theta = self.log_theta.double().exp()  #? context
    phase = positions[:, None, :, None]  #? not context
    theta = (self.log_theta.double() / 16).exp()  #? not context
    theta = theta[:, None]  # [heads, 1, pairs]  #? per_head
    return turned(self, q, k, v, phase * theta)
]],
  relative = true,
  summary = "RoPE with trained frequencies; by default, the content also chooses positions",
  formula = function(o)
    if not o.context then
      return equation.text { rotate = o.rotate,
        after = "R_p rotates pair t by p exp(l_t / 16), l trained" }
    end
    return equation.text { rotate = o.rotate, at = { "Φ" },
      after = "R_Φ rotates pair t by Φ exp(l_t), Φ_p = Σ_{s<p} sigmoid((w · x_s + b) / 16)" }
  end,
  source = "GRAPE-M, Zhang et al. 2026, sections 3 and 5; gates of the authors' code",
}
