--- The parts of a transformer (Vaswani et al. 2017), in plain Lua on top of the core's operations.
---
--- A module is a table. Its parameters, its modules and its lists of modules are found by
--- traversing its fields in the order of their names, so any field can be replaced by assignment. A
--- value that several fields share is counted once. Calling a module runs its forward pass.
require "roper.model.checkpoint" -- for Module:save, Module:load and Module:with_hooks
require "roper.model.trace" -- for Module:trace

local M = { class = require("roper.model.module").class }

for _, part in ipairs { "layers", "short_convolution", "sequential", "attention", "transformer" } do
  for name, make in pairs(require("roper.model." .. part)) do
    M[name] = make
  end
end

require("roper.model.module").seal()

return M
