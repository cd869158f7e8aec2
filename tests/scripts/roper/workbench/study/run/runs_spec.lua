local core = require("roper.core")
local evaluation = require("roper.training.evaluation")
local experiment = require("roper.workbench.study.experiment")
local files = require("roper.system.file")
local process = require("tests.process")
local roper = require("roper")
local run = require("roper.workbench.study.run")
local stored = require("roper.workbench.study.run.runs")
local scratch = require("tests.scratch")
local sweeps = require("tests.sweeps")
local uv = require("luv")

setup(function()
  scratch.create()
  for _, position in ipairs({ "rope", "roper", "twice" }) do
    local fields = sweeps.fields({ position = position, seed = 5 })
    run.run(experiment.configure("substring_index", fields),
            { run = scratch.path("runs/" .. position), progress = false })
  end
end)
teardown(scratch.remove)

local function config_of(position)
  return experiment.configure("substring_index", sweeps.fields({ position = position, seed = 5 }))
end

describe("runs.read", function()
  it("reads all files of a finished run", function()
    local one = stored.read(scratch.path("runs/rope"))
    assert.same({ "finished", 20 }, { one.status, one.step })
    assert.same(config_of("rope"), one.config)
    assert.same(config_of("rope"), one.result.config)
    assert.equal(2, #one.samples.sampled)
    assert.equal(2, #one.samples.greedy)
    assert.equal(roper.version, one.provenance[1].version)
    assert.is_nil(one.result.steps_to_90)
    assert.is_nil(one.failure)
  end)

  it("finds a run finished with recompute or without", function()
    local config = config_of("rope")
    config.recompute = true
    local folder = scratch.path("runs/again")
    run.run(config, { run = folder, progress = false })
    assert.equal("finished", stored.read(folder).status)
    assert.is_not_nil(stored.result(folder, config_of("rope")))
    os.execute(("rm -r '%s'"):format(folder))
  end)

  it("finds the step of a run that is not finished", function()
    local folder = scratch.path("runs/broken")
    local function stop(message, at)
      local config = config_of("none")
      pcall(run.run, config, { run = folder, resume = true, progress = { finish = function() end,
        update = function(_, step)
          if step == at then
            error(message, 0)
          end
        end } })
    end
    stop("interrupted", 15)
    local one = stored.read(folder)
    assert.same({ "stopped", 10 }, { one.status, one.step })
    assert.is_nil(one.result)
    stop("the disk is on fire", 20)
    one = stored.read(folder)
    assert.same({ "failed", "the disk is on fire" }, { one.status, one.failure })
    local _, listed = process.run({ "./roper", "runs", folder })
    assert.truthy(listed:find(folder .. " failed: the disk is on fire\n", 1, true), listed)
    os.execute(("rm -r '%s'"):format(folder))
  end)

  it("takes a configuration if the folder does not exist yet", function()
    local one = stored.read(scratch.path("none"), config_of("rope"))
    assert.same({ "waiting", 0, {} }, { one.status, one.step, one.metrics })
    assert.error_matches(function() stored.read(scratch.path("none")) end,
                         "^runs: there is no folder .*/none$")
    files.make(scratch.path("none"))
    assert.error_matches(function() stored.read(scratch.path("none")) end,
                         "runs: expected a run in .*/none, found no config.json of one")
    assert.error_matches(function() stored.read(scratch.write("file", "")) end,
                         "^runs: expected a folder, got the file .*/file$")
    assert.error_matches(function() stored.read(scratch.path("nonee")) end,
                         '^runs: there is no folder .*/nonee; did you mean "none"%?$')
  end)
end)

describe("runs.result", function()
  it("is nil for another configuration or a damaged file", function()
    local folder = scratch.path("runs/rope")
    assert.is_table(stored.result(folder))
    assert.is_table(stored.result(folder, config_of("rope")))
    assert.is_nil(stored.result(folder, config_of("roper")))
    local whole = scratch.read(folder .. "/result.json")
    for _, torn in ipairs({ "", "{", whole:sub(1, #whole // 2), "{}", "[]", "null" }) do
      scratch.write("runs/rope/result.json", torn)
      assert.is_nil(stored.result(folder))
    end
    scratch.write("runs/rope/result.json", whole)
  end)
end)

describe("a result or samples of a wrong form", function()
  local folder

  before_each(function()
    folder = scratch.path("wrong")
    files.make(folder)
  end)
  after_each(function() os.execute(("rm -r '%s'"):format(folder)) end)

  local function write(name, content)
    scratch.write("wrong/" .. name .. ".json", core.json_encode(content))
  end

  it("counts as damaged", function()
    local config = config_of("rope")
    local cell = { distance = 1, right = 1, count = 2 }
    local function refuses(name, value)
      write("result", { config = config, [name] = value })
      assert.is_nil(stored.result(folder), name)
    end
    for name, value in pairs({ solved = "3", problems = 1.5, loss = { 1 }, test_floor = true,
                               steps_to_90 = "x", by_distance = { cell, 5 } }) do
      refuses(name, value)
    end
    for _, entry in ipairs({ {}, { name = "a", times = "2" }, { name = "a", solved = "3" } }) do
      refuses("longer", { entry })
    end
    local whole = { config = config, solved = 3, problems = 4, loss = core.json_null,
                    by_distance = { cell }, longer = core.json_array() }
    write("result", whole)
    assert.equal(3, stored.result(folder).solved)
    for _, samples in ipairs({ { sampled = 5 }, { sampled = { 5 } }, { greedy = { { text = 5 } } },
                               { sampled = { { question = "q", text = "t", solved = true } } } }) do
      write("samples", samples)
      assert.is_nil(stored.read(folder, config).samples)
    end
  end)
end)

describe("runs.differences", function()
  it("lists the fields that differ", function()
    assert.same({ { field = "position", a = "rope", b = "roper" } },
                stored.differences(config_of("rope"), config_of("roper")))
    assert.same({ { field = "a", a = 1 }, { field = "c", b = 2 } },
                stored.differences({ a = 1, b = false }, { c = 2 }))
    assert.is_true(stored.same({ a = 1, b = false }, { a = 1 }))
  end)
end)

describe("runs.model", function()
  it("is the model that was trained, the last or the best", function()
    for _, position in ipairs({ "rope", "twice" }) do
      local one = stored.read(scratch.path("runs/" .. position))
      local model, task = stored.model(one)
      local found = evaluation.answers(model, task, { seed = 1000003, sequences = 4,
                                                      batch = one.config.batch })
      assert.equal(one.result.loss, found.loss)
      assert.equal(one.result.by_distance[1].right, found.by_distance[1].right)
      model = stored.model(one, "best")
      found = evaluation.answers(model, task, { seed = 1000003, sequences = 32,
                                                batch = one.config.batch })
      assert.equal(one.metrics[2].test_loss, found.loss)
    end
  end)
end)

describe("./roper runs", function()
  local function list(...)
    return process.run({ "./roper", "runs", ... })
  end

  it("lists runs", function()
    local status, output = list(scratch.path("runs"))
    assert.equal(0, status)
    assert.equal(4, select(2, output:gsub("\n", "")))
    assert.truthy(output:find("/rope +rope +smoke +5  finished  20/20 +%d/2  %d%.%d+\n"), output)
  end)

  it("sorts them by folder, position and seed", function()
    local folder = scratch.path("sorted")
    for _, place in ipairs({ "b/1 rope 10", "b/2 rope 9", "b/3 none 11", "a/9 xpos 1",
                             "10 rope 2" }) do
      local name, position, seed = place:match("(%S+) (%S+) (%S+)")
      files.make(folder .. "/" .. name)
      scratch.write(("sorted/%s/config.json"):format(name), core.json_encode({ config =
        { experiment = "copy", position = position,
          seed = tonumber(seed), steps = 1 } }))
    end
    local _, output = list(folder)
    local found = {}
    for name, position, seed in output:gmatch("\n  "
      .. folder:gsub("%p", "%%%0") .. "/(%S+) +(%S+) +%- +(%d+) ") do
      found[#found + 1] = ("%s %s %s"):format(name, position, seed)
    end
    assert.same({ "10 rope 2", "a/9 xpos 1", "b/3 none 11", "b/2 rope 9", "b/1 rope 10" }, found)
  end)

  it("shows the fields in which runs differ that look alike", function()
    for i, rate in ipairs({ 0.5, 0.25, 0.25 }) do
      files.make(scratch.path("alike/" .. i))
      scratch.write(("alike/%d/config.json"):format(i), core.json_encode({ config = { seed = i // 3,
        experiment = "copy", position = "rope", rate = rate, batch = 4 * i, steps = 1 } }))
    end
    local _, output = list(scratch.path("alike"))
    assert.truthy(output:find("seed  differs in +status"), output)
    for name, part in pairs({ ["1"] = "0  rate=0.5 +waiting", ["2"] = "0  rate=0.25 +waiting",
                              ["3"] = "1 +waiting" }) do
      assert.truthy(output:find(("/alike/%s +rope +%%- +%s"):format(name, part)), output)
    end
    assert.is_nil(select(2, list(scratch.path("alike"), "seed=1")):find("differs", 1, true))
  end)

  it("lists the runs that have the values", function()
    local folder = scratch.path("runs")
    for count, words in pairs({ [1] = { "position=twice" }, [2] = { "position=twice,rope" },
                                [3] = { "seed=1..9", "status=finished", "rate=1e-3" } }) do
      local _, output = list(folder, table.unpack(words))
      assert.equal(count + 1, select(2, output:gsub("\n", "")), output)
    end
    local _, output = list(folder, "seed=7")
    assert.equal(("no matching run among the 3 in %s\n"):format(folder), output)
    local status, _, errors = list(folder, "positon=rope")
    assert.same({ 1, 'roper: runs: no run has a field "positon"; did you mean "position"?\n' },
                { status, errors })
    status, _, errors = list(folder, "status=failed,finishd")
    assert.same({ 1, "roper: field status: expected one of finished, diverged, failed, running, "
      .. 'stopped, waiting, stale, got "finishd"; did you mean "finished"?\n' }, { status, errors })
    status, _, errors = list("/nowhere")
    assert.same({ 1, "roper: runs: there is no folder /nowhere\n" }, { status, errors })
  end)

  it("reports an empty folder, and prints a row on one line", function()
    local folder = scratch.path("empty")
    files.make(folder)
    assert.same({ 0, "no runs in " .. folder .. "\n", "" }, { list(folder) })
    files.make(folder .. "/new\nline")
    scratch.write("empty/new\nline/config.json", core.json_encode({ config = { steps = 1 } }))
    local _, output = list(folder)
    assert.truthy(output:find("\n  " .. folder .. "/new\\nline  ", 1, true), output)
  end)

  it("fits a terminal", function()
    local folder = scratch.path("wide")
    files.make(folder .. "/substring_index-roper-12")
    scratch.write("wide/substring_index-roper-12/config.json",
                  '{"config": {"preset": "smoke", "position": "roper", "seed": 12, '
                  .. '"steps": 1000}}')
    local function shows(columns, text)
      local screen = process.open(("stty cols %d; cd '%s' && %s/roper runs ../wide"):format(columns,
        folder, uv.cwd()))
      screen:expect(text)
      assert.equal(0, screen:leave())
    end
    shows(100, "  run                               position  preset  seed   status    step  "
      .. "correct  loss\n  ../wide/substring_index-roper-12     roper   smoke    12  waiting  "
      .. "0/1000        -     -\n")
    shows(80, "  run                             position  seed   status    step  correct  loss\n"
      .. "  ../wide/substring_index-roper-     roper    12  waiting  0/1000        -     -\n  12\n"
      .. "  not shown, for lack of room: preset\n")
    shows(50, "  run                         status    step  loss\n"
      .. "  ../wide/substring_index-r  waiting  0/1000     -\n  oper-12\n"
      .. "  not shown, for lack of room: preset, position,\n  seed, correct\n")
    local other = folder .. "/substring_index-roper-13"
    files.make(other)
    scratch.write("wide/substring_index-roper-13/config.json", '{"config": {"seed": 13}}')
    local line = "./roper runs --compare '%s/substring_index-roper-12' '%s'"
    local screen = process.open("stty cols 40; " .. line:format(folder, other))
    screen:expect("  field     first  second\n  position  roper  -\n"
      .. "  preset    smoke  -\n  seed      12     13\n  steps     1000   -\n")
    assert.equal(0, screen:leave())
  end)

  it("lists odd runs and skips other folders", function()
    local config = core.json_encode({ config = { steps = { 1 }, preset = { "x" } } })
    for name, text in pairs({ torn = '{"config"', another = '{"name": "x"}', odd = config,
                              ["deep/torn"] = "", ["deep/odd"] = config }) do
      files.make(scratch.path("odd/" .. name))
      scratch.write("odd/" .. name .. "/config.json", text)
    end
    local status, output, errors = list(scratch.path("odd"))
    assert.same({ 0, "" }, { status, errors })
    local found = {}
    for path in output:gmatch("\n  (%S+)") do
      found[#found + 1] = path
    end
    assert.same({ scratch.path("odd/odd"), scratch.path("odd/deep/odd") }, found)
  end)

  it("distinguishes a damaged checkpoint from a missing one", function()
    local folder = scratch.path("halted")
    local metrics = '{"step": 3, "loss": 1, "tokens": 9, "seconds": 1}\n'
    for name, checkpoint in pairs({ begun = false, damaged = "torn" }) do
      files.make(folder .. "/" .. name)
      scratch.write("halted/" .. name .. "/config.json", '{"config": {"experiment": "addition"}}')
      scratch.write("halted/" .. name .. "/metrics.jsonl", metrics)
      if checkpoint then
        scratch.write("halted/" .. name .. "/checkpoint.safetensors", checkpoint)
      end
    end
    local status, output, errors = list(folder)
    assert.equal(1, status)
    assert.truthy(output:find("/damaged +%- +%- +%- +stopped +3/%?"), output)
    local told = ("\n\n%s/begun stopped before its first checkpoint; it will restart from step 0\n"
      .. "\nResume with:\n./roper train --resume %s/begun\n"):format(folder, folder)
    assert.equal(told, output:sub(-#told))
    local reason = ('roper: runs: load_safetensors: cannot read "%s/damaged/'):format(folder)
    assert.equal(reason, errors:sub(1, #reason))
  end)

  it("lists readable runs and reports unreadable ones", function()
    local folder = scratch.path("mixed")
    local config = core.json_encode({ config = { seed = 1 } })
    local path = {}
    for _, name in ipairs({ "bad", "far", "fifo", "good", "loop" }) do
      path[name] = folder .. "/" .. name
      files.make(path[name])
    end
    scratch.write("mixed/bad/config.json", config)
    scratch.write("mixed/bad/metrics.jsonl", "{}\n")
    scratch.write("mixed/far/config.json", config)
    scratch.write("mixed/far/lease-9223372036854775807.json", "")
    assert.equal(0, (process.run({ "mkfifo", path.fifo .. "/config.json" })))
    scratch.write("mixed/good/config.json", config)
    assert(uv.fs_symlink("config.json", path.loop .. "/config.json"))
    local status, output, errors = list(folder)
    assert.equal(1, status)
    local found = {}
    for listed in output:gmatch("\n  (%S+)") do
      found[#found + 1] = listed
    end
    assert.same({ path.far, path.good }, found)
    for _, message in ipairs({
      path.fifo .. "/config.json: expected a file, got a fifo\n",
      path.loop .. "/config.json: ELOOP: too many symbolic links encountered\n",
      path.bad .. "/metrics.jsonl:1: expected a JSON object with a step, got {}\n",
    }) do
      assert.truthy(errors:find(message, 1, true), errors)
    end
  end)

  it("lists a result that is not finite", function()
    files.make(scratch.path("infinite"))
    local config = '"config": {"seed": 1}'
    scratch.write("infinite/config.json", ("{%s}"):format(config))
    scratch.write("infinite/result.json", ('{%s, "solved": 3, "problems": 4, "loss": null}'):format(
      config))
    local _, output = list(scratch.path("infinite"))
    assert.truthy(output:find(" 1  finished   0/%?      3/4     %-\n$"), output)
  end)

  it("compares two", function()
    local a, b = scratch.path("runs/rope"), scratch.path("runs/roper")
    local _, output = list("--compare", a, b)
    assert.truthy(output:find("\n  position +rope +roper\n$"), output)
    _, output = list("--compare", a, a)
    assert.equal("no difference\n", output)
    local path = scratch.path("runs/rope/config.json")
    local before = scratch.read(path)
    local about = core.json_decode(before)
    about.provenance = { { commit = "abc1234", threads = 1, step = 0 },
                     { commit = "def5678", threads = 1, step = 12 } }
    scratch.write("runs/rope/config.json", core.json_encode(about))
    _, output = list("--compare", a, b)
    scratch.write("runs/rope/config.json", before)
    assert.truthy(output:find("\n  commit +abc1234 then def5678 from step 12 +%S+\n"), output)
    local status, _, errors = list("--compare", a, "/nowhere")
    assert.equal(1, status)
    assert.truthy(errors:find("runs: there is no folder /nowhere\n", 1, true))
  end)
end)
