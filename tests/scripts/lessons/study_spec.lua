-- The lesson `study` repeats numbers of the studies in scripts/experiments; here they are compared.

require("roper")
local experiment = require("roper.workbench.study.experiment")
local lessons = require("roper.workbench.lesson")
local scoped = require("roper.base.scoped")
local statistics = require("roper.tensor.statistics")
local steps = require("roper.workbench.lesson.step")

require("roper.system.module_path").add_folder_of(require("roper.system.paths").LIBRARY
  .. "/../experiments/record/run.lua")
local families = require("families")
local markdown = require("markdown")
local studies = require("studies")

-- Bounds of p that are named, but not computed.
local LEVELS <const> = { 0.05, 0.01 }

-- Adds all texts of a step that a reader sees; hints begin with a condition.
local function add_texts(value, list)
  if type(value) == "string" then
    list[#list + 1] = value
  end
  for _, key in ipairs(type(value) == "table" and { 1, 2, "text", "question", "choices", "answer",
    "predict", "exercise", "code", "figure", "caption" } or {}) do
    add_texts(value[key], list)
  end
  for _, hint in ipairs(type(value) == "table" and value.hints or {}) do
    add_texts(type(hint) == "table" and hint[2] or hint, list)
  end
end

-- The mean at a step of all runs of a method.
local function mean_at(study, sweep, method, step)
  return statistics.mean(families.means(study, { method }, { sweeps = { sweep },
    measures = { "step_" .. step } }))
end

describe("the lesson on the study", function()
  local pairs_study, scope, results = studies.read("pairs"), steps.scope(), {}
  local tests = families.tests(pairs_study, pairs_study.plan.families[1])

  setup(function()
    for _, step in ipairs(lessons.find("study").steps) do
      steps.prepare(step, scope)
      if step.title:find("^Repeated") or step.title == "What the results say" then
        add_texts(step, results)
      end
    end
  end)

  it("has the numbers of the recorded pairs", function()
    assert.equal(#tests, #scope.repeated)
    for i, test in ipairs(tests) do
      local row, digits = scope.repeated[i], test.test.digits
      assert.equal(markdown.mean(test.a, digits), row.rope)
      assert.equal(markdown.mean(test.b, digits), row.roper)
      assert.equal(test.n, row.pairs)
      assert.equal(("%.3f"):format(test.p), ("%.3f"):format(row.p))
    end
    assert.same({ rope = tests[1].a, roper = tests[1].b }, scope.steps_to_90)
    for i, step in ipairs(scope.accuracy.step) do
      for _, method in ipairs({ "rope", "roper" }) do
        assert.near(mean_at(pairs_study, "index_long", method, step), scope.accuracy[method][i],
          0.0005 + 1e-9)
      end
    end
  end)

  -- A number passes if it rounds one that the runs give, to the decimals that it has.
  it("has no other decimal number about runs than they give", function()
    local known = table.move(LEVELS, 1, #LEVELS, 1, {})
    local function add(...)
      table.move({ ... }, 1, select("#", ...), #known + 1, known)
    end
    for n = 1, 10 do
      add(statistics.least_p(n))
    end
    for _, row in ipairs(scope.published) do
      add(row.rope, row.roper)
    end
    for _, test in ipairs(tests) do
      add(test.mean, test.p, statistics.interval(test.list))
      add(statistics.mean(test.a), statistics.standard_error(test.a))
      add(statistics.mean(test.b), statistics.standard_error(test.b))
    end
    add(mean_at(pairs_study, "index_long", "roper", 500)
      - mean_at(pairs_study, "index_long", "rope", 500))
    for _, list in ipairs({ scope.accuracy.rope, scope.accuracy.roper }) do
      add(table.unpack(list)) -- compared above
    end
    local lead = studies.read("lead")
    local change = families.tests(lead, lead.plan.families[1])[1]
    add(change.p)
    for i = 1, 2 do
      add(families.tests(lead, lead.plan.families[2])[i].mean)
    end
    local count = 0
    for _, text in ipairs(results) do
      for number in text:gmatch("%d+%.%d+") do
        local half, is_known = 0.5 * 10 ^ -#number:match("%.(%d+)"), false
        for _, value in ipairs(known) do
          is_known = is_known or math.abs(math.abs(value) - tonumber(number)) <= half + 1e-9
        end
        assert(is_known, ("no run gives %s: %s"):format(number, text))
        count = count + 1
      end
    end
    assert.is_true(count >= 80)
  end)

  it("has the sizes of the models", function()
    local said = table.concat(results, "\n")
    scoped.with_seed(1, function()
      for _, name in ipairs({ "substring_index", "substring_prefix", "addition" }) do
        local count = experiment.build(experiment.configure(name, { preset = "mini",
          position = "rope" })).model:count()
        assert.truthy(said:find(("%d,%03d parameters"):format(count // 1000, count % 1000), 1,
          true), count)
      end
    end)
  end)
end)
