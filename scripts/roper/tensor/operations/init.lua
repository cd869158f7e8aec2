--- Tensor operations composed of other operations, in Lua. Each is both a function of the library
--- and a method of tensors.
local tables = require "roper.base.tables"

return tables.merged((require "roper.tensor.operations.elements"),
  (require "roper.tensor.operations.order"), (require "roper.tensor.operations.reductions"))
