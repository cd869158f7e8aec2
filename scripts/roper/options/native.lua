--- Declares the options of functions in C. Their rows are in the bindings.
local core = require "roper.core"
local options_of = require "roper.options.rows"

for _, rows in ipairs(core.options) do
  options_of.define(rows.class, rows)
end
