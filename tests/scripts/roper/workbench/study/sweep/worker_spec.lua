local core = require("roper.core")
local experiment = require("roper.workbench.study.experiment")
local files = require("roper.system.file")
local claims = require("roper.workbench.study.run.claim")
local stored = require("roper.workbench.study.run.runs")
local plan = require("roper.workbench.study.sweep.plan")
local process = require("tests.process")
local run = require("roper.workbench.study.run")
local scratch = require("tests.scratch")
local sweeps = require("tests.sweeps")
local worker = require("roper.workbench.study.sweep.worker")

before_each(scratch.create)
after_each(scratch.remove)

-- The events of a worker process, in order.
local function messages(folder, trials)
  local names = {}
  for i, trial in ipairs(trials) do
    names[i] = trial.name
  end
  local status, output, errors = process.run({ "lua5.4", "-e",
    "os.exit(require('roper.workbench.study.sweep.worker').main(), true)" },
    core.json_encode({ folder = folder, trials = core.json_array(names), threads = 1 }),
    { LUA_PATH_5_4 = package.path, LUA_CPATH_5_4 = package.cpath })
  assert.same({ 0, "" }, { status, errors })
  local list = {}
  for line in output:gmatch("[^\n]+") do
    list[#list + 1] = core.json_decode(line)
  end
  return list
end

describe("worker.run", function()
  it("does not take a trial that another worker finishes in the meantime", function()
    local config = experiment.configure("substring_index", sweeps.fields({ seed = 1 }))
    local trials = plan.add(scratch.path("sweep"), { config })
    local folder, result = trials[1].folder, stored.result
    finally(function() stored.result = result end)
    stored.result = function(...)
      stored.result = result
      local before = result(...)
      local held = claims.take(folder)
      files.write(folder .. "/result.json", core.json_encode({ config = config }))
      held:leave("finished")
      return before
    end
    assert.equal(0, worker.run(trials, function() error("it is taken") end))
    assert.equal(1, claims.read(folder).number)
    assert.equal(result, stored.result)
  end)
end)

describe("worker.main", function()
  it("reports the start, the end and the outcome of trials to its sweep", function()
    local folder, configs = scratch.path("sweep"), {}
    for seed = 1, 3 do
      configs[seed] = experiment.configure("substring_index", sweeps.fields({ seed = seed }))
    end
    local trials = plan.add(folder, configs)
    -- The second resumes from step 15, with the same number of threads.
    local threads = core.threads()
    finally(function() core.threads(threads) end)
    core.threads(1)
    assert.error_matches(function()
      run.run(configs[2], { run = trials[2].folder, progress = { finish = function() end,
        update = function(_, step)
          if step == 15 then
            error("interrupted", 0)
          end
        end } })
    end, "^interrupted$")
    local firsts, events = { 0, 15 }, {}
    for _, message in ipairs(messages(folder, { trials[1], trials[2] })) do
      local number = message.trial == trials[1].name and 1 or 2
      if message.event == "step" then
        assert.same({ firsts[number], "number", "number" },
          { message.first, type(message.loss), type(message.speed) })
      end
      if message.event ~= "step" or message.step == 20 then
        events[#events + 1] = message.event .. " " .. number
      end
    end
    assert.same({ "begin 1", "step 1", "finish 1", "begin 2", "step 2", "finish 2" }, events)
  end)
end)
