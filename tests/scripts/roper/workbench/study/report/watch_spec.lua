local core = require("roper.core")
local experiment = require("roper.workbench.study.experiment")
local grid = require("roper.workbench.study.experiment.grid")
local plan = require("roper.workbench.study.sweep.plan")
local process = require("tests.process")
local scratch = require("tests.scratch")
local uv = require("luv")
local watch = require("roper.workbench.study.report.watch")

before_each(scratch.create)
after_each(scratch.remove)

-- Adds an entry to the metrics of a trial.
local function log(trial, entry)
  local file <close> = assert(io.open(trial.folder .. "/metrics.jsonl", "a"))
  file:write(core.json_encode(entry), "\n")
end

-- A sweep of four trials, of which the first two have metrics.
local function sweep()
  local folder = scratch.path("sweep")
  local configs = {}
  for _, position in ipairs({ "rope", "roper" }) do
    for seed = 1, 2 do
      configs[#configs + 1] = experiment.configure("copy", { preset = "smoke",
        position = position, seed = seed })
    end
  end
  local trials = plan.add(folder, configs)
  for i = 1, 2 do
    require("roper.system.file").make(trials[i].folder)
    for step = 5, 10, 5 do
      log(trials[i], { step = step, loss = 3 / step, accuracy = step / 100, seconds = step,
        rate = 0.00025, gradient_norm = 1.5, tokens_per_second = 1234, memory = 3 << 20 })
    end
  end
  return folder, trials
end

local function text(folder, columns, rows)
  return table.concat(watch.lines(watch.read(folder), columns or 120, rows or math.huge), "\n")
end

describe("watch", function()
  it("shows counts, a row for each run, and curves", function()
    local folder, trials = sweep()
    local found = text(folder)
    assert.truthy(found:find(": 4 runs: 2 stopped, 2 waiting\n", 1, true), found)
    assert.truthy(found:find(trials[1].name:gsub("%-", "%%-") .. " +stopped +10/20 +0.3000 +"
      .. "0.1000 +0.00025 +1.5 +1234 +3 "), found)
    assert.truthy(found:find(trials[4].name:gsub("%-", "%%-") .. " +waiting +0/20 "), found)
    assert.truthy(found:find("Accuracy on answer tokens", 1, true))
  end)

  it("shows the fields in which runs differ that look alike", function()
    local folder = scratch.path("rates")
    plan.add(folder, grid.configure("copy", { { "preset", "smoke" }, { "rate", { 0.001, 0.01 } } }))
    local found = text(folder)
    assert.truthy(found:find("\n  roper%-1%-%x+ rate=0.001 +waiting"), found)
    assert.truthy(found:find("\n  roper%-1%-%x+ rate=0.01 +waiting"), found)
  end)

  it("fits the terminal, and counts the runs that it leaves out", function()
    local folder = sweep()
    for rows = 6, 40 do
      local lines = watch.lines(watch.read(folder), 80, rows)
      assert.is_true(#lines <= rows, rows .. ": " .. #lines)
    end
    assert.truthy(text(folder, 80, 6):find("  and 2 more", 1, true))
  end)

  it("shows a single run, a folder of runs, and runs without an experiment", function()
    local folder, trials = sweep()
    scratch.write("sweep/" .. trials[1].name .. "/config.json", core.json_encode({
      config = trials[1].config }))
    assert.truthy(text(trials[1].folder .. "/"):find(": 1 run: 1 stopped\n", 1, true))
    require("roper.system.file").make(folder .. "/other")
    scratch.write("sweep/other/config.json", core.json_encode({ config = { steps = 7 } }))
    os.remove(folder .. "/sweep.json")
    local found = text(folder)
    assert.truthy(found:find("2 runs: 1 stopped, 1 waiting", 1, true), found)
    assert.truthy(found:find("other +waiting +0/7 "), found)
    assert.error_matches(function() watch.read(scratch.path("sweep/lock")) end,
      "watch: no runs in ")
  end)
end)

describe("watch with a run that cannot be read", function()
  -- Replaces the configuration of a trial by a symbolic link to itself.
  local function loop(trial)
    local path = trial.folder .. "/config.json"
    os.remove(path)
    assert(uv.fs_symlink("config.json", path))
  end

  it("counts it as failed in a sweep", function()
    local folder, trials = sweep()
    loop(trials[1])
    local found = text(folder)
    assert.truthy(found:find(": 4 runs: 1 failed, 1 stopped, 2 waiting\n", 1, true), found)
    assert.truthy(found:find(trials[1].name:gsub("%-", "%%-") .. " +failed +0/20"), found)
    assert.matches("^cannot read .*config.json: ELOOP", watch.read(folder).trials[1].run.failure)
  end)

  it("goes on on a terminal, and prints the reason", function()
    local _, trials = sweep()
    local folder, path = trials[1].folder, trials[1].folder .. "/config.json"
    scratch.write("sweep/" .. trials[1].name .. "/config.json", core.json_encode({
      config = trials[1].config }))
    local screen = process.open(("stty rows 30 cols 100; ./roper watch %s; echo status $?"):format(
      folder), { TERM = "xterm" })
    screen:expect("1 run: 1 stopped")
    assert(os.rename(path, path .. ".old"))
    loop(trials[1])
    screen:expect("ELOOP: too many symbolic links")
    screen:expect("q or Ctrl-C ends")
    assert(os.rename(path .. ".old", path))
    screen:expect("1 run: 1 stopped")
    screen:type("q")
    screen:expect("status 0")
    assert.equal(0, screen:leave())
  end)
end)

describe("./roper watch", function()
  it("prints the state once without a terminal", function()
    local folder = sweep()
    local status, output, errors = process.run({ "./roper", "watch", folder })
    assert.same({ 0, "" }, { status, errors })
    assert.truthy(output:find("2 stopped, 2 waiting", 1, true))
    assert.falsy(output:find("\27", 1, true))
    status, output, errors = process.run({ "./roper", "watch", scratch.path("nothing") })
    assert.same({ 1, "" }, { status, output })
    assert.truthy(errors:find("nothing", 1, true))
  end)

  for name, key in pairs({ q = "q", ["Ctrl-C"] = "\3" }) do
    it("follows the runs on a terminal until " .. name .. ", and restores it", function()
      local folder, trials = sweep()
      local screen = process.open(("stty rows 30 cols 100; ./roper watch %s; "
        .. "echo status $?; stty -a"):format(folder), { TERM = "xterm" })
      screen:expect("2 stopped, 2 waiting")
      screen:expect("q or Ctrl-C ends")
      log(trials[2], { step = 15, loss = 0.0625, seconds = 15 })
      screen:expect("15/20  0.0625")
      screen:type(key)
      screen:expect("2 stopped, 2 waiting") -- the last state, which stays
      screen:expect("status 0")
      local modes = screen:expect("echoctl")
      assert.truthy(modes:find("[^-]isig icanon"), modes)
      assert.equal(0, screen:leave())
      assert.truthy(screen.process.output:find("\27[?1049l", 1, true))
    end)
  end
end)
