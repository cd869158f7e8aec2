--- Where the library lies.
local M = {}

--- The folder of these files; lessons and experiments lie beside it.
M.LIBRARY = debug.getinfo(1, "S").source:match "^@(.*)/base/place%.lua$" or "scripts/roper"

return M
