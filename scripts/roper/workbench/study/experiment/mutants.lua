--- Mistakes made on purpose, by name, for experiments alone: the files of
--- scripts/experiments/mutants. The field `position` takes their names beside those of the schemes.
local files = require "roper.base.file"

---@class Mutant
---@field summary string
---@field position string the scheme that it is a mistake in
---@field revision? integer = 1; as of a scheme
---@field change fun(model: Transformer) makes the mistake in a model with that scheme

local FOLDER <const> = require("roper.base.paths").LIBRARY .. "/../experiments/mutants"

local M = {} ---@type table<string, Mutant>

for _, name in ipairs(files.modules(FOLDER)) do
  M[name] = dofile(("%s/%s.lua"):format(FOLDER, name))
end

return M
