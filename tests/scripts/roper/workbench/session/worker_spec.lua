local claims = require("roper.workbench.study.run.claim")
local mpi = require("tests.mpi")
local sweep_file = require("roper.workbench.study.run.sweep_file")
local process = require("tests.process")
local stored = require("roper.workbench.study.run.runs")
local scratch = require("tests.scratch")
local sweeps = require("tests.sweeps")

before_each(scratch.create)
after_each(scratch.remove)

-- Checks that every trial ran once, by at least two processes.
local function assert_shared(folder, count)
  local owners = {}
  local trials = sweep_file.read(folder)
  assert.equal(count, #trials)
  for _, trial in ipairs(trials) do
    assert.equal("finished", stored.read(trial.folder).status)
    assert.same({ 1, trial.name }, { claims.read(trial.folder).number, trial.name })
    owners[claims.read(trial.folder).owner.pid] = true
  end
  assert.truthy(next(owners, next(owners)))
end

describe("a sweep", function()
  -- Starts workers of 12 trials with a launcher.
  local function launch(command, input, environment)
    local folder = scratch.path("sweep")
    local worker = sweeps.command(folder, "position=rope,roper", "seed=1..6", "--worker")
    table.move(worker, 1, #worker, #command + 1, command)
    local status, output, errors = process.run(command, input, environment)
    assert.equal(0, status, errors)
    assert.equal(12, select(2, output:gsub(": started\n", "")))
    assert_shared(folder, 12)
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
