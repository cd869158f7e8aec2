local files = require("roper.system.file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local tables = require("roper.base.tables")

local FOLDER <const> = require("roper.system.paths").LIBRARY .. "/../experiments/along_the_way/"

local comparison = dofile(FOLDER .. "comparison.lua")
local design = dofile(FOLDER .. "design.lua")
local results = dofile(FOLDER .. "results.lua")

-- A finished run with accuracies at 1, 2, 4 and 8 times the trained length.
local function run(...)
  local accuracies = { ... }
  return { result = { accuracy = accuracies[1], longer = {
    { times = 2, accuracy = accuracies[2] }, { times = 4, accuracy = accuracies[3] },
    { times = 8, accuracy = accuracies[4] } } } }
end

-- Runs of a method whose accuracy is the same at all lengths, by seed.
local function flat(accuracies)
  return tables.map(accuracies, function(accuracy)
    return run(accuracy, accuracy, accuracy, accuracy)
  end)
end

describe("the design of the comparison along the way", function()
  it("chooses rates on other seeds than those of the comparison", function()
    for _, stage in ipairs(design.stages) do
      local chooses = tables.set(stage.choosing)
      for _, seed in ipairs(stage.comparing) do
        assert.is_nil(chooses[seed])
      end
    end
  end)

  it("has enough seeds for each test to be significant", function()
    local statistics = require("roper.tensor.statistics")
    local primary = design.stages[1]
    for i, question in ipairs(design.questions) do
      local runs = {}
      for _, task in ipairs(question.tasks) do
        runs[task] = {}
      end
      local tests = comparison.tests(question, runs)
      assert.equal(({ 12, 11, 12 })[i], #tests)
      assert.is_true(#tests * statistics.least_p(#primary.comparing) < comparison.LEVEL)
      for _, pair in ipairs(question.pairs) do
        assert.truthy(tables.set(primary.methods)[pair[1]])
        assert.truthy(tables.set(primary.methods)[pair[2]])
      end
      for _, task in ipairs(question.tasks) do
        assert.truthy(tables.set(primary.tasks)[task] and design.tasks[task])
      end
    end
  end)
end)

describe("the tests of the comparison along the way", function()
  local QUESTION <const> = { pairs = { { "rope", "roper" }, { "alibi", "fox" } },
    times = { 1, 2, 4, 8 }, tasks = { "copy", "recall" }, by_task = true }

  -- On copy, roper is ahead by 0.1 and fox by 0.3; on recall, by 0 and 0.2.
  local function example()
    local low = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7 }
    local function above(by)
      return flat(tables.map(low, function(x) return x + by end))
    end
    return { copy = { rope = flat(low), roper = above(0.1), alibi = flat(low), fox = above(0.3) },
      recall = { rope = flat(low), roper = above(0), alibi = flat(low), fox = above(0.2) } }
  end

  it("average differences of the same seed over pairs, over tasks and over both", function()
    local tests = comparison.tests(QUESTION, example())
    local means = { 0.15, 0.05, 0.25, 0.2, 0.1 }
    assert.same({ "all", "pair", "pair", "task", "task" },
      tables.map(tests, function(test) return test.kind end))
    for i, test in ipairs(tests) do
      assert.near(means[i], test.mean, 1e-12)
      assert.equal(8, test.n)
      assert.near(5 / 128, test.p, 1e-12) -- the smallest p of 8 pairs, for 5 tests
      assert.is_true(test.low > 0 and test.high < 1)
    end
  end)

  it("leave out a seed only where one of its runs is missing", function()
    local runs = example()
    runs.copy.fox[3] = nil
    runs.recall.rope[5].result.longer[3] = nil -- was not measured at 8 times the length
    local tests = comparison.tests(QUESTION, runs)
    assert.same({ 6, 7, 7, 7, 7 }, tables.map(tests, function(test) return test.n end))
  end)

  it("correct for tests that lack all runs, and leave them empty", function()
    local runs = example()
    runs.recall = {}
    local tests = comparison.tests(QUESTION, runs)
    assert.same({ 0, 0, 0, 8, 0 }, tables.map(tests, function(test) return test.n end))
    assert.near(5 / 128, tests[4].p, 1e-12)
    assert.is_nil(tests[1].p)
  end)

  it("find the reach of a run", function()
    local lengths = { 1, 2, 4, 8 }
    assert.equal(2, comparison.reach(run(0.95, 0.9, 0.89, 1), lengths))
    assert.equal(0, comparison.reach(run(0.8, 1, 1, 1), lengths))
    assert.equal(8, comparison.reach(run(1, 1, 1, 1), lengths))
  end)
end)

describe("the scripts of the comparison along the way", function()
  setup(scratch.create)
  teardown(scratch.remove)

  local DESIGN <const> = [[
    local both = { "rope", "alibi" }
    return { fields = { preset = "smoke", d_model = 16, steps = 2, times = "2,4,8",
      test_sequences = 2 }, problems = { problems = 1 }, rates = { 1e-3, 1e-2 },
      times = { 2, 4, 8 }, baseline = "rope",
      tasks = { short = { experiment = "copy", fields = { letters = 3, length = 17 } },
        text = { experiment = "language_model", is_text = true, fields = {} } },
      stages = { { tasks = { "short", "text" }, methods = both, choosing = { 1 },
        comparing = { 2, 3 } }, { tasks = { "short" }, methods = { "none" }, choosing = { 1 },
        comparing = { 2 } } },
      questions = { { title = "Is ALiBi ahead?", pairs = { both }, times = { 1, 2 },
        tasks = { "short" }, by_task = true } } }]]

  local SMALL <const> = load(DESIGN)()

  local function script(name, ...)
    return process.run { "./roper", FOLDER .. name, ... }
  end

  it("choose rates, run the other seeds at them, and print tables", function()
    scratch.write("design.lua", DESIGN)
    local status, _, errors = script("run.lua", scratch.path("runs"), "",
      scratch.path("design.lua"))
    assert.equal(0, status, errors)
    local sweep = require("roper.workbench.study.sweep").read(scratch.path("runs/short"))
    assert.equal(2 * (2 + 2) + 2 + 1, #sweep.trials)
    local at = {}
    for _, trial in ipairs(sweep.trials) do
      assert.equal("finished", trial.run.status)
      at[trial.seed .. trial.config.position] = (at[trial.seed .. trial.config.position] or 0) + 1
    end
    assert.same({ ["1rope"] = 2, ["2rope"] = 1, ["3rope"] = 1, ["1alibi"] = 2, ["2alibi"] = 1,
      ["3alibi"] = 1, ["1none"] = 2, ["2none"] = 1 }, at)
    assert.is_nil(files.stat(scratch.path("runs/text")))
    local saved, rows, problem = script("save.lua", scratch.path("runs"),
      scratch.path("design.lua"))
    assert.equal(0, saved, problem)
    assert.equal(1 + 11, select(2, rows:gsub("\n", "")))
    local listed, printed = script("tables.lua", scratch.write("results.csv", rows),
      scratch.path("design.lua"))
    assert.equal(0, listed)
    for _, part in ipairs({ "| method | short |", "est) |", "### 1. Is ALiBi ahead?",
      "corrected for 3 tests", "| `alibi` − `rope` | 2 | ",
      "| method | × 1 | × 2 | × 4 | × 8 | mean | reach | runs |" }) do
      assert.truthy(printed:find(part, 1, true), part .. "\n" .. printed)
    end
    assert.truthy(printed:find("\n| `none` | [^\n]* | 1 |\n"), printed)
  end)

  it("print the published tables from the published runs", function()
    local _, printed = script("tables.lua")
    local published, count = files.read(FOLDER .. "../README.md"), 0
    for line in printed:gmatch("[^\n]+") do
      local row = line:find(" 95 % interval ", 1, true) and line
        or line:find(" to [+−]") and line
        or line:match("^(| `.*%d%.%d%d%d ± %d%.%d%d%d |) 3 |$") -- of the language model
      if row then
        count = count + 1
        assert.truthy(published:find(row, 1, true), row)
      end
    end
    assert.equal(3 + 12 + 11 + 12 + 13, count)
  end)

  it("compare no seed that chooses rates, also before the others have run", function()
    local sweep = require("roper.workbench.study.sweep").read(scratch.path("runs/short"))
    local function seeds_of(list, choosing)
      local found = {}
      sweep.trials = list
      for _, by_seed in pairs((comparison.read(sweep, choosing))) do
        for seed in pairs(by_seed) do
          found[seed] = true
        end
      end
      return found
    end
    local all = sweep.trials
    assert.same({ [2] = true, [3] = true }, seeds_of(all, { 1 }))
    assert.same({}, seeds_of(tables.map(all, function(trial)
      return trial.seed < 3 and trial or nil
    end), { 1, 2 }))
    -- as if the rate of a method had been chosen twice
    local again = tables.merged(all[1], { seed = 2 })
    again.config = tables.merged(again.config, { seed = 2 })
    assert.same({ [2] = true, [3] = true }, seeds_of(tables.joined(all, { again }), { 1 }))
  end)

  it("run nothing again, but the run that is missing", function()
    local sweep = require("roper.workbench.study.sweep").read(scratch.path("runs/short"))
    local before, removed = {}, sweep.trials[#sweep.trials]
    for _, trial in ipairs(sweep.trials) do
      before[trial.name] = files.stat(trial.folder .. "/result.json").mtime
    end
    files.remove(removed.folder)
    local status, _, errors = script("run.lua", scratch.path("runs"), "",
      scratch.path("design.lua"))
    assert.equal(0, status, errors)
    for _, trial in ipairs(sweep.trials) do
      local now = files.stat(trial.folder .. "/result.json").mtime
      if trial ~= removed then
        assert.same(before[trial.name], now)
      end
    end
  end)

  it("keep which runs diverged, and where a number is missing", function()
    local trials = results.read(SMALL, scratch.write("kept.csv", table.concat({
      results.head(SMALL), 'short,"a{b=1,c=2}",0.001,1,3,1.5,,,,', "short,none,0.001,2,3,,0.5,,1,",
      "text,none,0.001,2,3,,1.5,2,,", "short,none,0.01,3,4,,,,," }, "\n")))
    local short = trials.short.trials
    assert.same({ "a{b=1,c=2}", 0.001, 1, 1.5 }, { short[1].method, short[1].config.rate,
      short[1].seed, short[1].run.result.loss })
    assert.equal(0.5, comparison.value(short[2].run, "accuracy", { 1 }))
    assert.is_nil(comparison.value(short[2].run, "accuracy", { 1, 2 }))
    assert.equal(1, comparison.value(short[2].run, "accuracy", { 4 }))
    assert.equal(2, comparison.value(trials.text.trials[1].run, "loss", { 2 }))
    assert.same({ "finished", "finished", "diverged" },
      tables.map(short, function(trial) return trial.run.status end))
  end)

  it("refuse a row that is not a run of the design", function()
    for _, row in ipairs({ "other,none,0.001,2,3,,0.5,,1,", "short,none,rate,2,3,,0.5,,1,",
                           "x" }) do
      local path = scratch.write("broken.csv", results.head(SMALL) .. "\n" .. row .. "\n")
      assert.error_matches(function() results.read(SMALL, path) end, path
        .. ": expected task, method, rate, seed and seconds, got " .. row, 1, true)
    end
  end)

  it("refuse a design with an unknown method before the first run", function()
    scratch.write("design.lua", (DESIGN:gsub('"none"', '"nonne"')))
    local status, _, errors = process.run { "./roper", FOLDER .. "run.lua", scratch.path("other"),
      "", scratch.path("design.lua") }
    assert.equal(1, status)
    assert.truthy(errors:find('got "nonne"; did you mean "none"', 1, true), errors)
    assert.is_nil(files.stat(scratch.path("other")))
  end)
end)
