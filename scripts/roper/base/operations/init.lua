--- Functions of tensors that are made of others, in a few lines of Lua: each is a function of the
--- library and a method of tensors.
local tables = require "roper.base.tables"

return tables.merged((require "roper.base.operations.elements"),
  (require "roper.base.operations.order"), (require "roper.base.operations.reductions"))
