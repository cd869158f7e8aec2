--- Submits sweeps to a Slurm cluster: a job array whose tasks are workers of one sweep in a shared
--- folder.
local files = require "roper.base.file"
local module_path = require "roper.base.module_path"
local tables = require "roper.base.tables"
local uv = require "luv"
local word = require("roper.base.escape").word

local M = {}

-- SIGINT a minute before the time limit lets a worker release its trial. The log of task %a of job
-- %A is in the folder from which the script is submitted.
local SCRIPT <const> = [[
#!/bin/sh
# Workers of a sweep. Submit it from this folder: sbatch slurm.sh
#SBATCH --job-name=%s
#SBATCH --array=1-%d
#SBATCH --cpus-per-task=%d
#SBATCH --signal=B:INT@60
#SBATCH --output=slurm-%%A-%%a.log
cd %s || exit 1
export OMP_NUM_THREADS=%d LUA_PATH_5_4=%s LUA_CPATH_5_4=%s
exec %s -e %s
]]

--- Writes the batch script of a sweep.
---@param folder string of the sweep
---@param options table jobs: number of array tasks; threads: of each task
---@return string path
function M.write(folder, options)
  local root = assert(uv.fs_realpath(folder))
  local path = root .. "/slurm.sh"
  local more = {}
  for i, file in ipairs(require("roper.base.load_option").paths()) do
    more[i] = (', "--load", %q'):format(file)
  end
  local code = ('os.exit(require("roper.workbench.session.cli").main { "sweep", %q, "--worker", '
    .. '"--threads", "%d"%s })'):format(root, options.threads, table.concat(more))
  local lua_path, c_path = module_path.for_child()
  files.write(path, SCRIPT:format(root:match "[^/]*$":gsub("[^%w_.-]", "_"), options.jobs,
    options.threads, word(uv.cwd()), options.threads, word(lua_path), word(c_path),
    word(uv.exepath()), word(code)))
  return path
end

--- Writes the batch script of a sweep and submits it.
---
--- Errors: sbatch fails.
---@param folder string of the sweep
---@param options table jobs, threads: as for `write`; options: of sbatch, "--time=1:00:00"
---@return string job the number of the job
---@return string path of the script
function M.submit(folder, options)
  local path = M.write(folder, options)
  local words = tables.map(options.options or {}, word)
  local pipe = assert(io.popen(("cd %s && sbatch --parsable %s slurm.sh 2>&1"):format(
    word(path:match "^(.*)/"), table.concat(words, " "))))
  local answer = pipe:read "a"
  local ok = pipe:close()
  local job = ("\n" .. answer):match "\n(%d+)[;\n]"
  if not ok or not job then
    error(("sweep: sbatch rejected %s: %s"):format(path, answer:match "^%s*(.-)%s*$"), 0)
  end
  return job, path
end

return M
