-- Kills training, checkpoints, tokenization, sweeps and ranks of MPI, and cuts the power:
--
--   ./roper tests/kills/main.lua [KILLS [SEED]]     all jobs, two at a time
--   ./roper tests/kills/main.lua JOB KILLS SEED     one job
--
-- A failure prints the line that repeats it.

package.path = "./?.lua;" .. package.path
local attacks = require("tests.kills.attack")
local jobs = require("tests.kills.jobs")
local tables = require("roper.base.tables")
local uv = require("luv")
local watch = require("tests.kills.watch")

-- Shares of the kills; jobs that take longest come first.
local SHARES <const> = { { "mpi", 10 }, { "tokens-pieces", 8 }, { "study", 10 }, { "sweep", 20 },
  { "command", 20 }, { "train", 20 }, { "save", 8 }, { "tokens-bytes", 4 } }

-- A folder in memory if there is one, where fsync is fast.
local function new_folder()
  local parent = uv.fs_access("/dev/shm", "W") and "/dev/shm" or uv.os_tmpdir()
  return assert(uv.fs_mkdtemp(parent .. "/roper-XXXXXX"))
end

-- Attacks a job until it was killed so often; returns false after a failure.
local function one(name, kills, seed)
  local missing = jobs.all[name].missing and jobs.all[name].missing()
  if missing then
    print(("%-13s skipped: %s"):format(name, missing))
    return true
  end
  local folder, began = new_folder(), uv.hrtime()
  local killed, cuts, problem = 0, 0, nil
  local ok, message = pcall(function()
    local attack = attacks.on(name, folder)
    while killed < kills and not problem do
      local result = attack(seed)
      killed, cuts = killed + result.kills, cuts + result.cuts
      problem = result.problem
      seed = seed + 1
    end
  end)
  os.execute(("rm -rf '%s'"):format(folder))
  problem = problem or not ok and message or nil
  print(problem and ("%-13s FAILED: %s\nrepeat: ./roper tests/kills/main.lua %s 1 %d"):format(name,
    problem, name, seed - 1)
    or ("%-13s %3d kills, %3d of them power cuts, in %.0f s"):format(name, killed, cuts,
      (uv.hrtime() - began) * 1e-9))
  return problem == nil
end

-- Attacks all jobs, two at a time; returns the number that failed.
local function all(kills, seed)
  local sum, next_job, failed = 0, 1, 0
  for _, share in ipairs(SHARES) do
    sum = sum + share[2]
  end
  local function start()
    local share = SHARES[next_job]
    next_job = next_job + 1
    if share then
      local count = math.ceil(kills * share[2] / sum)
      assert(uv.spawn("./roper", { args = { "tests/kills/main.lua", share[1], tostring(count),
        tostring(seed) }, stdio = { nil, 1, 2 } }, function(status)
        failed = failed + (status == 0 and 0 or 1)
        start()
      end))
    end
  end
  start()
  start()
  uv.run()
  return failed
end

io.stdout:setvbuf("line")
local missing = watch.missing()
if missing then
  print("skipped: " .. missing)
elseif jobs.all[arg[1]] then
  os.exit(one(arg[1], math.tointeger(arg[2] or 100), math.tointeger(arg[3] or 1)) and 0 or 1, true)
else
  local kills = math.tointeger(arg[1] or 500) or error("expected a number of kills or a job: "
    .. table.concat(tables.keys(jobs.all), ", "), 0)
  local seed = math.tointeger(arg[2] or os.time() % 100000 * 1000)
  print(("%d kills, seed %d"):format(kills, seed))
  os.exit(all(kills, seed) == 0 and 0 or 1, true)
end
