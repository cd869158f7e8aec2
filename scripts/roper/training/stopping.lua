--- Early stopping: ends training when a measure of the evaluations no longer improves.
local M = {}

local Stopping = {}
Stopping.__index = Stopping

--- Creates the state of early stopping, before the first evaluation.
---@param options TrainOptions monitor, or best; mode; patience; min_delta; evaluate_every
---@return table stopping with the method `update`
function M.new(options)
  return setmetatable({ name = options.monitor or options.best, mode = options.mode,
    patience = options.patience, min_delta = options.min_delta, every = options.evaluate_every,
    best = nil, waited = 0 }, Stopping)
end

-- Returns true if a value improves on the best one by more than min_delta. NaN never does.
local function improves(self, value)
  if type(value) ~= "number" or value ~= value then
    return false
  elseif not self.best then
    return true
  end
  local change = self.mode == "max" and value - self.best or self.best - value
  return change > self.min_delta
end

--- Counts an entry of the metrics if it belongs to a regular evaluation. An additional evaluation
--- at the last step does not count, because a longer run does not have it.
---@param entry table
---@return boolean is_due true if training should stop
function Stopping:update(entry)
  if self.waited < self.patience and entry.step % self.every == 0 then
    if improves(self, entry[self.name]) then
      self.best, self.waited, self.step = entry[self.name], 0, entry.step
    else
      self.waited = self.waited + 1
    end
  end
  return self.waited >= self.patience
end

return M
