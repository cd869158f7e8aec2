--- The C half of the library, after OpenMP was told to be a good neighbour.
--
-- By default a thread that waits for others burns its processor for milliseconds. On a machine
-- that other programs use too, that slows training several times over; a short wait costs next to
-- nothing on an idle one. OpenMP reads this when it is loaded, so it must be set before.
local uv = require "luv"

if not uv.os_getenv "GOMP_SPINCOUNT" and not uv.os_getenv "OMP_WAIT_POLICY" then
  uv.os_setenv("GOMP_SPINCOUNT", "10000")
end

return require "roper.native"
