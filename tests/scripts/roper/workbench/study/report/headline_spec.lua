local headline = require("roper.workbench.study.report.headline")
local reports = require("tests.reports")
local summary = require("roper.workbench.study.report.summary")

-- The sentence on methods with these numbers of solved problems, seed by seed; false for a run that
-- did not finish.
local function of(solved, baseline)
  local methods, trials = {}, {}
  for i, entry in ipairs(solved) do
    methods[i] = entry[1]
    for seed = 1, #entry - 1 do
      local count = entry[seed + 1]
      local trial = reports.trial(entry[1], seed, count and "finished" or "failed")
      if count then
        trial.run.result.solved = count
      end
      trials[#trials + 1] = trial
    end
  end
  local found = summary.of(reports.view(trials, methods).sweep, baseline)
  return (headline.of(found):gsub("\u{A0}", " "))
end

describe("headline.of", function()
  it("gives the error of the mean of one method", function()
    assert.equal("rope: number of correct answers, 61.0 of 128 (one run, so no error "
      .. "is known).", of({ { "rope", 61 } }))
    assert.equal("rope: mean of correct answers, 62.0 of 128 (3 runs, standard error 0.6).",
      of({ { "rope", 61, 62, 63 } }))
    assert.truthy(of({ { "rope", 61, 62, 63, 64, 65, 66 } }):find(
      "63.5 of 128 (6 runs, 95 % interval 61.0 to 66.0).", 1, true))
    assert.equal("No run has finished yet.", of({ { "rope", false } }))
  end)

  it("names the better of two, with the interval and p", function()
    local a, b = { "rope", 50, 52, 49, 51, 50, 53 }, { "roper", 60, 61, 63, 60, 62, 61 }
    assert.truthy(of({ a, b }):find("^roper is better than rope in correct answers: %+10%.3 of 128 "
      .. "on average over 6 pairs of the same seed %(95 %% interval %+%d+%.%d to %+%d+%.%d; "
      .. "p = 0%.031%)%.$"))
    assert.truthy(of({ b, a }):find("rope is worse than roper in correct answers: −10.3", 1, true))
  end)

  it("finds no significance with five pairs, and lists them", function()
    assert.equal("The difference between roper and rope in correct answers is not significant: "
      .. "+10.0 of 128 on average over 5 pairs of the same seed (one by one +10.0, +9.0, +11.0, "
      .. "+10.0, +10.0; p = 0.062). With 5 pairs, no difference could be significant.",
      of({ { "rope", 50, 50, 50, 50, 50 }, { "roper", 60, 59, 61, 60, 60 } }))
    assert.equal("roper and rope cannot be compared: no two of their finished runs have the same "
      .. "seed.", of({ { "rope", 50, false }, { "roper", false,
        60 } }))
  end)

  it("counts significant differences of many, from a baseline or from the best", function()
    local many = { { "a", 50, 52, 49, 51, 50, 53, 50 }, { "b", 60, 61, 63, 60, 62, 61, 60 },
      { "c", 40, 41, 40, 39, 40, 41, 38 }, { "d", 50, 51, 50, 50, 51, 51, 51 } }
    assert.equal("Of 3 methods compared with a in correct answers, 1 is better and 1 worse (p < "
      .. "0.05, corrected for 3 comparisons); 1 does not differ significantly. The best difference "
      .. "is that of b: +10.3 of 128 on average over 7 pairs of the same seed (95 % interval +8.0 "
      .. "to +14.0; p = 0.047).", of(many, "a"))
    local even = { { "a", 50, 52 }, { "b", 61, 61 }, { "c", 61, 61 }, { "d", false } }
    assert.truthy(of(even):find("^b %(and 1 other%) has the best mean of correct answers, 61%.0"))
    assert.truthy(of(even, "a"):find("The best difference is that of b %(and 1 other%): %+10%.0"))
    -- Of seven pairs p is at least 1/64, too much for six comparisons.
    assert.truthy(of(many):find("^b has the best mean of correct answers, 61%.0 of 128 %(7 runs, "
      .. "95 %% interval .-%), but no difference from the 3 other methods is significant %(p < "
      .. "0%.05, corrected for 6 comparisons%)%. With 7 pairs and 6 comparisons, no difference "
      .. "could be significant%.$"))
    for i, more in ipairs({ { 51, 50 }, { 61, 60 }, { 40, 40 }, { 50, 51 } }) do
      table.move(more, 1, 2, 9, many[i])
    end
    assert.truthy(of(many):find("is significantly better than 3 of the 3 other methods", 1, true))
  end)

  it("calls no method the best if all have the same mean", function()
    assert.equal("All 3 methods have the same mean of correct answers, 0.0 of 128. With 2 pairs "
      .. "and 3 comparisons, no difference could be significant.",
      of({ { "a", 0, 0 }, { "b", 0, 0 }, { "c", 0, 0 } }))
  end)

  it("compares runs on text by bits per byte; fewer are better", function()
    local trials = {}
    for seed = 1, 6 do
      for i, method in ipairs({ "rope", "roper" }) do
        local trial = reports.trial(method, seed, "finished")
        trial.config.experiment = "language_model"
        trial.run.result = { config = trial.config, loss = 1, bits_per_byte = 2 - i / 10 }
        trials[2 * seed + i - 2] = trial
      end
    end
    assert.equal("roper is better than rope in bits per byte: −0.1000 on average over 6 pairs of "
      .. "the same seed (95 % interval −0.1000 to −0.1000; p = 0.031).",
      (headline.of(summary.of(reports.view(trials).sweep)):gsub("\u{A0}", " ")))
  end)
end)
