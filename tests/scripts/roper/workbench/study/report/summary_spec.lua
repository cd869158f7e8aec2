local comparison = require("roper.workbench.study.report.comparison")
local fixture = require("tests.fixtures.statistics")
local summary = require("roper.workbench.study.report.summary")
local lengths = require("roper.workbench.study.report.lengths")
local report = require("roper.workbench.study.report")
local reports = require("tests.reports")
local results = require("roper.workbench.study.report.results")

-- A trial of a method like those of `sweep.read`; without a result it has the state `status`.
local function trial(method, seed, result, status)
  return { method = method, seed = seed, run = { status = status or "finished",
    config = { seed = seed, steps = 500 }, provenance = { { commit = "abc", threads = 2 } },
    result = result } }
end

local function result(solved, loss, steps)
  return { solved = solved, solved_greedy = solved, problems = 128, accuracy = solved / 128,
    loss = loss, last_half = loss + 1, test_floor = 1.25, steps_to_90 = steps }
end

-- Ten runs of each of two methods, which share eight seeds.
local function sweep()
  local trials = {}
  for seed, solved in ipairs(fixture[3].numbers) do
    trials[#trials + 1] = trial("rope", seed, result(solved, 1.3 + seed / 1000,
      seed <= 4 and 100 * seed or nil))
    trials[#trials + 1] = trial("roper", seed + 2, result(100, 1.28, 200))
  end
  return { methods = { "rope", "roper" }, trials = trials }
end

local function view_of(found, baseline)
  return { sweep = found, summary = summary.of(found, baseline) }
end

-- The output on a terminal of 80 columns.
local function text_of(found, baseline)
  return report.text(view_of(found, baseline), { width = 80 })
end

-- The same without line breaks.
local function words_of(found, baseline)
  return (text_of(found, baseline):gsub("%s+", " "))
end

-- The rows of the tables of a report; nil if it has no such table.
local function study_rows(found)
  return reports.rows(results(view_of(found)), "study")
end

local function length_rows(found, baseline)
  return reports.rows(lengths(view_of(found, baseline)), "longer")
end

local function pair_rows(found, baseline)
  return reports.rows(comparison.brief(summary.of(found, baseline)), "pairs")
end

describe("summary.of", function()
  it("has the statistics of each method", function()
    local rope = summary.of(sweep()).methods[1]
    assert.same({ "rope", 10, 10, 0 }, { rope.method, rope.planned, rope.finished, rope.failed })
    assert.same({ 10, 9, 1 }, { rope.solved.n, rope.solved.kept, rope.solved.removed })
    assert.near(fixture[3].mean, rope.solved.mean, 1e-12)
    assert.near(fixture[3].error, rope.solved.error, 1e-12)
    assert.equal(106, rope.solved.median)
    assert.near((983 - 30) / 9, rope.solved.trimmed, 1e-12) -- the worst solved the fewest
    assert.near((13.055 - 1.31) / 9, rope.loss.trimmed, 1e-12) -- the worst lost the most
    assert.is_true(rope.loss.low < rope.loss.mean and rope.loss.mean < rope.loss.high)
    assert.same({ n = 10, reached = 4, limit = 500, mean = 400.0,
                  above = true, error = rope.steps_to_90.error }, rope.steps_to_90)
  end)

  it("does not compare runs of different experiments", function()
    local found = sweep()
    for _, one in ipairs(found.trials) do
      one.run.config.experiment = one.method == "rope" and "addition" or "substring_index"
    end
    for _, pair in ipairs(summary.of(found).pairs) do
      assert.equal(0, pair.n)
    end
    assert.is_nil(pair_rows(found))
  end)

  it("pairs the runs of each experiment if a sweep has several", function()
    local trials = {}
    for _, name in ipairs({ "addition", "copy" }) do
      for i, method in ipairs({ "rope", "roper" }) do
        trials[#trials + 1] = trial(method, 1, result(i, 1.3, 200))
        trials[#trials].run.config.experiment = name
      end
    end
    assert.equal(2, summary.of({ methods = { "rope", "roper" }, trials = trials }).pairs[1].n)
  end)

  describe("with longer problems", function()
    -- Eight seeds of three methods; at twice the length b is better than a, c is not.
    local function longer()
      local trials = {}
      for seed = 1, 8 do
        for method, more in pairs({ a = 0, b = 0.2, c = seed % 2 == 0 and 0.1 or -0.1 }) do
          local found = result(100, 1.3, 200)
          found.longer = { { name = "letters=9", times = 1.5, accuracy = 0.5 },
            { name = "letters=12", times = 2, accuracy = 0.4 + more + seed / 100 } }
          trials[#trials + 1] = trial(method, seed, found)
        end
      end
      return { methods = { "b", "a", "c" }, trials = trials }
    end

    it("has the accuracy at each length as a measure", function()
      local found = summary.of(longer())
      assert.near(0.645, found.methods[1]["accuracy_2"].mean, 1e-12)
      assert.same({ "times the length", "1", "1.5", "2" }, length_rows(longer())[1])
      assert.same({ "a", "0.781 ± 0.000", "0.500 ± 0.000", "0.445 ± 0.009" },
        length_rows(longer())[3])
      assert.is_nil(length_rows(sweep()))
    end)

    it("has the accuracy beyond the trained size as measures of their own, if it was measured",
        function()
      local found = longer()
      for _, one in ipairs(found.trials) do
        for i, entry in ipairs(one.run.result.longer) do
          entry.accuracy_beyond = i == 2 and entry.accuracy - 0.25 or nil
        end
      end
      assert.near(0.395, summary.of(found).methods[1].accuracy_beyond_2.mean, 1e-12)
      local names = {}
      for i, measure in ipairs(summary.of(found).measures) do
        names[i] = measure.name
      end
      assert.truthy(table.concat(names, " "):find("accuracy_1.5 accuracy_2 accuracy_beyond_2", 1,
        true))
      assert.is_nil(table.concat(names, " "):find("accuracy_beyond ", 1, true))
      local text = words_of(found, "a")
      assert.truthy(text:find("Accuracy by length times the length 1 1.5 2 b 0.781", 1, true))
      assert.truthy(text:find("Accuracy beyond the trained size by length times the length 2 "
        .. "b 0.395 ± 0.009 + a 0.195 ± 0.009", 1, true))
      assert.is_nil(words_of(longer(), "a"):find("beyond", 1, true))
    end)

    it("compares all with a baseline, corrects for their number, and marks differences", function()
      local found = summary.of(longer(), "a")
      local compared = {}
      for _, pair in ipairs(found.pairs) do
        assert.equal("a", pair.a)
        compared[pair.b .. " " .. pair.measure.name] = pair
      end
      assert.equal(2 * #found.measures, #found.pairs)
      local b = compared["b accuracy_2"]
      assert.near(0.2, b.difference, 1e-12)
      assert.same({ 2 / 2 ^ 8, 4 / 2 ^ 8 }, { b.p, b.corrected })
      local rows = length_rows(longer(), "a")
      assert.equal("0.645 ± 0.009 +", rows[2][4])
      assert.equal("0.445 ± 0.009", rows[3][4])
      assert.is_nil(rows[4][4]:find("[+−]$"))
      assert.truthy(words_of(longer(), "a"):find("above and below a, with p < 0.05", 1, true))
    end)

    it("refuses a baseline that is not a method", function()
      assert.has_error(function() summary.of(longer(), "rope") end,
        "report: no method \"rope\"; there are b, a, c")
    end)
  end)

  it("pairs runs by their seed", function()
    local pairs_ = summary.of(sweep()).pairs
    assert.equal(6, #pairs_) -- the measures of runs on problems
    local solved = pairs_[1]
    assert.same({ "rope", "roper", "solved", 8 },
      { solved.a, solved.b, solved.measure.name, solved.n })
    local sum = 0
    for seed = 3, 10 do
      sum = sum + 100 - fixture[3].numbers[seed]
    end
    assert.near(sum / 8, solved.difference, 1e-12)
    assert.is_true(solved.low < solved.difference and solved.difference < solved.high)
    assert.is_true(solved.p > 0 and solved.p <= 1)
    assert.equal(2 / 2 ^ 8, pairs_[4].p) -- every loss is larger without
    assert.same({ solved.p, 8 }, { solved.corrected, #solved.each }) -- one pair of methods
  end)

  it("counts a run that never reached 90 % with its last step", function()
    local pairs_ = summary.of(sweep()).pairs
    local steps = pairs_[#pairs_]
    assert.equal("steps_to_90", steps.measure.name)
    assert.same({ -100, -200, -300, -300, -300, -300, -300, -300 }, steps.each)
    assert.equal(6, steps.censored)
    assert.truthy(words_of(sweep()):find("Runs that never reached 90 % count with their "
      .. "last step", 1, true))
    assert.equal(2 / 2 ^ 8, steps.p)
    local found = sweep()
    for _, one in ipairs(found.trials) do
      one.run.config.steps = one.method == "rope" and 500 or 600
    end
    pairs_ = summary.of(found).pairs
    assert.equal(0, pairs_[#pairs_].n) -- had they had as many steps, more might have got there
    for _, one in ipairs(found.trials) do
      one.run.config.steps, one.run.result.steps_to_90 = 500, nil
    end
    pairs_ = summary.of(found).pairs
    assert.equal(0, pairs_[#pairs_].n)
  end)

  it("corrects for the number of pairs of methods", function()
    local found = sweep()
    found.methods[3] = "none"
    for seed = 1, 8 do
      found.trials[#found.trials + 1] = trial("none", seed, result(seed, 2 + seed, nil))
    end
    local solved, corrected = {}, {}
    for _, pair in ipairs(summary.of(found).pairs) do
      if pair.measure.name == "solved" then
        solved[#solved + 1], corrected[#corrected + 1] = pair.p, pair.corrected
      end
    end
    assert.equal(3, #solved)
    for i, p in ipairs(solved) do
      assert.equal(math.min(1, 3 * p), corrected[i])
    end
  end)

  it("corrects only for the pairs of methods that share a seed", function()
    local found = sweep()
    found.methods[3] = "alibi"
    found.trials[#found.trials + 1] = trial("alibi", 1, nil, "running")
    found.trials[#found.trials + 1] = trial("alibi", 99, result(50, 1.4, 300))
    local pairs_found = summary.of(found).pairs
    assert.same({ "rope", "roper", 8 }, { pairs_found[1].a, pairs_found[1].b, pairs_found[1].n })
    assert.equal(1, pairs_found[1].comparisons)
    assert.equal(pairs_found[1].p, pairs_found[1].corrected)
  end)

  it("prints no p that contradicts its interval", function()
    -- Eight seeds of method a and of methods with more and less even differences.
    local shifts = { a = { 0, 0, 0, 0, 0, 0, 0, 0 }, b = { 1, 2, 3, 4, 5, 6, 7, 8 },
      c = { 9, 8, -1, 7, 6, 9, 9, -2 }, d = { 1, -1, 2, -2, 3, -3, 4, -4 },
      e = { -1, -1, -1, -1, -1, -1, 1, -1 } }
    local decided = { [true] = 0, [false] = 0 }
    for count = 2, 5 do
      local trials, methods = {}, table.move({ "a", "b", "c", "d", "e" }, 1, count, 1, {})
      for seed = 1, 8 do
        for _, method in ipairs(methods) do
          trials[#trials + 1] = trial(method, seed, result(60 + shifts[method][seed],
            1.3 + shifts[method][seed] / 64, 200))
        end
      end
      for _, baseline in ipairs({ "a", false }) do
        local found = { methods = methods, trials = trials }
        for _, row in ipairs(pair_rows(found, baseline or nil)) do
          local low, high = row[4]:gsub("−", "-"):match("^([-+%d.]+) to ([-+%d.]+)$")
          if low then
            local excluded = tonumber(low) > 0 or tonumber(high) < 0
            assert.equal(tonumber(row[5]) < 0.05, excluded, table.concat(row, "  "))
            decided[excluded] = decided[excluded] + 1
          end
        end
      end
    end
    assert.is_true(decided[true] > 0 and decided[false] > 0)
  end)

  it("has no interval if no p could be below the level, and explains it", function()
    local trials, methods = {}, { "a", "b", "c" }
    for seed = 1, 6 do
      for i, method in ipairs(methods) do
        trials[#trials + 1] = trial(method, seed, result(10 * i + seed, 1.3, 200))
      end
    end
    local found = summary.of({ methods = methods, trials = trials })
    assert.is_nil(found.pairs[1].low)
    assert.equal(3 / 32, found.pairs[1].corrected)
    assert.equal(3 / 32, found.pairs[1].least)
    local shown = text_of({ methods = methods, trials = trials })
    assert.truthy(shown:find("\n  correct, b − a +6 +%+10.0  one by one: %+10.0, %+10.0,"), shown)
    assert.truthy(shown:gsub("%s+", " "):find("no difference could be significant: 6 pairs cannot "
      .. "give a p below 0.094", 1, true), shown)
    assert.truthy(summary.of({ methods = methods, trials = trials }, "a").pairs[1].low == nil)
    table.remove(methods)
    assert.equal(10, summary.of({ methods = methods, trials = trials }).pairs[1].low)
  end)

  it("never leaves out a missing run silently", function()
    local found = sweep()
    for i, status in ipairs({ "failed", "running", "stopped" }) do
      found.trials[2 * i - 1].run.status, found.trials[2 * i - 1].run.result = status, nil
    end
    found.trials[8].run.provenance[2] = { commit = "def-dirty", threads = 16 }
    local summed = summary.of(found)
    assert.same({ 10, 7, 1, 1, 1 }, { summed.methods[1].planned, summed.methods[1].finished,
      summed.methods[1].failed, summed.methods[1].running, summed.methods[1].stopped })
    assert.same({ "rope: 3 of 10 runs are missing (1 failed, 1 running, 1 stopped)",
                  "the runs come from different commits: abc, def-dirty",
                  "the runs were trained with different numbers of threads (2, 16), which change "
                  .. "the last bits of each step" }, summed.notes)
    assert.equal("7 of 10", study_rows(found)[2][2])
    assert.truthy(text_of(found):find("\n  - rope: 3 of 10 runs are missing", 1, true))
  end)

  it("names the loaded files that were edited between runs, with their hashes", function()
    local found = sweep()
    for i, one in ipairs(found.trials) do
      one.run.config.loaded = "near.lua a1, module slope.lua " .. (i % 2 == 1 and "b1" or "b2")
    end
    assert.same({ "module slope.lua was edited between runs: b1 for rope; b2 for roper" },
      summary.of(found).notes)
    assert.truthy(words_of(found):find("slope.lua was edited between runs: b1 for rope", 1, true))
    for _, one in ipairs(found.trials) do -- only some methods need a file
      one.run.config.loaded = one.method == "rope" and "near.lua a1" or false
    end
    assert.same({}, summary.of(found).notes)
  end)

  it("accepts a sweep without finished runs", function()
    local found = { methods = { "rope" }, trials = { trial("rope", 1, nil, "waiting") } }
    assert.same({ { "method", "runs", "correct", "loss", "steps to 90 %" },
                  { "rope", "0 of 1", "–", "–", "–" } }, study_rows(found))
    assert.is_nil(pair_rows(found))
  end)
end)

describe("the text of a summary", function()
  it("is the study's table", function()
    assert.same({
      { "method", "runs", "correct of 128", "study’s mean", "loss", "floor", "steps to 90 %" },
      { "rope", "10 of 10", "98.3 ± 9.8", "105.9 (9)", "1.3055 ± 0.0010", "1.2500",
        "> 500 (4/10)" },
      { "roper", "10 of 10", "100.0 ± 0.0", "100.0 (9)", "1.2800 ± 0.0000", "1.2500",
        "200 (10/10)" },
    }, study_rows(sweep()))
    local found = sweep()
    found.trials[1].run.status, found.trials[2].run.status = "failed", "waiting"
    assert.same({ "rope", "9 of 10", "96.9 ± 10.8", "1.3060 ± 0.0009", "1.2500",
                  "> 500 (3/9)" }, study_rows(found)[2])
    assert.truthy(words_of(found):find("the study’s mean leaves out the worst tenth", 1, true))
  end)

  it("says why answers by sampling are compared, beside those by greedy decoding", function()
    assert.truthy(words_of(sweep()):find("- correct of 128: problems solved by random sampling, "
      .. "as in the RoPER study, because their share estimates the probability that the model "
      .. "gives to right answers; greedy decoding, also measured, shows only whether its most "
      .. "probable tokens are right", 1, true))
  end)

  it("has no median of the steps if half of the runs never got there", function()
    local found = sweep()
    found.trials[9].run.result.steps_to_90 = 450
    assert.equal("undetermined (5/10)", study_rows(found)[2][7])
  end)

  it("fits the terminal", function()
    for line in text_of(sweep()):gmatch("[^\n]+") do
      assert.is_true(utf8.len(line) <= 80, line)
    end
  end)
end)

describe("the pairs of a summary", function()
  it("begins with the result, and refers to the page if differences are too many", function()
    local shown = text_of(sweep())
    assert.truthy(shown:find("^The difference between roper and rope in correct answers is not "
      .. "significant:\n%S+ of 128 on average over 8 pairs"), shown)
    local trials, methods = {}, {}
    for i = 1, 10 do
      methods[i], trials[i] = "m" .. i, trial("m" .. i, 1, result(i, 1.3, 200))
    end
    local many = { methods = methods, trials = trials }
    assert.truthy(words_of(many):find(" 135 differences between runs of the same "
      .. "seed are only on the page; --baseline METHOD compares", 1, true))
    assert.truthy(text_of(many, "m1"):find("\n  correct, m2 − m1", 1, true))
  end)

  it("has a row for each pair and measure", function()
    local rows = pair_rows(sweep())
    assert.same({ "difference", "pairs", "mean", "95 % interval", "p" }, rows[1])
    assert.equal("correct, roper − rope", rows[2][1])
    assert.equal("8", rows[2][2])
    assert.equal("−0.0265", rows[3][3])
    assert.truthy(rows[3][4]:find("^−0.028%d to −0.024%d$"), rows[3][4])
    assert.equal("0.008", rows[3][5])
    assert.equal("steps to 90 %, roper − rope", rows[4][1])
    assert.equal(4, #rows)
  end)

  it("shows fewer than six pairs one by one, without an interval", function()
    local found = sweep()
    for i = 1, 7 do
      found.trials[i].run.status = "failed" -- seeds 1 to 4 of rope, 3 to 5 of roper
    end
    local few = summary.of(found)
    assert.equal(5, few.pairs[1].n)
    assert.same({ nil, nil }, { few.pairs[1].low, few.pairs[1].high })
    assert.equal("one by one: −20.0, −19.0, +70.0, −1.0, −25.0", pair_rows(found)[2][4])
    assert.truthy(words_of(found):find("5 pairs cannot give a p below 0.062", 1, true))
    assert.is_nil(text_of(sweep()):find("one by one", 1, true))
    for line in text_of(found):gmatch("[^\n]+") do
      assert.is_true(utf8.len(line) <= 80, line)
    end
  end)
end)
