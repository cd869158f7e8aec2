--- Optimizers and learning-rate schedules. An optimizer holds the state of each parameter by its
--- place in the list it is given, and steps from the gradients that backward left.
local core = require "roper.core"
local options_of = require "roper.options"

local M = {}

local function optimizer(methods)
  methods.__index = methods
  return methods
end

--- Scale that clips the norm of all gradients together to `most` (Pascanu et al. 2013).
local function clip_scale(parameters, most)
  if not most then
    return 1
  end
  local norm = core.gradient_norm(parameters)
  if norm ~= norm or norm == math.huge then
    error(("optimizer: the gradient norm is %s; the loss or a gradient is not finite"):format(
      norm), 0)
  end
  return norm > most and most / norm or 1
end

local function check_rate(name, o)
  if o.rate < 0 then
    error(("%s: rate: expected a number from 0 on, got %g"):format(name, o.rate), 3)
  elseif o.clip and o.clip <= 0 then
    error(("%s: clip: expected a number above 0, got %g"):format(name, o.clip), 3)
  end
end

local Adam = optimizer { name = "Adam" }

--- Adam (Kingma and Ba 2015); with `decay`, AdamW (Loshchilov and Hutter 2019).
---@param options table? rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, decay = 0
---   (decoupled), l2 = 0 (added to the gradient), clip: most for the norm of all gradients,
---   schedule: a function of the step (from 1) that gives a factor of the rate
---@return Adam
function M.Adam(options)
  local o = options_of.check("Adam", options, { rate = { "number", 1e-3 },
    beta1 = { "probability", 0.9 }, beta2 = { "probability", 0.999 }, epsilon = { "number", 1e-8 },
    decay = { "number", 0 }, l2 = { "number", 0 }, clip = "number?",
    schedule = "function?" })
  check_rate("Adam", o)
  return setmetatable({ options = o, count = 0, state = {} }, Adam)
end

--- Change every parameter that has a gradient.
---@param parameters tensor[] the same list at each step
function Adam:step(parameters)
  local o = self.options
  local scale = clip_scale(parameters, o.clip)
  self.count = self.count + 1
  local settings = {
    rate = o.rate * (o.schedule and o.schedule(self.count) or 1),
    beta1 = o.beta1, beta2 = o.beta2, epsilon = o.epsilon, decay = o.decay, l2 = o.l2,
    correction1 = 1 - o.beta1 ^ self.count, correction2 = 1 - o.beta2 ^ self.count,
    gradient_scale = scale,
  }
  for i, parameter in ipairs(parameters) do
    if parameter.grad then
      local state = self.state[i]
      if not state then
        state = { mean = core.zeros(parameter:shape(), parameter:dtype()),
          variance = core.zeros(parameter:shape(), parameter:dtype()) }
        self.state[i] = state
      end
      core.adam_step(parameter, state.mean, state.variance, settings)
    end
  end
end

local SGD = optimizer { name = "SGD" }

--- Stochastic gradient descent.
---@param options table? rate = 1e-2, momentum = 0, nesterov = false, l2 = 0, clip, schedule as
---   for Adam
---@return SGD
function M.SGD(options)
  local o = options_of.check("SGD", options, { rate = { "number", 1e-2 },
    momentum = { "number", 0 }, nesterov = { "boolean", false }, l2 = { "number", 0 },
    clip = "number?", schedule = "function?" })
  check_rate("SGD", o)
  return setmetatable({ options = o, count = 0, state = {} }, SGD)
end

--- Change every parameter that has a gradient.
---@param parameters tensor[] the same list at each step
function SGD:step(parameters)
  local o = self.options
  local scale = clip_scale(parameters, o.clip)
  self.count = self.count + 1
  local settings = { rate = o.rate * (o.schedule and o.schedule(self.count) or 1),
    momentum = o.momentum, nesterov = o.nesterov, l2 = o.l2, gradient_scale = scale }
  for i, parameter in ipairs(parameters) do
    if parameter.grad then
      if o.momentum ~= 0 and not self.state[i] then
        self.state[i] = { velocity = core.zeros(parameter:shape(), parameter:dtype()) }
      end
      core.sgd_step(parameter, self.state[i] and self.state[i].velocity, settings)
    end
  end
end

--- Schedules: functions of the step, from 1, that give a factor of the learning rate.
M.schedule = {}

local function check_count(name, value, least)
  if math.type(value) ~= "integer" or value < least then
    error(("schedule.%s: expected a whole number from %d on, got %s"):format(name, least,
      tostring(value)), 3)
  end
end

--- Always 1.
function M.schedule.constant()
  return function()
    return 1
  end
end

--- Rise linearly over `warmup` steps, then fall along half a cosine to `least` at step `steps`.
---@param warmup integer
---@param steps integer
---@param least number? 0 by default
function M.schedule.cosine(warmup, steps, least)
  check_count("cosine: warmup", warmup, 0)
  check_count("cosine: steps", steps, 1)
  least = least or 0
  return function(step)
    if step <= warmup then
      return step / warmup
    end
    local done = math.min(1, (step - warmup) / math.max(1, steps - warmup))
    return least + (1 - least) * 0.5 * (1 + math.cos(math.pi * done))
  end
end

--- Rise linearly over `warmup` steps, then fall with the inverse square root of the step.
---@param warmup integer
function M.schedule.inverse_square_root(warmup)
  check_count("inverse_square_root: warmup", warmup, 1)
  return function(step)
    return math.min(step / warmup, (warmup / step) ^ 0.5)
  end
end

--- d_model^-0.5 min(step^-0.5, step warmup^-1.5) (Vaswani et al. 2017, eq. 3); use rate = 1.
---@param d_model integer
---@param warmup integer
function M.schedule.noam(d_model, warmup)
  check_count("noam: d_model", d_model, 1)
  check_count("noam: warmup", warmup, 1)
  return function(step)
    return d_model ^ -0.5 * math.min(step ^ -0.5, step * warmup ^ -1.5)
  end
end

return M
