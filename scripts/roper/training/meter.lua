--- Measurements of training steps for the metrics: gradient norm, learning rate, tokens a second,
--- memory.
local core = require "roper.core"

local M = {}

local Meter = {}
Meter.__index = Meter

--- Creates a meter without measurements.
---@param optimizer Optimizer
---@return table meter with the methods `count` and `fill`
function M.new(optimizer)
  return setmetatable({ optimizer = optimizer, tokens = 0, seconds = 0 }, Meter)
end

--- Counts a step.
---@param tokens integer predicted in it
---@param seconds number that it took
function Meter:count(tokens, seconds)
  self.tokens, self.seconds = self.tokens + tokens, self.seconds + seconds
end

--- Adds the measurements since the last entry to an entry of the metrics. A number from `evaluate`
--- that has the same name is kept.
---@param entry table
---@param norm? number the gradient norm of the last step
function Meter:fill(entry, norm)
  local rate = self.optimizer.last_rate and self.optimizer:last_rate()
  for name, value in pairs { gradient_norm = norm, rate = rate, memory = core.memory().peak,
    tokens_per_second = self.seconds > 0 and self.tokens / self.seconds or nil } do
    if entry[name] == nil then
      entry[name] = value
    end
  end
  self.tokens, self.seconds = 0, 0
end

return M
