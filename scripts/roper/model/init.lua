--- The parts of a transformer (Vaswani et al. 2017), in plain Lua over the core's operations.
---
--- A module is a table: its tensors that are parameters, its modules and its lists of modules are
--- found by walking its fields in the order of their names, so a field can be replaced by hand and
--- the model is still whole; what several fields share is found once. Calling a module runs its
--- forward pass.
require "roper.model.checkpoint" -- for Module:save and Module:load
require "roper.model.trace" -- for Module:trace

local M = { class = require("roper.model.module").class }

for _, part in ipairs { "layers", "sequential", "attention", "transformer" } do
  for name, make in pairs(require("roper.model." .. part)) do
    M[name] = make
  end
end

return M
