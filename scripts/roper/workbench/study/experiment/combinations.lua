--- Checks fields of a training run that only have an effect together with others.
local optimizers = require "roper.workbench.study.experiment.optimizers"

local M = {}

-- Fields, each with the field that it needs.
local NEEDS <const> = { { "min_delta", "patience" }, { "monitor", "patience" } }

--- Raises an error if a field has no effect in a configuration, or asks for a step after the last.
---
--- Errors: as above.
---@param config table
function M.check(config)
  for _, row in ipairs(NEEDS) do
    if config[row[1]] and not config[row[2]] then
      error(("field %s: has an effect only with %s=..."):format(row[1], row[2]), 0)
    end
  end
  optimizers.check(config)
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
