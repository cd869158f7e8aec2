--- Checks fields of a training run that only have an effect together with others.
local M = {}

-- Field, the field that it needs, and its value; nil: any.
local NEEDS <const> = {
  { "momentum", "optimizer", "sgd" }, { "nesterov", "momentum" },
  { "min_delta", "patience" }, { "monitor", "patience" },
}

-- Fields of Adam only.
local ADAM <const> = { "beta1", "beta2", "adam_epsilon" }

--- Raises an error if a field has no effect in a configuration, or asks for a step after the last.
---
--- Errors: as above.
---@param config table
function M.check(config)
  for _, row in ipairs(NEEDS) do
    local name, other, value = row[1], row[2], row[3]
    local is_met = config[other] and (value == nil or config[other] == value)
    if config[name] and not is_met then
      error(("field %s: has an effect only with %s=%s"):format(name, other, value or "..."), 0)
    end
  end
  for _, name in ipairs(config.optimizer == "sgd" and ADAM or {}) do
    if config[name] then
      error(("field %s: has an effect only with optimizer=adam"):format(name), 0)
    end
  end
  for _, step in ipairs(M.snapshots(config)) do
    if step > config.steps then
      error(("field snapshots: expected steps up to the last, %d, got %d"):format(config.steps,
        step), 0)
    end
  end
end

--- Returns the steps of the snapshots of a configuration.
---@param config table
---@return integer[] steps
function M.snapshots(config)
  local steps = {}
  for digits in tostring(config.snapshots or ""):gmatch "%d+" do
    steps[#steps + 1] = math.tointeger(tonumber(digits))
  end
  return steps
end

return M
