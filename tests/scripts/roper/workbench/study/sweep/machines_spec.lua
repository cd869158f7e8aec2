local claims = require("roper.workbench.study.run.claim")
local process = require("tests.process")
local scratch = require("tests.scratch")
local stored = require("roper.workbench.study.run.runs")
local sweeps = require("tests.sweeps")
local sweep_file = require("roper.workbench.study.run.sweep_file")

before_each(scratch.create)
after_each(scratch.remove)

-- Wraps a command so that it has its own host name and sees no other processes, as on another
-- machine.
local function on_machine(name, command)
  return { "unshare", "--map-root-user", "--mount", "--uts", "--pid", "--fork", "--mount-proc",
    "sh", "-c", ('hostname %s && "$@"'):format(name), "sh", table.unpack(command) }
end

describe("a sweep on several machines that share a folder", function()
  it("trains each trial once", function()
    if process.run(on_machine("one", { "true" })) ~= 0 then
      return pending("this user has no namespaces")
    end
    local folder, running = scratch.path("sweep"), {}
    local command = sweeps.command(folder, "steps=20", "seed=1..6", "--worker")
    for i, name in ipairs({ "one", "two", "three" }) do
      running[i] = process.spawn(on_machine(name, command))
    end
    sweeps.wait(running)
    local hosts = {}
    for _, program in ipairs(running) do
      assert.equal(0, program.status)
    end
    for _, trial in ipairs(sweep_file.read(folder)) do
      local found = claims.read(trial.folder)
      local run = stored.read(trial.folder)
      hosts[found.owner.host] = true
      assert.same({ 1, "free", 1 }, { found.number, found.state, #run.provenance })
      assert.truthy(run.result)
    end
    assert.is_nil(hosts[require("roper.system.environment").host()])
  end)
end)
