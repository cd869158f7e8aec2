-- Commands in environments that lack something: memory, descriptors, a home folder, a terminal, an
-- output, a disk. Each command works, or it fails with a message.

local M = {}

local SWEEP <const> = "./roper sweep substring_index preset=smoke letters=3 length=41 d_model=16 "
  .. "problems=2 test_sequences=4 steps=4 evaluate_every=4 checkpoint_every=2 --jobs 1 --folder "

--- Name, shell command and a text of its output. F is an empty folder, and G one with a sweep.
M.COMMANDS = {
  { "version", "./roper --version", "roper 0" },
  { "eval", "./roper -e 'roper.ones{2}:sum():item()'", "2.0" },
  { "script", "echo 'print(1 + 1)' | ./roper", "2" },
  { "sweep", SWEEP .. "$F/sweep", "The runs are in" },
  { "report", "./roper report $G/sweep", "Report: " },
  { "lesson", "./roper lesson --check precision", "precision" },
}

local NO_OUTPUT <const> = "roper: cannot write all of standard output"

-- Prefix of the shell, suffix of the command, and what happens: "works", the message of the error,
-- or "may fail". Commands that are listed differ.
M.ENVIRONMENTS = {
  { "ulimit -v 400000", "", "works" },
  { "ulimit -v 150000", "", "roper needs 384 MB of virtual memory for 1 thread, "
    .. "but ulimit -v allows 146 MB; raise it" },
  { "ulimit -n 16", "", "may fail", version = "works", eval = "works", script = "works" },
  { "ulimit -n 8", "", "may fail" },
  { "export HOME=/dev/null", "", "works" },
  { "export HOME=/proc/none XDG_CACHE_HOME=/proc/none", "", "works" },
  { "unset HOME XDG_CACHE_HOME XDG_CONFIG_HOME XDG_STATE_HOME", "", "works" },
  { "unset TERM", "", "works" },
  { ":", ">&-", NO_OUTPUT },
  { ":", ">/dev/full", NO_OUTPUT },
  { "trap '' XFSZ; ulimit -f 1", "", "may fail", sweep = "large", report = "large" },
}

--- The command line of a command in an environment.
---@param environment table
---@param command table
---@return string
function M.line(environment, command)
  return ("export F G OMP_NUM_THREADS; %s; %s %s"):format(environment[1], command[2],
    environment[2])
end

--- Is a result as the environment requires it?
---@param environment table
---@param command table
---@param status integer
---@param output string
---@param errors string
---@return boolean
function M.fits(environment, command, status, output, errors)
  local expected = environment[ command[1] ] or environment[3]
  local works = status == 0 and output:find(command[3], 1, true) ~= nil
  local fails = status > 0 and status < 128 and errors ~= ""
    and not errors:find("attempt to", 1, true)
  if expected == "works" then
    return works
  elseif expected == "may fail" then
    return works or fails
  end
  return fails and errors:find(expected, 1, true) ~= nil
end

local function read(path)
  local file <close> = assert(io.open(path))
  return file:read("a")
end

--- Runs all commands in all environments.
---@param folder string an empty folder
---@param wrong fun(text: string) called for each result that does not fit
---@return integer count of runs
function M.run_all(folder, wrong)
  local made, count = folder .. "/made", 0
  local start = ("G=%s F=%s/new OMP_NUM_THREADS=1\n"):format(made, folder)
  assert(os.execute(("mkdir %s && F=%s && %s >%s/log 2>&1"):format(made, made,
    M.COMMANDS[4][2], folder)))
  for _, environment in ipairs(M.ENVIRONMENTS) do
    for _, command in ipairs(M.COMMANDS) do
      local line = M.line(environment, command)
      do
        local file <close> = assert(io.open(folder .. "/script", "w"))
        file:write(start, "rm -rf $F; mkdir $F\n", line, "\n")
      end
      local _, how, status = os.execute(("timeout 100 sh %s/script >%s/output 2>%s/errors"):format(
        folder, folder, folder))
      status = how == "signal" and 128 + status or status
      local output, errors = read(folder .. "/output"), read(folder .. "/errors")
      count = count + 1
      if status == 124 or not M.fits(environment, command, status, output, errors) then
        wrong(("%s\n    status %d\n%s%s"):format(line, status, output, errors))
      end
    end
  end
  return count
end

return M
