--- Optimizers: their declarations and their steps. An optimizer updates parameters by their
--- gradients and keeps the state of each parameter by its index in the list of parameters.
local arguments = require "roper.options.arguments"
local arity = require "roper.options.arity"
local core = require "roper.core"
local options_of = require "roper.options.rows"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"

local M = {}

--- The declaration of an optimizer. Options, help, checkpoints and the fields of experiments follow
--- from it.
---@class OptimizerKind
---@field name string of its constructor in `roper.optim`
---@field field string its value of the field `optimizer` of experiments
---@field options_class string
---@field rows OptionRow[] its options besides those of `OptimizerOptions`
---@field fields table[] options that are fields of experiments: {option, name of the field}
---@field needs? table[] {field, the field without which it has no effect}
---@field decay string the option for weight decay
---@field moments string[] names of the tensors that it keeps for each parameter
---@field keeps? fun(options: table): boolean whether it keeps moments; always, by default
---@field settings_of fun(options: table, count: integer): table settings of a step
---@field update function one step: (parameter, moments..., settings)
---@field class? Optimizer of its objects, from `declare`

--- All declared optimizers; the first is the default of experiments.
---@type OptimizerKind[]
M.kinds = {}

--- An optimizer with its state, such as `roper.optim.Adam` creates.
---@class Optimizer
---@field name string
---@field options OptimizerOptions
---@field count integer steps so far
---@field state table[] the moments of each parameter, by its index in the list
---@field moments string[] names of the moments
local Optimizer = { is_optimizer = true }
Optimizer.__index = Optimizer

options_of.define("OptimizerOptions", {
  { "l2", "number", 0, "l2 times the parameter is added to the gradient" },
  { "clip", "number?", nil, "maximum norm of all gradients together (Pascanu et al. 2013)" },
  { "schedule", "function?", nil, "returns a factor of the rate for each step, from 1",
    type = "fun(step: integer): number" },
})

--- Declares an optimizer.
---@param kind OptimizerKind
---@return OptimizerKind kind
function M.declare(kind)
  kind.class = setmetatable({ name = kind.name, options_class = kind.options_class, kind = kind,
    moments = kind.moments }, Optimizer)
  kind.class.__index = kind.class
  kind.rows.parent = "OptimizerOptions"
  kind.rows = options_of.define(kind.options_class, kind.rows)
  M.kinds[#M.kinds + 1] = kind
  return kind
end

--- Creates an optimizer. Call it as a tail call, so that errors point to the caller.
---@param kind OptimizerKind
---@param options? table
---@param rows? OptionRow[] the options, by default those of the declaration
---@param name? string for messages, by default that of the declaration
---@return Optimizer
function M.new(kind, options, rows, name)
  name = name or kind.name
  local o = options_of.check(name, options, rows or kind.rows)
  if o.clip and o.clip <= 0 then
    error(("%s: clip: expected a number above 0, got %g"):format(name, o.clip), 2)
  end
  return setmetatable({ options = o, count = 0, state = {} }, kind.class)
end

local function check_distinct(parameters)
  local indices = {}
  for i, parameter in ipairs(parameters) do
    arguments.check("step", "parameters: element " .. i, "tensor", parameter)
    if indices[parameter] then
      error(("step: expected each parameter once, got number %d again as number %d"):format(
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

-- Returns the rate of a step, counted from 1.
local function rate_at(o, count)
  return o.rate * (o.schedule and o.schedule(count) or 1)
end

-- Returns true if the options select a parameter for weight decay.
local function decays(parameter, o)
  return o.decay_on ~= "matrices" or parameter:rank() >= 2 and schemes.decays(parameter)
end

-- Takes a step. Everything that needs memory is done before the first update, since an error
-- between two updates would leave parameters of different steps.
local function advance(self, parameters, done, norm)
  local o, kind, count = self.options, self.kind, self.count + 1
  check_distinct(parameters)
  local scale = clip_scale(parameters, o.clip, norm)
  local moments = (not kind.keeps or kind.keeps(o)) and kind.moments or {}
  local how = tables.merged(kind.settings_of(o, count), { l2 = o.l2, gradient_scale = scale,
    rate = rate_at(o, count) })
  local without_decay = tables.merged(how, { [kind.decay] = 0 })
  local work = {}
  for i, parameter in ipairs(parameters) do
    if parameter.grad then
      local state = self.state[i] or {}
      for _, name in ipairs(moments) do
        state[name] = state[name] or core.zeros(parameter:shape(), parameter:dtype())
      end
      self.state[i] = next(state) and state
      local call = { parameter }
      for k, name in ipairs(kind.moments) do
        call[k + 1] = state[name]
      end
      call[#kind.moments + 2] = decays(parameter, o) and how or without_decay
      work[#work + 1] = call
    end
  end
  self.count = count
  for _, call in ipairs(work) do
    kind.update(table.unpack(call, 1, #kind.moments + 2))
  end
  if done then
    done()
  end
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
function Optimizer:step(parameters, done, norm)
  arguments.check("step", "parameters", "table", parameters, "done", "function?", done,
    "norm", "number?", norm)
  core.interrupt_defer(advance, self, parameters, done, norm)
end

--- Returns the learning rate of the last step, with its schedule.
---
---     > adam = roper.optim.Adam{rate = 0.5}
---     > adam:step{roper.tensor{1}:parameter()}
---     > adam:last_rate()
---     0.5
---@return number? rate nil before the first step
function Optimizer:last_rate()
  return self.count > 0 and rate_at(self.options, self.count) or nil
end

arity.limit(Optimizer, "Optimizer")

return M
