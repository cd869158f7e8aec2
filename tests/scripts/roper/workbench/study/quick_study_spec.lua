local designs = require("roper.workbench.study.experiment.design")
local experiment = require("roper.workbench.study.experiment")
local files = require("roper.system.file")
local html = require("tests.html")
local identities = require("roper.identity.rotations")
local grid = require("roper.workbench.study.experiment.grid")
local sweep_file = require("roper.workbench.study.run.sweep_file")
local scratch = require("tests.scratch")
local stdout = require("tests.stdout")
local study = require("roper.workbench.study.quick_study")
local sweeps = require("tests.sweeps")
local uv = require("luv")

describe("study.run", function()
  local folder

  before_each(function()
    scratch.create()
    folder = scratch.path("study")
  end)
  after_each(scratch.remove)

  local function run(options)
    local stream <close> = assert(io.open(scratch.path("log"), "w"))
    local all = { experiment = "substring_index", fields = sweeps.fields({ evaluate_every = 10 }),
                  seeds = 2, folder = folder, stream = stream }
    for name, value in pairs(options or {}) do
      all[name] = value
    end
    return stdout.capture(study.run, all)
  end

  it("trains every method from every seed, and reports", function()
    local text, found = run()
    assert.equal(7, #found.identities)
    assert.equal(0, found.failed)
    assert.equal(4, #found.sweep.trials)
    for i, trial in ipairs(found.sweep.trials) do
      assert.same({ i % 2 == 1 and "rope" or "roper", (i + 1) // 2, "finished" },
                  { trial.method, trial.seed, trial.run.status })
    end
    assert.equal(folder .. "/report.html", found.page)
    html.check(scratch.read(found.page))
    for _, part in ipairs({ "R_a R_b = R_{a+b}", "holds", "Training rope and roper on "
      .. "substring_index, 2 seeds each", "of 2 ", "\n  rope ", "\n  roper ", "Report: "
      .. found.page }) do
      assert.truthy(text:find(part, 1, true), part)
    end
    assert.truthy(text:find("mean of the runs", 1, true))
    assert.is_nil(text:find("FAILS", 1, true))
  end)

  it("trains with the number of threads that is given", function()
    local _, found = run({ seeds = 1, threads = 3, jobs = 1 })
    for _, trial in ipairs(found.sweep.trials) do
      assert.equal(3, trial.run.provenance[1].threads)
    end
  end)

  it("follows the design of an experiment", function()
    local design = designs.of("substring_prefix")
    local small = { steps = 2, substring_length = 10, length = 81, d_model = 16, problems = 2,
                    test_sequences = 4 }
    local text, found = run({ experiment = "substring_prefix", fields = small,
                              seeds = design.seeds })
    local seeds = {}
    for _, trial in ipairs(found.sweep.trials) do
      seeds[#seeds + 1] = trial.method == "roper" and trial.seed or nil
      assert.equal("comparison", trial.config.preset)
    end
    assert.same({ 11, 12, 13, 14, 15, 16 }, seeds)
    assert.truthy(text:find("%f[%a]in loss") or text:find("better in loss"), text)
    assert.is_nil(text:find("Fixed before the first run", 1, true)) -- the fields are others
  end)

  it("notes the design if the sweep has exactly its runs", function()
    local design = designs.of("substring_prefix")
    local trials = {}
    for _, each in ipairs(grid.product(designs.fields(design))) do
      trials[#trials + 1] = { config = experiment.configure("substring_prefix", each) }
    end
    local sweep = { experiment = "substring_prefix", trials = trials }
    assert.equal(12, #trials)
    assert.equal(design.note, designs.note(sweep))
    local last = table.remove(trials)
    assert.is_nil(designs.note(sweep))
    last.config.rate = 1e-3
    trials[12] = last
    assert.is_nil(designs.note(sweep))
  end)

  it("runs only missing trials", function()
    run()
    local before = sweeps.results(folder)
    run({ seeds = 3 })
    local after, count = sweeps.results(folder)
    assert.equal(6, count)
    for name, bytes in pairs(before) do
      assert.equal(bytes, after[name])
    end
  end)

  it("draws curves without values that are not finite", function()
    run({ seeds = 1 })
    for _, trial in ipairs(sweep_file.read(folder)) do
      local path = trial.folder .. "/metrics.jsonl"
      local text = files.read(path):gsub('"accuracy": [^,]*', '"accuracy": null', 1)
      assert.truthy(text:find("null", 1, true))
      files.write(path, text)
    end
    assert.truthy((run({ seeds = 1 })):find("mean of the runs", 1, true))
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
    refuses({ methods = { "rope", "ropper" } }, 'got "ropper"; did you mean "roper"')
    refuses({ fields = { preset = "smok" } }, 'has no preset "smok"; did you mean "smoke"')
    refuses({ experiment = "adition" }, 'did you mean "addition"')
    refuses({ seeds = 0 }, "study: option seeds: expected a positive integer, got 0")
    refuses({ seed = 1 }, 'study: unknown option seed; did you mean "seeds"')
    assert.is_nil(uv.fs_stat(folder))
  end)
end)
