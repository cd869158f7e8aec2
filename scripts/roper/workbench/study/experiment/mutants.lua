--- Mutants: position schemes with a deliberate mistake, for comparison in experiments. Each is a
--- file in scripts/experiments/mutants. The field `position` takes their names, too.
local files = require "roper.base.file"

---@class Mutant
---@field summary string
---@field position string the correct scheme
---@field revision? integer = 1; see `Scheme`
---@field change fun(model: Transformer) adds the mistake to a model with the correct scheme

local FOLDER <const> = require("roper.base.paths").LIBRARY .. "/../experiments/mutants"

local M = {} ---@type table<string, Mutant>

for _, name in ipairs(files.modules(FOLDER)) do
  M[name] = dofile(("%s/%s.lua"):format(FOLDER, name))
end

return M
