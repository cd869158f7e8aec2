local claims = require("roper.workbench.study.run.claim")
local core = require("roper.core")
local files = require("roper.system.file")
local sweep_file = require("roper.workbench.study.run.sweep_file")
local process = require("tests.process")
local stored = require("roper.workbench.study.run.runs")
local scratch = require("tests.scratch")
local report = require("roper.workbench.study.report")
local sweep = require("roper.workbench.study.sweep")
local sweeps = require("tests.sweeps")
local uv = require("luv")

local folder

before_each(function()
  scratch.create()
  folder = scratch.path("sweep")
end)
after_each(scratch.remove)

local function text_of(path)
  return report.text(report.read(path))
end

-- A stream for `sweep.run` that stores its output.
local function silent()
  return assert(io.open(scratch.path("log"), "w"))
end

local function run(options)
  local stream <close> = silent()
  local all = { what = "substring_index", folder = folder, stream = stream }
  for name, value in pairs(options) do
    all[name] = value
  end
  return sweep.run(all)
end

-- Prepares a sweep in which the trials with 4 heads fail: their checkpoints are torn.
local function prepare_failing(fields)
  local trials = sweep.prepare("substring_index", sweeps.fields(fields), folder)
  for _, trial in ipairs(trials) do
    if trial.config.heads == 4 then
      files.make(trial.folder)
      files.write(trial.folder .. "/checkpoint.safetensors", "torn")
    end
  end
end

describe("sweep.prepare", function()
  it("takes the trials of a Lua file or of a folder", function()
    local path = scratch.write("trials.lua",
      "return { experiment = 'addition', { preset = 'smoke' }, { preset = 'smoke', seed = 2 } }")
    local trials = sweep.prepare(path, { position = "rope" }, folder)
    assert.same({ "rope", "rope" }, { trials[1].config.position, trials[2].config.position })
    assert.same({ trials, folder }, { sweep.prepare(folder) })
    assert.error_matches(function() sweep.prepare(scratch.path("none")) end,
                         "^sweep: there is no folder .*/none$")
  end)
end)

describe("sweep.prepare refuses combinations that cannot run, before the first trial:", function()
  for name, case in pairs({
    ["schemes that both rotate queries"] = { { position = "rope,selective+rope" },
      "selective+rope cannot run; none was started: position: selective and rotary both rotate" },
    ["in any layer"] = { { position = "rope:none:rope+pope", layers = 3 },
      "rope:none:rope+pope cannot run; none was started: position: rotary and pope both rotate" },
    ["shares of features that are no pairs"] = { { position = "rope", fraction = "1,0.3" },
      "rope fraction=0.3 cannot run; none was started: rope: fraction: expected a "
        .. "fraction that rotates an even number of features" },
    ["heads"] = { { kv_heads = "2,3" },
      "roper kv_heads=3 cannot run; none was started: MultiHeadAttention: expected heads divisible "
        .. "by kv_heads" },
    ["rows without an answer"] = { { length = "50,5" }, "roper length=5 cannot run; none was "
      .. "started: answers: expected sequences with answers, got none in " },
  }) do
    it(name, function()
      local fields = { preset = "smoke", seed = "1..2" }
      for field, value in pairs(case[1]) do
        fields[field] = value
      end
      local ok, message = pcall(sweep.prepare, "addition", fields, folder)
      assert.is_false(ok)
      assert.matches("sweep: the trials of " .. case[2], message, 1, true)
      assert.is_nil(files.stat(folder))
    end)
  end

  it("but not the others", function()
    local state = { core.random_state() }
    local trials = sweep.prepare("addition", { preset = "smoke",
      position = "rope+alibi+ssmax,none:selective,twice,learned,fire:t5", layers = "1,3" }, folder)
    assert.equal(10, #trials)
    assert.same(state, { core.random_state() })
  end)
end)

describe("sweep.read", function()
  it("has a method for each value of an option", function()
    local fields = { preset = "smoke", position = "rope,yarn{factor=2},yarn{factor=4.0},"
      .. "rope+t5{buckets=16,distance=64}:rope{base=500}", seed = "1..2" }
    local trials = sweep.prepare("addition", fields, folder)
    local methods = { "rope", "yarn", "yarn{factor=4}",
      "rope+t5{buckets=16,distance=64}:rope{base=500}" }
    assert.same(methods, sweep.read(folder).methods)
    assert.matches("/yarn%-factor%-4%-1%-%x+$", trials[3].folder)
    fields.position = "yarn{ factor = 4 , slow = 1 }"
    assert.same({ trials[3], trials[7] }, sweep.prepare("addition", fields, folder))
    assert.equal(8, #sweep_file.read(folder))
    fields.position = { type = "yarn", factor = 4 }
    assert.same({ trials[3], trials[7] }, sweep.prepare("addition", fields, folder))
    assert.error_matches(function()
      sweep.prepare("addition", { position = "rope,yarn{factor=4},yarn{facto=4}" }, folder)
    end, "field position: yarn: unknown option facto")
  end)
end)

describe("sweep.run", function()
  it("runs every trial once, in workers with their share of the threads", function()
    local found, failed = run({ fields = sweeps.fields({ position = "rope,roper", seed = "1..2" }),
                                jobs = 2, threads = 1 })
    assert.equal(0, failed)
    assert.same({ "rope", "roper" }, found.methods)
    assert.same({ "position" }, found.varied)
    assert.equal("substring_index", found.experiment)
    local pids = {}
    for i, trial in ipairs(found.trials) do
      assert.same({ (i + 1) // 2, i % 2 == 1 and "rope" or "roper" }, { trial.seed, trial.method })
      assert.equal("finished", trial.run.status)
      assert.equal(1, trial.run.provenance[1].threads)
      assert.equal(20, trial.run.step)
      assert.equal(1, claims.read(trial.folder).number)
      pids[#pids + 1] = claims.read(trial.folder).owner.pid
    end
    for _, pid in ipairs(pids) do
      assert.not_equal(uv.os_getpid(), pid)
    end
  end)

  it("runs the trials in this process if it cannot start others", function()
    local system = require("roper.system.process")
    finally(function() system.starts_programs = true end)
    system.starts_programs = false
    local fields = { heads = "2,4", seed = "1..2" }
    prepare_failing(fields)
    local found, failed = run({ fields = sweeps.fields(fields), jobs = 1 })
    assert.equal(2, failed)
    for _, trial in ipairs(found.trials) do
      assert.equal(trial.config.heads == 4 and "failed" or "finished", trial.run.status)
      assert.equal(uv.os_getpid(), claims.read(trial.folder).owner.pid)
    end
    assert.truthy(scratch.read(scratch.path("log")):find(
      "4 trials, 0 finished; 1 at a time", 1, true))
  end)

  it("runs only missing trials when it is run again, and more when asked", function()
    local fields = sweeps.fields({ position = { "rope", "roper" }, seed = { 1, 2 } })
    run({ fields = fields })
    local before = sweeps.results(folder)
    run({ fields = fields })
    assert.same(before, (sweeps.results(folder)))

    local gone = sweep_file.read(folder)[2]
    assert(os.remove(gone.folder .. "/result.json"))
    scratch.write("sweep/" .. sweep_file.read(folder)[3].name .. "/result.json", "{torn")
    run({ fields = fields })
    local again, count = sweeps.results(folder)
    assert.equal(4, count)
    local changed = 0
    for name, bytes in pairs(again) do
      changed = changed + (bytes ~= before[name] and 1 or 0)
    end
    assert.equal(2, changed)

    local found = run({ fields = sweeps.fields({ position = "rope", rotate = "vo", seed = 1 }) })
    assert.equal(5, #found.trials)
    assert.same({ "rope", "roper", "rope rotate=vo" }, found.methods)
    assert.same(again, (function()
      local all = sweeps.results(folder)
      all[found.trials[5].name] = nil
      return all
    end)())
    found = run({ fields = sweeps.fields({ position = "twice", seed = 1 }) })
    assert.equal("twice (mutant)", found.methods[4])
    -- The folder alone selects all its trials.
    os.remove(gone.folder .. "/result.json")
    local stream <close> = silent()
    found = sweep.run({ what = folder, stream = stream })
    assert.equal("finished", found.trials[2].run.status)
    assert.has_error(function() sweep.run({ what = folder, fields = { seed = 9 } }) end,
      ("sweep: %s is a sweep with fixed trials; to add trials, pass its experiment and "
        .. "--folder %s"):format(folder, folder))
  end)

  it("continues after a trial that fails, and retries it when it is run again", function()
    local given = { position = "rope", seed = "1..2", heads = "2,4" }
    local fields = sweeps.fields(given)
    prepare_failing(given)
    local found, failed = run({ fields = fields })
    assert.equal(2, failed)
    for _, trial in ipairs(found.trials) do
      local is_torn = trial.config.heads == 4
      assert.equal(is_torn and "failed" or "finished", trial.run.status)
      if is_torn then
        assert.truthy(trial.run.failure:find("it is truncated", 1, true), trial.run.failure)
      end
    end
    local _, count = scratch.read(scratch.path("log")):gsub("failed: load_safetensors: ", "")
    assert.equal(2, count)
    local text = report.text(report.of(found))
    assert.truthy(text:find("2 of 2 runs are missing (2 failed)", 1, true))
    assert.truthy(text:find("0 of 2", 1, true))
    local _, again = run({ fields = fields })
    assert.equal(2, again)
    assert.equal(2, claims.read(found.trials[2].folder).number)
    assert.equal(1, claims.read(found.trials[1].folder).number)
  end)

  it("finishes trials that diverge, counts them as such, and leaves them out of means", function()
    local fields = sweeps.fields({ position = "rope", seed = "1..2", rate = "1e-3,1e300" })
    local found, failed = run({ fields = fields })
    assert.equal(0, failed)
    for _, trial in ipairs(found.trials) do
      local is_wild = trial.config.rate == 1e300
      assert.equal(is_wild and "diverged" or "finished", trial.run.status)
      assert.equal(not is_wild, trial.run.result.loss ~= nil)
      if is_wild then
        assert.matches("^the loss is %-?[ni][a-z]+ at step 2$", trial.run.failure)
      end
    end
    local _, count = scratch.read(scratch.path("log")):gsub(": diverged: the loss is", "")
    assert.equal(2, count)
    local text = report.text(report.of(found))
    assert.truthy(text:find("2 of 4 runs finished, 2 diverged.", 1, true), text)
    assert.truthy(text:find("rope rate=1e+300: 2 of 2 runs diverged", 1, true), text)
    assert.truthy(text:find("0 of 2, 2 diverged", 1, true), text)
    assert.falsy(text:find("missing", 1, true))
    local _, again = run({ fields = fields })
    assert.equal(0, again)
    for _, trial in ipairs(found.trials) do
      assert.equal(1, claims.read(trial.folder).number) -- not run again
    end
  end)

  it("reports why workers do not start", function()
    uv.os_setenv("LUA_INIT_5_4", "error('no way')")
    local ok, message = pcall(run, { fields = sweeps.fields({ seed = 1 }) })
    uv.os_unsetenv("LUA_INIT_5_4")
    assert.is_false(ok)
    assert.truthy(message:find("sweep: cannot start workers: a worker ended with status 1", 1,
      true), message)
    assert.truthy(message:find("no way", 1, true), message)
  end)

  it("refuses bad fields before anything is written", function()
    for message, fields in pairs({
      ['did you mean "rope"'] = { position = "roper,ropee" },
      ['has no field "sed"; did you mean "seed"'] = { sed = "1..3" },
      ["field seed: expected a range"] = { seed = "3..1" },
    }) do
      local ok, got = pcall(run, { fields = fields })
      assert.is_false(ok)
      assert.truthy(got:find(message, 1, true), got)
    end
    assert.is_nil(uv.fs_stat(folder))
  end)
end)

describe("a sweep with killed processes", function()
  local UNDISTURBED <const> = { "position=rope,roper", "seed=1..6", "--jobs", "2" }

  it("loses no finished trial, runs no trial twice, and ends with the same table", function()
    local seed = os.time()
    math.randomseed(seed)
    local name = "seed " .. seed
    local whole = scratch.path("whole")
    sweeps.wait({ process.spawn(sweeps.command(whole, table.unpack(UNDISTURBED))) })
    local expected = text_of(whole)
    local kills, round = 0, 0
    while kills < 10 do
      round = round + 1
      folder = scratch.path("killed-" .. round)
      local seen, finished = {}, 0
      while finished < 12 do
        local program, struck = process.spawn(sweeps.command(folder, table.unpack(UNDISTURBED))), 0
        while program.status == nil do
          sweeps.wait({ program }, math.random(30, 250))
          local workers = sweeps.workers(folder)
          if program.status == nil and kills < 10 and #workers > 0 and math.random() < 0.5 then
            uv.kill(workers[math.random(#workers)], "sigkill")
            kills, struck = kills + 1, struck + 1
          elseif program.status == nil and kills < 10 then
            program.handle:kill("sigkill")
            kills = kills + 1
            sweeps.wait({ program })
          end
          local results
          results, finished = sweeps.results(folder)
          for trial, bytes in pairs(seen) do
            assert.equal(bytes, results[trial], name)
          end
          seen = results
        end
        -- A trial fails after three of its workers were killed, until the sweep is run again.
        assert.is_true(program.status == 0 or program.status == 137
                       or program.status == 1 and struck >= 3, name)
      end
      local last = process.spawn(sweeps.command(folder, table.unpack(UNDISTURBED)))
      sweeps.wait({ last })
      assert.equal(0, last.status, name)
      assert.equal(expected, text_of(folder), name)
      for _, trial in ipairs(sweep_file.read(folder)) do
        for _, left in ipairs(files.names(trial.folder)) do
          assert.is_nil(left:find("%.tmp$"), left)
        end
      end
    end
  end)
end)

describe("a sweep that is killed", function()
  it("ends its workers and frees their trials", function()
    local program = process.spawn(sweeps.command(folder, "seed=1..2", "steps=10000000",
      "--jobs", "2"))
    local workers = {}
    local function wait_until(condition)
      for _ = 1, process.PATIENCE // 50 do
        workers = sweeps.workers(folder)
        if condition() then
          return true
        end
        sweeps.wait({ {} }, 50)
      end
      return false
    end
    assert.is_true(wait_until(function() return #workers == 2 end))
    local pids = workers
    program.handle:kill("sigkill")
    sweeps.wait({ program })
    local ended = wait_until(function() return #workers == 0 end)
    for _, pid in ipairs(ended and {} or pids) do
      uv.kill(pid, "sigkill")
    end
    assert.is_true(ended)
    local _, listed = process.run({ "./roper", "runs", folder })
    assert.truthy(listed:find(("\nResume with:\n./roper sweep %s\n$"):format(
      folder:gsub("%p", "%%%0"))), listed)
  end)
end)

describe("two sweeps at once in one folder", function()
  it("share 16 trials between 4 workers, each run once", function()
    local command = sweeps.command(folder, "position=rope,roper", "seed=1..8", "--jobs", "2")
    local both = { process.spawn(command), process.spawn(command) }
    sweeps.wait(both)
    assert.same({ 0, 0 }, { both[1].status, both[2].status })
    local owners = {}
    local trials = sweep_file.read(folder)
    assert.equal(16, #trials)
    for _, trial in ipairs(trials) do
      local last = claims.read(trial.folder)
      assert.equal("finished", stored.read(trial.folder).status)
      assert.equal(1, last.number, trial.name)
      owners[last.owner.pid] = true
    end
    local count = 0
    for _ in pairs(owners) do
      count = count + 1
    end
    assert.is_true(count >= 4, count .. " workers")
  end)
end)

describe("./roper sweep", function()
  it("prints lines and the table to a pipe or a log file", function()
    local status, output, errors = process.run(sweeps.command(folder, "position=rope",
      "seed=1..2"))
    assert.equal(0, status)
    assert.truthy(output:find("^\nrope: mean of correct answers, [^\n]*\n\n2 of 2 runs finished%."),
      output)
    assert.truthy(output:find("\n  method    runs  correct of 2 .*\n  rope    2 of 2 "), output)
    local last = ("\n\nThe runs are in %s. To write the report:\n./roper report %s\n")
      :format(folder, folder)
    assert.equal(last, output:sub(-#last))
    assert.is_nil((output .. errors):find("\27", 1, true))
    assert.equal(1, select(2, errors:gsub("/sweep: 2 trials, 0 finished", "")))
    for seed = 1, 2 do
      local line = ("\nrope%%-%d%%-%%x+: %%d of 2 solved by sampling, "):format(seed)
      assert.truthy(errors:find(line), errors)
    end
    local log = scratch.path("log")
    status = process.run({ "sh", "-c", ("%s --folder %s seed=3 %s > %s 2>&1"):format(
      "./roper sweep substring_index", folder,
      table.concat(sweeps.command("", "position=rope"), " ", 6), log) })
    assert.equal(0, status)
    local text = scratch.read(log)
    assert.is_nil(text:find("[\27\r]"))
    assert.truthy(text:find("1 trial, 0 finished.*rope%-3%-%x+: .*"
      .. "1 of 1 trials are finished; %d+ trials an hour\n.*method    runs"), text)
  end)

  it("shows a line for each job and one for the sweep on a terminal", function()
    local screen = process.open(table.concat(sweeps.command(folder, "position=rope", "seed=1..3",
      "steps=200", "--jobs", "2", "--threads", "1"), " "), { TERM = "xterm", COLUMNS = "80" })
    screen:expect("3 trials, 0 finished; 2 at a time, 1 thread each")
    screen:expect("sweep ░░░░░░░░░░░░ 0 of 3 finished")
    screen:expect("method    runs")
    assert.equal(0, screen:leave())
    local shown = screen.process.output
    assert.truthy(shown:find("/200  loss [%d.]+ .* left"), shown)
    assert.equal(3, select(2, shown:gsub(" of 2 solved by sampling, ", "")))
  end)

  it("stops at Ctrl-C, releases its trials, and can be continued", function()
    -- The trials wait after step 100 until they are continued.
    local continued = scratch.path("continued")
    local load = scratch.write("wait.lua", ([[
      local Adam, uv = getmetatable(roper.optim.Adam()), require("luv")
      local step = Adam.step
      function Adam:step(...)
        while self.count == 100 and not uv.fs_stat(%q) do
          uv.sleep(10)
        end
        return step(self, ...)
      end]]):format(continued))
    local command = sweeps.command(folder, "position=rope", "seed=1..2", "steps=150",
      "--jobs", "2", "--load", load)
    local screen = process.open(table.concat(command, " "), { TERM = "xterm" })
    screen:expect("/150  loss ")
    for _, trial in ipairs(sweep_file.read(folder)) do -- the other one may begin later
      while not files.stat(trial.folder .. "/checkpoint.safetensors") do
        sweeps.wait({ screen.process }, 10)
        assert.is_nil(screen.process.status)
      end
    end
    screen:type("\3")
    screen:expect("0 of 2 trials are finished; to continue:\n")
    assert.equal(table.concat(command, " "), (screen:expect("\n")))
    screen:expect("interrupted")
    assert.equal(130, screen:leave())
    for _, trial in ipairs(sweep_file.read(folder)) do
      assert.same({ "stopped", 1 }, { stored.read(trial.folder, trial.config).status,
                                      claims.read(trial.folder).number })
    end
    local _, listed = process.run({ "./roper", "runs", folder })
    assert.truthy(listed:find(("\nResume with:\n./roper sweep %s --load %s/loaded/wait.lua\n")
      :format(folder, sweep_file.read(folder)[1].folder), 1, true), listed)
    scratch.write("continued", "")
    local status, output = process.run(command)
    assert.equal(0, status)
    local last = ("\n\nThe runs are in %s. To write the report:\n./roper report %s --load %s\n")
      :format(folder, folder, load)
    assert.equal(last, output:sub(-#last))
  end)

  it("compares methods at their best rates with --select, or refuses before training", function()
    local status, output, errors = process.run(sweeps.command(folder, "seed=1..2", "--select",
      "rate"))
    assert.same({ 1, "" }, { status, output })
    assert.truthy(errors:find("select: expected a field in which trials differ", 1, true), errors)
    status, output = process.run(sweeps.command(folder, "seed=1..2", "rate=1e-3,1e-2",
      "position=rope,roper", "--select", "rate"))
    assert.equal(0, status)
    assert.truthy(output:find("by the mean loss on seed 1:", 1, true), output)
    assert.truthy(output:find("2 of 2 runs finished.", 1, true), output)
    assert.truthy(output:find(("./roper report %s --select rate\n"):format(folder), 1, true))
    status, output = process.run({ "./roper", "report", folder, "--select", "rate" })
    assert.equal(0, status)
    assert.truthy(output:find("by the mean loss on seed 1:", 1, true), output)
  end)

  it("reports failed trials by its status", function()
    prepare_failing({ heads = "4,2" })
    local status, output, errors = process.run(sweeps.command(folder, "heads=4,2"))
    assert.equal(1, status)
    assert.truthy(output:find("1 of 1 runs are missing (1 failed", 1, true))
    assert.truthy(errors:find(": failed: load_safetensors: ", 1, true), errors)
    assert.truthy(errors:find("\nroper: 1 trial failed; rerun the sweep to retry it\n$"))
  end)

  it("gives up a trial if all its workers die", function()
    -- The system kills a process that writes a file as large as a checkpoint.
    local command = table.concat(sweeps.command(folder, "seed=1"), " ")
    local status, _, errors = process.run({ "sh", "-c", "ulimit -f 8; " .. command })
    assert.equal(1, status, errors)
    local _, restarts = errors:gsub("a worker was killed by signal %d+; it continues from", "")
    assert.equal(2, restarts, errors)
    assert.truthy(errors:find("failed: a worker was killed by signal %d+, like 2 before"), errors)
    assert.equal("failed", stored.read(sweep_file.read(folder)[1].folder).status)
  end)

  it("runs as a single worker", function()
    prepare_failing({ heads = "4,2", seed = "1..2" })
    local status, output, errors = process.run(sweeps.command(folder, "seed=1..2", "heads=4,2",
      "--worker"))
    assert.equal(1, status)
    assert.truthy(output:find("^roper%-1%-%x+: started\nroper%-1%-%x+: failed: load_safetensors: "))
    assert.equal(2, select(2, output:gsub(" of 2 solved by sampling, ", "")))
    assert.truthy(errors:find("2 trials failed", 1, true))
    status, output = process.run({ "./roper", "sweep", folder, "--worker" })
    assert.equal(1, status)
    assert.equal(2, select(2, output:gsub("started", "")))
  end)
end)
