--- Optimizers and learning-rate schedules.
local arguments = require "roper.options.arguments"
local arity = require "roper.options.arity"
local core = require "roper.core"
local optimizer = require "roper.training.optimizer"
local options_of = require "roper.options.rows"

local M = {}

--- Adam with its state, created by `roper.optim.Adam`.
---@class Adam: Optimizer
---@field options AdamOptions
local Adam = optimizer.declare {
  name = "Adam", field = "adam", options_class = "AdamOptions",
  rows = {
    { "rate", "amount", 1e-3 },
    { "beta1", "probability", 0.9, "decay rate of the mean gradient" },
    { "beta2", "probability", 0.999, "decay rate of the mean squared gradient" },
    { "epsilon", "amount", 1e-8, "term in the denominator of a step" },
    { "decay", "number", 0, "weight decay, decoupled from the gradient (AdamW)" },
    { "decay_on", { "all", "matrices" }, nil, "the parameters that decay. \"matrices\": weights "
      .. "and embeddings, which are parameters of two or more axes; not gains, biases or "
      .. "parameters of position schemes, unless a scheme lists them in its `decays`",
      shown = '"all"' },
  },
  fields = { { "beta1", "beta1" }, { "beta2", "beta2" }, { "epsilon", "adam_epsilon" } },
  decay = "decay",
  moments = { "mean", "variance" },
  settings_of = function(o, count)
    return { beta1 = o.beta1, beta2 = o.beta2, epsilon = o.epsilon, decay = o.decay,
      correction1 = 1 - o.beta1 ^ count, correction2 = 1 - o.beta2 ^ count }
  end,
  update = core.adam_step,
}

local ADAMW <const> = options_of.define("AdamWOptions", {
  parent = "AdamOptions",
  { "decay", "number", 0.01, "weight decay, decoupled from the gradient" },
})

--- Creates an Adam optimizer (Kingma and Ba 2015, algorithm 1); with `decay`, it is AdamW
--- (Loshchilov and Hutter 2019).
---
---     m ← β₁ m + (1 − β₁) g, v ← β₂ v + (1 − β₂) g²
---     m̂ = m / (1 − β₁ᵗ),     v̂ = v / (1 − β₂ᵗ)
---     w ← w − rate (m̂ / (√v̂ + ε) + decay w)
---
--- Errors: rate is below 0; clip is not above 0.
---
---     > w = roper.tensor{3}:parameter()
---     > adam = roper.optim.Adam{rate = 0.1}
---     > for _ = 1, 100 do
---     >>   w.grad = nil
---     >>   (w ^ 2):sum():backward()
---     >>   adam:step{w}
---     >> end
---     > w:item() < 0.2
---     true
---@param options? AdamOptions
---@return Adam optimizer
function M.Adam(options)
  return optimizer.new(Adam, options)
end

--- Creates an Adam optimizer with decoupled weight decay (Loshchilov and Hutter 2019). It equals
--- `Adam` except that `decay` is 0.01 by default.
---
---     w ← w − rate (m̂ / (√v̂ + ε) + decay w)
---
--- Errors: as for `Adam`.
---
---     > w = roper.tensor{1}:parameter()
---     > (w * 0):sum():backward()
---     > roper.optim.AdamW{rate = 0.5, decay = 0.1}:step{w}
---     > w
---     float32 [1]
---     0.9500
---@param options? AdamWOptions
---@return Adam optimizer
function M.AdamW(options)
  return optimizer.new(Adam, options, ADAMW, "AdamW")
end

--- Stochastic gradient descent with its state, created by `roper.optim.SGD`.
---@class SGD: Optimizer
---@field options SGDOptions
local SGD = optimizer.declare {
  name = "SGD", field = "sgd", options_class = "SGDOptions",
  rows = {
    { "rate", "amount", 1e-2 },
    { "momentum", "amount", 0, "decay rate of the velocity" },
    { "nesterov", "boolean", false, "Nesterov momentum" },
    { "decay_on", { "all", "matrices" }, nil, "the parameters to whose gradients l2 times the "
      .. "parameter is added, as for Adam", shown = '"all"' },
  },
  fields = { { "momentum", "momentum" }, { "nesterov", "nesterov" } },
  needs = { { "nesterov", "momentum" } },
  decay = "l2",
  moments = { "velocity" },
  keeps = function(o)
    return o.momentum ~= 0
  end,
  settings_of = function(o)
    return { momentum = o.momentum, nesterov = o.nesterov }
  end,
  update = core.sgd_step,
}

--- Creates an optimizer for stochastic gradient descent, optionally with momentum.
---
---     v ← momentum v + g,   w ← w − rate v
---
--- Errors: rate is below 0; clip is not above 0.
---
---     > roper.optim.SGD{rate = 0.1, momentum = 0.9}.options.momentum
---     0.9
---@param options? SGDOptions
---@return SGD optimizer
function M.SGD(options)
  return optimizer.new(SGD, options)
end

-- Returns a schedule that checks its argument.
local function schedule(name, factor_of)
  return function(step)
    arguments.check(name, "step", "number", step)
    return factor_of(step)
  end
end

--- Learning-rate schedules: functions that return a factor of the rate for each step, from 1.
M.schedule = {}

--- Returns a schedule that is always 1.
---
---     > roper.optim.schedule.constant()(100)
---     1
---@return fun(step: integer): number factor
function M.schedule.constant()
  return function()
    return 1
  end
end

--- Returns a schedule with linear warm-up, then cosine decay (Loshchilov and Hutter 2017).
---
---     least + (1 − least) (1 + cos(π (step − warmup) / (steps − warmup))) / 2
---
--- Errors: warmup is not an integer of at least 0; steps is not an integer of at least 1.
---
---     > factor = roper.optim.schedule.cosine(10, 110)
---     > factor(5), factor(10), factor(60)
---     0.5	1.0	0.5
---@param warmup integer steps of warm-up
---@param steps integer the step at which the decay ends
---@param least? number = 0; the factor after the decay
---@return fun(step: integer): number factor
function M.schedule.cosine(warmup, steps, least)
  arguments.check("schedule.cosine", "warmup", "count", warmup, "steps", "size", steps,
    "least", "number?", least)
  least = least or 0
  return schedule("schedule.cosine", function(step)
    if step <= warmup then
      return step / warmup
    end
    local done = math.min(1, (step - warmup) / math.max(1, steps - warmup))
    return least + (1 - least) * 0.5 * (1 + math.cos(math.pi * done))
  end)
end

--- Returns a schedule with linear warm-up, then decay by the inverse square root of the step.
---
---     min(step / warmup, √(warmup / step))
---
--- Errors: warmup is not an integer of at least 1.
---
---     > factor = roper.optim.schedule.inverse_square_root(10)
---     > factor(5), factor(40)
---     0.5	0.5
---@param warmup integer steps of warm-up
---@return fun(step: integer): number factor
function M.schedule.inverse_square_root(warmup)
  arguments.check("schedule.inverse_square_root", "warmup", "size", warmup)
  return schedule("schedule.inverse_square_root", function(step)
    return math.min(step / warmup, (warmup / step) ^ 0.5)
  end)
end

--- Returns the schedule of Vaswani et al. 2017 (eq. 3); use it with rate = 1.
---
---     d_model^−½ min(step^−½, step warmup^−1.5)
---
--- Errors: d_model or warmup is not an integer of at least 1.
---
---     > factor = roper.optim.schedule.noam(100, 4)
---     > factor(4), factor(16)
---     0.05	0.025
---@param d_model integer
---@param warmup integer steps of warm-up
---@return fun(step: integer): number factor
function M.schedule.noam(d_model, warmup)
  arguments.check("schedule.noam", "d_model", "size", d_model, "warmup", "size", warmup)
  return schedule("schedule.noam", function(step)
    return d_model ^ -0.5 * math.min(step ^ -0.5, step * warmup ^ -1.5)
  end)
end

arity.limit(M.schedule)

return M
