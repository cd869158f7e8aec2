--- Loads the C part of the library, with a short OpenMP spin time.
--
-- By default, a thread that waits for others spins for milliseconds. If other programs use the
-- machine too, this slows training several times; spinning briefly costs almost nothing on an idle
-- machine. OpenMP reads the variable when it is loaded.

-- Requires a C module, and no Lua file of its name: an interpreter whose search path ends with the
-- current folder, as Lua's does, would take that file first.
local function require_c(name)
  local path = package.path
  package.path = ""
  local ok, module = pcall(require, name)
  package.path = path
  return ok and module or error(module, 0)
end

local uv = require_c "luv"

if not uv.os_getenv "GOMP_SPINCOUNT" and not uv.os_getenv "OMP_WAIT_POLICY" then
  uv.os_setenv("GOMP_SPINCOUNT", "10000")
end

-- Virtual memory, in MB, that OpenBLAS reserves for each thread (two buffers), and that the rest
-- needs.
local FOR_THREAD <const>, FOR_REST <const> = 256, 128

-- Raises an error if `ulimit -v` allows too little virtual memory: OpenBLAS would wait for it
-- forever.
local function check_limit()
  local file <close> = io.open "/proc/self/limits"
  local allowed = file and (file:read "a" or ""):match "Max address space%s+(%d+)"
  if not allowed then
    return
  end
  local threads = uv.available_parallelism()
  for _, name in ipairs { "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS" } do
    threads = math.min(threads, tonumber((os.getenv(name) or ""):match "^%d+") or threads)
  end
  local needed = FOR_REST + FOR_THREAD * threads
  if tonumber(allowed) < needed << 20 then
    error(("roper needs %d MB of virtual memory for %d thread%s, but ulimit -v allows %d MB; raise "
      .. "it%s"):format(needed, threads, threads > 1 and "s" or "", tonumber(allowed) >> 20,
        threads > 1 and " or set OMP_NUM_THREADS=1" or ""), 0)
  end
end

check_limit()

require_c "roper.native"
