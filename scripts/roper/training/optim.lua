--- Optimizers and learning-rate schedules. An optimizer updates parameters by their gradients and
--- keeps the state of each parameter by its index in the list of parameters.
local arguments = require "roper.options.arguments"
local arity = require "roper.base.arity"
local core = require "roper.core"
local options_of = require "roper.options.rows"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"

local M = {}

local function class(methods)
  methods.__index = methods
  return methods
end

local function check_distinct(name, parameters)
  local indices = {}
  for i, parameter in ipairs(parameters) do
    arguments.check(name, "parameters: element " .. i, "tensor", parameter)
    if indices[parameter] then
      error(("%s: expected each parameter once, got number %d again as number %d"):format(name,
        indices[parameter], i), 0)
    end
    indices[parameter] = i
  end
end

-- Returns the factor that clips the norm of all gradients together to `limit` (Pascanu et al.
-- 2013). `norm` is this norm, if it is known.
local function clip_scale(parameters, limit, norm)
  if not limit then
    return 1
  end
  norm = norm or core.gradient_norm(parameters)
  if norm ~= norm or norm == math.huge then
    error(("optimizer: the gradient norm is %s; check loss and gradients for infinity and NaN")
      :format(norm), 0)
  end
  return norm > limit and limit / norm or 1
end

-- Creates an optimizer of a kind with the options that `rows` declare; `name` is used in messages
-- and defaults to that of the kind. Call it as a tail call, so that errors point to the caller.
local function new(kind, options, rows, name)
  name = name or kind.name
  local o = options_of.check(name, options, rows)
  if o.clip and o.clip <= 0 then
    error(("%s: clip: expected a number above 0, got %g"):format(name, o.clip), 2)
  end
  return setmetatable({ options = o, count = 0, state = {} }, kind)
end

-- Returns the rate of a step, counted from 1.
local function rate_at(o, count)
  return o.rate * (o.schedule and o.schedule(count) or 1)
end

-- Returns the rate of the last step; nil before the first.
local function last_rate(self)
  return self.count > 0 and rate_at(self.options, self.count) or nil
end

-- Returns true if the options select a parameter for weight decay.
local function decays(parameter, o)
  return o.decay_on ~= "matrices" or parameter:rank() >= 2 and schemes.decays(parameter)
end

-- Takes a step of any optimizer: `update(parameter, state, settings)` for each parameter that has a
-- gradient. `decay` names the setting that is 0 for parameters that do not decay. Everything that
-- needs memory is done before the first update, since an error between two updates would leave
-- parameters of different steps.
local function advance(self, parameters, done, norm, settings, decay, update)
  local o, count = self.options, self.count + 1
  check_distinct(self.name, parameters)
  local scale = clip_scale(parameters, o.clip, norm)
  local moments = o.momentum == 0 and {} or self.moments -- SGD without momentum keeps none
  local how = tables.merged(settings(o, count), { l2 = o.l2, gradient_scale = scale,
    rate = rate_at(o, count) })
  local without_decay = tables.merged(how, { [decay] = 0 })
  local work = {}
  for i, parameter in ipairs(parameters) do
    if parameter.grad then
      local state = self.state[i] or {}
      for _, name in ipairs(moments) do
        state[name] = state[name] or core.zeros(parameter:shape(), parameter:dtype())
      end
      self.state[i] = next(state) and state
      work[#work + 1] = { parameter, state, decays(parameter, o) and how or without_decay }
    end
  end
  self.count = count
  for _, one in ipairs(work) do
    update(one[1], one[2], one[3])
  end
  if done then
    done()
  end
end

--- Adam with its state, created by `roper.optim.Adam`.
---@class Adam
---@field options AdamOptions
---@field count integer steps so far
---@field state table[] the moments of each parameter, by its index in the list
---@field moments string[] names of the moments
local Adam = class { name = "Adam", options_class = "AdamOptions",
  moments = { "mean", "variance" } }

options_of.define("OptimizerOptions", {
  { "l2", "number", 0, "l2 times the parameter is added to the gradient" },
  { "clip", "number?", nil, "maximum norm of all gradients together (Pascanu et al. 2013)" },
  { "schedule", "function?", nil, "returns a factor of the rate for each step, from 1",
    type = "fun(step: integer): number" },
})

local ADAM <const> = options_of.define("AdamOptions", {
  parent = "OptimizerOptions",
  { "rate", "amount", 1e-3 },
  { "beta1", "probability", 0.9 },
  { "beta2", "probability", 0.999 },
  { "epsilon", "number", 1e-8 },
  { "decay", "number", 0, "weight decay, decoupled from the gradient (AdamW)" },
  { "decay_on", { "all", "matrices" }, nil, "the parameters that decay. \"matrices\": weights and "
    .. "embeddings, which are parameters of two or more axes; not gains, biases or parameters of "
    .. "position schemes, unless a scheme lists them in its `decays`", shown = '"all"' },
})

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
  return new(Adam, options, ADAM)
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
  return new(Adam, options, ADAMW, "AdamW")
end

local function adam_settings(o, count)
  return { beta1 = o.beta1, beta2 = o.beta2, epsilon = o.epsilon, decay = o.decay,
    correction1 = 1 - o.beta1 ^ count, correction2 = 1 - o.beta2 ^ count }
end

local function adam_update(parameter, state, settings)
  core.adam_step(parameter, state.mean, state.variance, settings)
end

--- Updates every parameter that has a gradient. Ctrl-C takes effect after all of them are updated.
---
--- Errors: `clip` is set and the gradient norm is not finite; a parameter is listed twice.
---
---     > w = roper.tensor{1}:parameter()
---     > (w * 3):sum():backward()
---     > roper.optim.Adam{rate = 0.5}:step{w}
---     > w
---     float32 [1]
---     0.5000
---@param parameters tensor[] the same list at each step
---@param done? fun() called after the updates, before Ctrl-C can take effect
---@param norm? number the norm of all gradients together, if it is known
function Adam:step(parameters, done, norm)
  arguments.self("Adam:step", self, Adam)
  arguments.check("step", "parameters", "table", parameters, "done", "function?", done,
    "norm", "number?", norm)
  core.interrupt_defer(advance, self, parameters, done, norm, adam_settings, "decay", adam_update)
end

--- Returns the learning rate of the last step, with its schedule.
---
---     > adam = roper.optim.Adam{rate = 0.5}
---     > adam:step{roper.tensor{1}:parameter()}
---     > adam:last_rate()
---     0.5
---@return number? rate nil before the first step
function Adam:last_rate()
  arguments.self("Adam:last_rate", self, Adam)
  return last_rate(self)
end

--- Stochastic gradient descent with its state, created by `roper.optim.SGD`.
---@class SGD
---@field options SGDOptions
---@field count integer steps so far
---@field state table[] the velocity of each parameter, by its index in the list
---@field moments string[] names of the moments: "velocity"
local SGD = class { name = "SGD", options_class = "SGDOptions", moments = { "velocity" } }

local SGD_OPTIONS <const> = options_of.define("SGDOptions", {
  parent = "OptimizerOptions",
  { "rate", "amount", 1e-2 },
  { "momentum", "number", 0 },
  { "nesterov", "boolean", false, "Nesterov momentum" },
  { "decay_on", { "all", "matrices" }, nil, "the parameters to whose gradients l2 times the "
    .. "parameter is added, as for Adam", shown = '"all"' },
})

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
  return new(SGD, options, SGD_OPTIONS)
end

local function sgd_settings(o)
  return { momentum = o.momentum, nesterov = o.nesterov }
end

local function sgd_update(parameter, state, settings)
  core.sgd_step(parameter, state.velocity, settings)
end

--- Updates every parameter that has a gradient. Ctrl-C takes effect after all of them are updated.
---
--- Errors: `clip` is set and the gradient norm is not finite; a parameter is listed twice.
---
---     > w = roper.tensor{1}:parameter()
---     > (w * 3):sum():backward()
---     > roper.optim.SGD{rate = 0.1}:step{w}
---     > w
---     float32 [1]
---     0.7000
---@param parameters tensor[] the same list at each step
---@param done? fun() called after the updates, before Ctrl-C can take effect
---@param norm? number the norm of all gradients together, if it is known
function SGD:step(parameters, done, norm)
  arguments.self("SGD:step", self, SGD)
  arguments.check("step", "parameters", "table", parameters, "done", "function?", done,
    "norm", "number?", norm)
  core.interrupt_defer(advance, self, parameters, done, norm, sgd_settings, "l2", sgd_update)
end

--- Returns the learning rate of the last step, with its schedule.
---
---     > sgd = roper.optim.SGD{rate = 0.5}
---     > sgd:step{roper.tensor{1}:parameter()}
---     > sgd:last_rate()
---     0.5
---@return number? rate nil before the first step
function SGD:last_rate()
  arguments.self("SGD:last_rate", self, SGD)
  return last_rate(self)
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

arity.limit(Adam)
arity.limit(SGD)
arity.limit(M.schedule)

return M
