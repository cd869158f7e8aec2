--- Loads the C part of the library, with a short OpenMP spin time.
--
-- By default, a thread that waits for others spins for milliseconds. If other programs use the
-- machine too, this slows training several times; spinning briefly costs almost nothing on an idle
-- machine. OpenMP reads the variable when it is loaded.
local uv = require "luv"

if not uv.os_getenv "GOMP_SPINCOUNT" and not uv.os_getenv "OMP_WAIT_POLICY" then
  uv.os_setenv("GOMP_SPINCOUNT", "10000")
end

return require "roper.native"
