local experiment = require("roper.experiment")
local html = require("tests.html")
local identities = require("roper.identities")
local metrics = require("roper.metrics")
local plot = require("roper.plot")
local scratch = require("tests.scratch")
local stdout = require("tests.stdout")
local study = require("roper.study")
local uv = require("luv")

describe("study.mean", function()
  it("gives mean and standard error", function()
    local mean, deviation = study.mean({ 1, 2, 3, 6 })
    assert.equal(3, mean)
    assert.is_true(math.abs(deviation - (14 / 3 / 4) ^ 0.5) < 1e-15)
    assert.same({ 5, 0 }, { study.mean({ 5, 5 }) })
    assert.same({ 7 }, { study.mean({ 7 }) })
    assert.is_nil((study.mean({})))
  end)
end)

describe("study.table", function()
  it("has a row a method", function()
    local results = {
      { method = "rope", solved = 10, problems = 128, loss = 1.5, floor = 1.25 },
      { method = "rope", solved = 20, problems = 128, loss = 1.7, floor = 1.25 },
      { method = "roper", solved = 128, problems = 128, loss = 1.3, floor = 1.25,
        steps_to_90 = 100 },
      { method = "roper", solved = 128, problems = 128, loss = 1.3, floor = 1.25 },
      { method = "none", solved = 5, problems = 128, loss = 1.3, floor = 1.25, steps_to_90 = 50 },
    }
    assert.same({
      { "method", "correct of 128", "loss", "floor", "steps to 90 %", "runs" },
      { "rope", "15.0 ± 5.0", "1.6000 ± 0.1000", "1.2500", "- (2 of 2 never)", "2" },
      { "roper", "128.0 ± 0.0", "1.3000 ± 0.0000", "1.2500", "100 (1 of 2 never)", "2" },
      { "none", "5.0", "1.3000", "1.2500", "50", "1" },
    }, study.table(results, { "rope", "roper", "none" }))
  end)
end)

describe("study.align", function()
  it("lines up columns, the first to the left", function()
    assert.equal("  a     bbb\n  ccc   ± 1", study.align({ { "a", "bbb" }, { "ccc", "± 1" } }))
  end)
end)

describe("study.run", function()
  local folder
  local names = { "rope-1", "rope-2", "roper-1", "roper-2" }

  before_each(function()
    scratch.create()
    folder = scratch.path("study")
  end)
  after_each(scratch.remove)

  local function run(options)
    local all = { preset = "smoke", seeds = 2, folder = folder, progress = false }
    for name, value in pairs(options or {}) do
      all[name] = value
    end
    return stdout.capture(study.run, all)
  end

  -- Which of the runs are trained or measured again while f runs?
  local function count_runs(f)
    local real, count = experiment.run, 0
    experiment.run = function(...)
      count = count + 1
      return real(...)
    end
    local ok, message = pcall(f)
    experiment.run = real
    assert(ok, message)
    return count
  end

  -- The result of a run without the time it took, and that time.
  local function result_of(name)
    local text = scratch.read(("%s/%s/result.json"):format(folder, name))
    return (text:gsub('"seconds": [^,\n]*', "")), text:match('"seconds": ([^,\n]*)')
  end

  it("trains every method from every seed, and reports", function()
    local text, found = run()
    assert.equal(7, #found.identities)
    assert.equal(4, #found.results)
    for i, result in ipairs(found.results) do
      assert.equal(i % 2 == 1 and "rope" or "roper", result.method)
      assert.equal((i + 1) // 2, result.seed)
      assert.equal(result.method, result.config.position)
      assert.equal(result.seed, result.config.seed)
    end
    local page = scratch.read(found.page)
    assert.equal(folder .. "/report.html", found.page)
    local counts = html.check(page)
    assert.equal(plot.available() and 2 or nil, counts.svg)
    for _, part in ipairs({ "R_a R_b = R_{a+b}", "holds", "Training rope and roper on "
      .. "substring_index (smoke), 2 seeds each", "correct of 4", "rope ", "roper ",
      "4 runs in ", found.page }) do
      assert.truthy(text:find(part, 1, true), part)
    end
    assert.is_nil(text:find("FAILS", 1, true))
  end)

  it("runs nothing again, but what is missing", function()
    run()
    local before, seconds = {}, {}
    for _, name in ipairs(names) do
      before[name], seconds[name] = result_of(name)
    end
    -- Check that all is as before, and which run took another time.
    local function assert_same_but(again)
      for _, name in ipairs(names) do
        local result, took = result_of(name)
        assert.equal(before[name], result)
        assert.equal(name == again, took ~= seconds[name])
        seconds[name] = took
      end
    end
    assert.equal(0, count_runs(function()
      local text, found = run()
      assert.truthy(text:find("rope  seed 1: done before, in ", 1, true))
      assert.equal(4, #found.results)
      assert.equal(2, #found.results[4].history)
    end))
    assert_same_but(nil)

    assert(os.remove(folder .. "/roper-1/result.json"))
    assert.equal(1, count_runs(run))
    assert_same_but("roper-1")

    os.execute(("rm -r '%s/rope-2'"):format(folder))
    assert.equal(1, count_runs(run))
    assert_same_but("rope-2")

    assert.equal(2, count_runs(function() run({ methods = { "none", "rope" } }) end))
    assert_same_but(nil)
  end)

  it("takes up what was torn", function()
    run({ seeds = 1 })
    local before = result_of("rope-1")
    local whole = scratch.read(folder .. "/rope-1/result.json")
    for _, torn in ipairs({ "", "{", whole:sub(1, #whole // 2), "{}" }) do
      scratch.write("study/rope-1/result.json", torn)
      assert.equal(1, count_runs(function() run({ seeds = 1 }) end))
      assert.equal(before, (result_of("rope-1")))
    end
  end)

  it("goes on when it is to train longer, and refuses to train less", function()
    run({ seeds = 1, fields = { steps = 10 } })
    assert.equal(2, count_runs(function() run({ seeds = 1, fields = { steps = 30 } }) end))
    assert.equal(30, metrics.read(folder .. "/rope-1/metrics.jsonl")[3].step)
    assert.error_matches(function() run({ seeds = 1, fields = { steps = 20 } }) end,
                         "rope%-1/checkpoint.safetensors: is at step 30, past the 20 asked for")
    assert.error_matches(function() run({ seeds = 1, fields = { steps = 30, base = 5 } }) end,
                         "belongs to another configuration: base is 10000 there and 5 here")
  end)

  it("does without gnuplot", function()
    local available = plot.available
    plot.available = function() return false end
    local ok, _, made = pcall(run, { seeds = 1 })
    plot.available = available
    assert.is_true(ok)
    assert.is_nil(html.check(scratch.read(made.page)).svg)
  end)

  it("stops before training when an identity fails", function()
    local residuals = identities.residuals
    identities.residuals = function()
      local list = residuals()
      list[3].holds = false
      return list
    end
    local ok, message = pcall(run)
    identities.residuals = residuals
    assert.is_false(ok)
    assert.truthy(message:find("study: an identity fails", 1, true))
    assert.is_nil(uv.fs_stat(folder))
  end)

  it("refuses bad options before it trains", function()
    local function refuses(options, message)
      assert.error_matches(function() run(options) end, message)
    end
    refuses({ methods = {} }, "study: methods: expected a list of position schemes, got an empty")
    refuses({ fields = { position = "rope" } }, "study: fields: position and seed are set by")
    refuses({ fields = { seed = 3 } }, "study: fields: position and seed are set by")
    refuses({ fields = { stepz = 3 } }, 'has no field "stepz"; did you mean "steps"')
    refuses({ methods = { "rope", "ropper" } }, 'got ropper; did you mean "roper"')
    refuses({ preset = "smok" }, 'has no preset "smok"; did you mean "smoke"')
    refuses({ experiment = "adition" }, 'did you mean "addition"')
    refuses({ seeds = 0 }, "study: option seeds: expected a whole number from 1 on, got 0")
    refuses({ seed = 1 }, 'study: unknown option seed; did you mean "seeds"')
    assert.is_nil(uv.fs_stat(folder))
  end)
end)
