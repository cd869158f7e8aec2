-- What pages of studies and the lesson `study` say about runs in words, outside the texts that
-- `make results` writes. Each sentence is built here from the recorded runs.
require("roper")
local experiment = require("roper.workbench.study.experiment")
local files = require("roper.system.file")
local scoped = require("roper.base.scoped")
local tables = require("roper.base.tables")

local FOLDER <const> = files.real(require("roper.system.paths").LIBRARY .. "/../experiments")

require("roper.system.module_path").add_folder_of(FOLDER .. "/record/run.lua")
local families = require("families")
local studies = require("studies")

local WORDS <const> = { "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
  "ten", "eleven", "twelve" }

local TITLES <const> = { parity = "Parity", s3 = "S3", copy = "Copy", prefix = "Prefix" }

-- Parameters of the models of the RoPER study on Addition and Index.
local OF_STUDY <const> = 20e6

local LESSON <const> = "../lessons/study.lua"

-- Fails unless a file of this folder contains a sentence, with any white space.
local function says(path, sentence, ...)
  local text = files.read(FOLDER .. "/" .. path):gsub("%s+", " ")
  sentence = sentence:format(...)
  assert(text:find(sentence, 1, true), ("%s: expected \"%s\""):format(path, sentence))
end

-- Returns the tests of each family of a study.
local function tests_of(study)
  return table.unpack(tables.map(study.plan.families, function(family)
    return families.tests(study, family)
  end))
end

-- Returns the names of the tests from `first` to `last` with a significantly higher value (1), a
-- lower one (-1) or neither (0).
local function named(tests, first, last, wanted)
  return tables.map({ table.unpack(tests, first, last) }, function(test)
    local sign = test.corrected >= families.LEVEL and 0 or test.mean > 0 and 1 or -1
    return sign == wanted and test.name:gsub("^.* − ", "") or nil
  end)
end

-- Returns the number of differences as a word; fails unless all are below 0.
local function all_below(differences)
  for _, value in ipairs(differences) do
    assert.is_true(value < 0)
  end
  return WORDS[#differences]
end

-- Returns how many parameters the models of a sweep have.
local function parameters(name, preset)
  return scoped.with_seed(1, function()
    return experiment.build(experiment.configure(name, { preset = preset, position = "rope" }))
      .model:count()
  end)
end

describe("what is said about runs in words", function()
  it("follows from the runs of along_the_way", function()
    local page <const> = "along_the_way/README.md"
    local turns, content, lengths = tests_of(studies.read("along_the_way"))
    assert.same({ "all" }, named(turns, 1, 1, 1))
    says(page, "turned values and output help on average, and for %s, %s and %s;",
      table.unpack(named(turns, 2, 6, 1)))
    says(page, "**What cannot**: whether turned values help with %s or %s, and whether",
      table.unpack(named(turns, 2, 6, 0)))
    assert.same({ "all" }, named(content, 1, 1, 0))
    says(page, "and whether content helps on average;")
    local tasks = tables.map(tables.joined(named(content, 6, 11, 1), named(content, 6, 11, -1)),
      function(name) return TITLES[name] end)
    assert.equal(1, #named(content, 6, 11, -1))
    says(page, "content helps on %s, %s and %s and harms on %s.", table.unpack(tasks))
    says(page, "%s of %s methods have a higher mean accuracy than RoPE",
      WORDS[#named(lengths, 1, #lengths, 1)], WORDS[#lengths])
  end)

  it("follows from the plan of comparison", function()
    says("comparison/README.md", "correction for the %d other schemes (Holm)",
      #studies.read("comparison").plan.schemes - 1)
  end)

  it("follows from the runs of lead", function()
    local _, described = tests_of(studies.read("lead"))
    assert.equal("six", all_below(described[2].list))
    says("lead/README.md", "At the end, RoPER's loss is still lower in every pair,")
    assert.equal("two", all_below(described[4].list))
    for i, last in ipairs(described[4].list) do
      assert.is_true(described[3].list[i] < last)
    end
    says("lead/README.md", "In both pairs with 24,000 steps, the lead is smaller at the end than "
      .. "at a tenth of the steps, and RoPER's loss is still lower at the end.")
  end)

  it("follows from the runs of pairs", function()
    local tests = tests_of(studies.read("pairs"))
    says(LESSON, "RoPER needs fewer in all %s pairs.", all_below(tests[1].list))
    says(LESSON, "The loss of RoPER is lower for each of the %s,", all_below(tests[4].list))
    says("pairs/README.md", "on Prefix, RoPER's loss is lower in all %s.",
      all_below(tests[4].list))
  end)

  it("follows from the runs of short_convolution", function()
    local study = studies.read("short_convolution")
    local signs = tables.map(tests_of(study), function(test)
      assert.is_true(test.corrected < families.LEVEL)
      return test.mean > 0 and 1 or -1
    end)
    assert.same({ 1, 1, -1, 1 }, signs)
    says("short_convolution/README.md", "without the convolution, turned values and output "
      .. "raise the mean accuracy; with it, they still do, but less. The convolution alone raises "
      .. "it too.")
    local seconds = 0
    for _, row in ipairs(study.rows) do
      seconds = seconds + row.seconds
    end
    says("short_convolution/design.md", "the runs took %.0f hours of one core", seconds / 3600)
  end)

  it("follows from the runs of short_convolution that choose a rate", function()
    local study = studies.read("short_convolution")
    local sweep = tables.map(study.plan.sweeps, function(one)
      return one.name == "s3" and one or nil
    end)[1]
    local method <const> = "accumulated{rotate=qkvo} short_convolution=4"
    local learned = {}
    for _, row in ipairs(study.rows) do
      if row.sweep == "s3" and row.seed <= 203 and row.loss < 0.1
        and studies.method(study, row, "rate") == method then
        learned[row.rate] = (learned[row.rate] or 0) + 1
      end
    end
    assert.equal(3e-4, studies.chosen(study, sweep)[method])
    says("short_convolution/design.md", "was compared at 3e-4, although all %s runs had learned "
      .. "the task at 1e-2, and %s of three at 3e-4", WORDS[learned["0.01"]],
      WORDS[learned["0.0003"]])
  end)

  it("has the sizes of the models", function()
    local ratios = {}
    for i, name in ipairs({ "addition", "substring_index" }) do
      ratios[i] = math.floor(OF_STUDY / parameters(name, "mini") + 0.5)
    end
    says("pairs/README.md", "the models are %d to %d times smaller there", table.unpack(ratios))
    says(LESSON, "the models are %d to %d times smaller than the study's on Addition and Index",
      table.unpack(ratios))
    local function rounded(name, preset)
      return ("%d00,000"):format((parameters(name, preset) + 50000) // 100000)
    end
    local least, most = rounded("substring_prefix", "mini"), rounded("addition", "mini")
    says("pairs/README.md", "%s to %s parameters", least, most)
    least = rounded("copy", "comparison")
    says("README.md", "%s to %s parameters", least, most)
    says("../../README.md", "models of %s to %s parameters", least, most)
  end)
end)
