local claims = require("roper.workbench.study.claim")
local files = require("roper.base.file")
local mpi = require("tests.mpi")
local plan = require("roper.workbench.study.sweep.plan")
local process = require("tests.process")
local stored = require("roper.workbench.study.runs")
local scratch = require("tests.scratch")
local slurm = require("roper.workbench.session.slurm")
local sweeps = require("tests.sweeps")
local uv = require("luv")

before_each(scratch.create)
after_each(scratch.remove)

-- Checks that every trial ran once, by at least `least` processes.
local function assert_shared(folder, count, least)
  local owners, workers = {}, 0
  local trials = plan.read(folder)
  assert.equal(count, #trials)
  for _, trial in ipairs(trials) do
    assert.equal("finished", stored.read(trial.folder).status)
    assert.same({ 1, trial.name }, { claims.read(trial.folder).number, trial.name })
    owners[claims.read(trial.folder).owner.pid] = true
  end
  for _ in pairs(owners) do
    workers = workers + 1
  end
  assert.is_true(workers >= least, workers .. " workers")
end

describe("slurm.write", function()
  it("writes a valid shell script for any folder name", function()
    local folder = scratch.path("a sweep's $(folder) \"here\"")
    files.make(folder)
    local path = slurm.write(folder, { jobs = 7, threads = 3 })
    assert.equal(folder .. "/slurm.sh", path)
    local text = scratch.read(path)
    for _, line in ipairs({ "#SBATCH --array=1-7", "#SBATCH --cpus-per-task=3",
                            "#SBATCH --job-name=a_sweep_s___folder___here_",
                            "#SBATCH --signal=B:INT@60" }) do
      assert.truthy(text:find("\n" .. line .. "\n", 1, true), line)
    end
    -- Without a sweep, the worker reports the folder by its exact name.
    local status, _, errors = process.run({ "sh", path })
    assert.equal(1, status)
    assert.truthy(errors:find("expected a sweep in " .. folder, 1, true), errors)
  end)

  -- A search path with an sbatch that runs this code.
  local function path_with(script)
    local path = scratch.write("sbatch", "#!/bin/sh\n" .. script)
    uv.fs_chmod(path, 493)
    return { PATH = scratch.path(".") .. ":" .. os.getenv("PATH") }
  end

  it("passes options to sbatch, and prints the job", function()
    local folder = scratch.path("sweep")
    local status, output = process.run(sweeps.command(folder, "seed=1..3", "--slurm",
      "--sbatch=--time=1:00:00", "--sbatch=--comment=it's", "--threads", "4"), nil,
      path_with('printf "%s|" "$@" > said; pwd >> said; echo "note" >&2; echo "17;here"'))
    assert.equal(0, status)
    assert.equal(("Submitted job 17: 3 trials in %s, with the script %s/slurm.sh\n"):format(folder,
      folder), output)
    assert.equal(("--parsable|--time=1:00:00|--comment=it's|slurm.sh|%s\n"):format(folder),
                 scratch.read(folder .. "/said"))
    local text = scratch.read(folder .. "/slurm.sh")
    assert.truthy(text:find("\n#SBATCH --array=1-3\n#SBATCH --cpus-per-task=4\n", 1, true))
    assert.equal(3, #plan.read(folder))
  end)

  it("reports the error of sbatch", function()
    local folder = scratch.path("sweep")
    local status, output, errors = process.run(sweeps.command(folder, "seed=1", "--slurm"), nil,
      path_with('echo "sbatch: error: no such partition" >&2; exit 1'))
    assert.same({ 1, "" }, { status, output })
    assert.equal(("roper: sweep: sbatch rejected %s/slurm.sh: sbatch: error: no such "
      .. "partition\n"):format(folder), errors)
  end)
end)

describe("a sweep", function()
  it("runs as a job array of Slurm", function()
    local reason = process.missing("munged", "slurmctld", "slurmd", "sbatch", "squeue")
    if reason then
      return pending("no Slurm here: " .. reason)
    end
    local folder, cluster = scratch.path("sweep"), scratch.path("cluster")
    local function shell(script)
      return process.run({ "sh", "-c", script }, nil, { SLURM_CONF = cluster .. "/slurm.conf" })
    end
    local status, _, errors = shell("tests/slurm.sh start " .. cluster)
    assert.equal(0, status, errors)
    local ok, message = pcall(function()
      -- srun waits until the node is up; the job array then starts at once.
      assert.equal(0, (shell("srun --quiet true")))
      local rc, output, problem = shell(table.concat(sweeps.command(folder, "position=rope,roper",
        "seed=1..4", "--slurm", "--jobs", "2", "--sbatch=--wait"), " "))
      assert.equal(0, rc, problem)
      local job = output:match("^Submitted job (%d+): 8 trials in .*/sweep, with the script "
        .. ".*/slurm.sh\n$")
      assert.truthy(job, output)
      for task = 1, 2 do -- the second may start after the first has finished all trials
        assert.truthy(files.read(("%s/slurm-%s-%d.log"):format(folder, job, task)))
      end
      assert_shared(folder, 8, 1)
    end)
    shell("tests/slurm.sh stop " .. cluster)
    assert(ok, message)
  end)

  -- Starts workers of 12 trials with a launcher.
  local function launch(command, input, environment)
    local folder = scratch.path("sweep")
    local worker = sweeps.command(folder, "position=rope,roper", "seed=1..6", "--worker")
    table.move(worker, 1, #worker, #command + 1, command)
    local status, output, errors = process.run(command, input, environment)
    assert.equal(0, status, errors)
    assert.equal(12, select(2, output:gsub(": started\n", "")))
    assert_shared(folder, 12, 2)
  end

  it("is shared by the processes of mpirun", function()
    local reason = process.missing("mpirun")
    if reason then
      return pending("no MPI here: " .. reason)
    end
    launch(mpi.command(3), nil, mpi.ENVIRONMENT)
  end)

  it("is shared by the processes of GNU parallel", function()
    -- The parallel of moreutils is another program, which does not know --version.
    local reason = process.missing("parallel") or process.run({ "sh", "-c",
      "parallel --version | grep -q '^GNU parallel'" }) ~= 0 and "it is another parallel"
    if reason then
      return pending("no GNU parallel here: " .. reason)
    end
    launch({ "parallel", "--will-cite", "-N0", "-j3" }, "1\n2\n3\n", { HOME = scratch.path(".") })
  end)
end)
