local process = require("tests.process")
local scratch = require("tests.scratch")

before_each(scratch.create)
after_each(scratch.remove)

-- The output of a line of Lua in a system in which some paths have other content: a path in the
-- scratch folder, by path. Nil if this user may mount nothing, even in a namespace.
local function output_with(others, line)
  local script = {}
  for path, other in pairs(others) do
    script[#script + 1] = ("mount --bind '%s' %s &&"):format(scratch.path(other), path)
  end
  local status, output = process.run({ "unshare", "--map-root-user", "--mount", "sh", "-c",
    table.concat(script, " ") .. ' echo mounted && exec ./roper -e "$0"', line },
    nil, { OMP_NUM_THREADS = false, SLURM_CPUS_PER_TASK = false })
  local text = output:match("^mounted\n(.*)$")
  assert(not text or status == 0, output)
  return text
end

-- The number that a line of Lua prints in a process in these control groups, with these files. Nil
-- if this user may mount nothing.
local function number_in(entries, limits, line)
  scratch.write("entries", entries)
  for path, text in pairs(limits) do
    path = "groups/" .. path
    require("roper.system.file").make(scratch.path(path:match("^(.*)/")))
    scratch.write(path, text)
  end
  local output = output_with({ ["/proc/$$/cgroup"] = "entries", ["/sys/fs/cgroup"] = "groups" },
    line)
  return output and tonumber(output)
end

describe("the limit of memory", function()
  -- Nine tenths of each limit are for tensors.
  for name, case in pairs({
    ["of a container"] = { "0::/\n", { ["memory.max"] = "104857600\n" }, 90 },
    ["of a job"] = { "0::/slurm/job_7/step_0\n", { ["slurm/job_7/step_0/memory.max"] = "max\n",
      ["slurm/job_7/memory.max"] = "209715200\n", ["slurm/memory.max"] = "1073741824\n" }, 180 },
    ["of a job, in version 1"] = { "11:cpuset:/a\n4:cpu,memory:/slurm/job_7\n1:name=systemd:/\n",
      { ["memory/slurm/job_7/memory.limit_in_bytes"] = "314572800\n",
        ["memory/slurm/memory.limit_in_bytes"] = "9223372036854771712\n",
        ["memory/a/memory.limit_in_bytes"] = "4096\n" }, 270 },
    ["of a container, in version 1"] = { "4:memory:/docker/0123\n0::/docker/0123\n",
      { ["memory/memory.limit_in_bytes"] = "419430400\n" }, 360 },
  }) do
    it("is that " .. name, function()
      local limit = number_in(case[1], case[2], "print(roper.memory().limit // 2 ^ 20)")
      if not limit then
        return pending("this user may mount nothing")
      end
      assert.equal(case[3], limit)
    end)
  end
end)

describe("the processor", function()
  it("has a name or, on ARM, the numbers of its design", function()
    for name, text in pairs({
      ["AMD EPYC 9354"] = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9354\n"
        .. "processor\t: 1\nmodel name\t: AMD\n",
      ["ARM, implementer 0x41, part 0xd0c"] = "processor\t: 0\nBogoMIPS\t: 50.00\n"
        .. "CPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n",
      unknown = "processor\t: 0\n",
    }) do
      scratch.write("cpuinfo", text)
      local output = output_with({ ["/proc/cpuinfo"] = "cpuinfo" }, "print(roper.info().processor)")
      if not output then
        return pending("this user may mount nothing")
      end
      assert.equal(name .. "\n", output)
    end
  end)
end)

describe("the default number of threads", function()
  -- The number with these variables on processor 0, or on all.
  local function threads_with(changes, processors)
    changes.OMP_NUM_THREADS = changes.OMP_NUM_THREADS or false
    local status, output, errors = process.run({ "taskset", "-c", processors or "0-1", "./roper",
      "-e", "roper.threads()" }, nil, changes)
    assert.equal(0, status, errors)
    return tonumber(output)
  end

  it("is that of the processors that this process may use", function()
    assert.equal(1, threads_with({}, "0"))
  end)

  it("is that of Slurm's task, unless OMP_NUM_THREADS is set", function()
    local all = threads_with({ SLURM_CPUS_PER_TASK = false })
    assert.equal(1, threads_with({ SLURM_CPUS_PER_TASK = "1" }))
    assert.equal(all, threads_with({ SLURM_CPUS_PER_TASK = "64" }))
    assert.equal(all, threads_with({ SLURM_CPUS_PER_TASK = "" }))
    assert.equal(3, threads_with({ SLURM_CPUS_PER_TASK = "1", OMP_NUM_THREADS = "3" }))
  end)

  -- Of at least two processors; limits above two are not told apart.
  for name, case in pairs({
    ["of a container"] = { "0::/\n", { ["cpu.max"] = "50000 100000\n" }, 1 },
    ["of a job"] = { "0::/slurm/job_7/step_0\n", { ["slurm/job_7/step_0/cpu.max"] = "max 100000\n",
      ["slurm/job_7/cpu.max"] = "100000 100000\n", ["slurm/cpu.max"] = "800000 100000\n" }, 1 },
    ["of a job without a limit"] = { "0::/job\n", { ["job/cpu.max"] = "max 100000\n" }, 2 },
    ["of a part of a processor more, rounded up"] = { "0::/job\n",
      { ["job/cpu.max"] = "101000 100000\n" }, 2 },
    ["of a job, in version 1"] = { "11:cpuset:/a\n4:cpu,cpuacct:/slurm/job_7\n",
      { ["cpu/slurm/job_7/cpu.cfs_quota_us"] = "100000\n",
        ["cpu/slurm/job_7/cpu.cfs_period_us"] = "100000\n" }, 1 },
    ["of a job without a limit, in version 1"] = { "4:cpuacct,cpu:/job\n5:cpuacct:/a\n",
      { ["cpu/job/cpu.cfs_quota_us"] = "-1\n", ["cpu/job/cpu.cfs_period_us"] = "100000\n",
        ["cpu/a/cpu.cfs_quota_us"] = "1000\n", ["cpu/a/cpu.cfs_period_us"] = "1000\n" }, 2 },
  }) do
    it("is that " .. name, function()
      local count = number_in(case[1], case[2], "print(math.min(roper.threads(), 2))")
      if not count then
        return pending("this user may mount nothing")
      end
      assert.equal(case[3], count)
    end)
  end
end)
