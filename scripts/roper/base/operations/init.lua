--- Tensor operations composed of other operations, in Lua. Each is both a function of the library
--- and a method of tensors.
local tables = require "roper.base.tables"

return tables.merged((require "roper.base.operations.elements"),
  (require "roper.base.operations.order"), (require "roper.base.operations.reductions"))
