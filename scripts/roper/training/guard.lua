--- Removes the files of Open MPI if mpirun was killed: the folder of its session, and the shared
--- memory of its ranks on this machine.
local uv = require "luv"

local M = {}

-- A shell that waits until this rank has ended, also if it was killed. mpirun removes its files
-- itself, unless it was killed, too; the ranks end after that.
-- $1: process of mpirun, $2: folder of its session, $3: pattern of files in shared memory. Without
-- IFS=, a space in $3 would split it.
local SCRIPT <const> = [[
IFS=
read _
[ -e "/proc/$1/exe" ] && exit
rm -rf -- "$2" $3
rmdir -- "${2%/*}"
]]

--- Starts the guard, on the first rank of each machine on which mpirun itself runs.
function M.start()
  local session = os.getenv "OMPI_MCA_orte_jobfam_session_dir" or ""
  local job = math.tointeger(tonumber(os.getenv "OMPI_MCA_ess_base_jobid"))
  local pid = session:match "/ompi%.[^/]+/pid%.(%d+)$"
  if not pid or not job or os.getenv "OMPI_COMM_WORLD_LOCAL_RANK" ~= "0" then
    return
  end
  local shared = ("%s/vader_segment.*.%x.*"):format(
    os.getenv "OMPI_MCA_btl_vader_backing_directory" or "/dev/shm", job)
  local input = uv.new_pipe()
  local handle = uv.spawn("sh", { args = { "-c", SCRIPT, "sh", pid, session, shared },
    stdio = { input }, detached = true })
  if handle then
    M.handles = { handle, input } -- a closed standard input would end the shell
  else
    input:close()
    uv.run "nowait" -- luv crashes at exit if the closed handle was never processed
  end
end

return M
