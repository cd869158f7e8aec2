-- The lesson `study` repeats numbers of the studies in scripts/experiments; here they are compared.

require("roper")
local lessons = require("roper.workbench.lesson")
local steps = require("roper.workbench.lesson.step")

require("roper.system.module_path").add_folder_of(require("roper.system.paths").LIBRARY
  .. "/../experiments/record/run.lua")
local families = require("families")
local markdown = require("markdown")
local studies = require("studies")

describe("the lesson on the study", function()
  local scope, prose

  setup(function()
    local lesson = lessons.find("study")
    scope = steps.scope()
    local texts = {}
    for i, step in ipairs(lesson.steps) do
      steps.prepare(step, scope)
      texts[i] = step.text
    end
    prose = table.concat(texts, "\n"):gsub("%s+", " ")
  end)

  it("has the losses of the recorded pair at the study's size", function()
    for _, row in ipairs(studies.read("lead").rows) do
      if row.sweep == "stopped" then
        local said = (row.position == "rope" and "RoPE is at %.4f" or "RoPER at %.4f"):format(
          row.curve[#row.curve][2])
        assert.truthy(prose:find(said, 1, true), said)
      end
    end
  end)

  it("has the numbers of the recorded pairs, or says that they are not recorded", function()
    local study = studies.read("pairs")
    if next(study.incomplete) then
      assert.truthy(prose:find("whose runs were not kept", 1, true))
      return
    end
    for i, test in ipairs(families.tests(study, study.plan.families[1])) do
      local row, digits = scope.repeated[i], test.test.digits
      assert.equal(markdown.mean(test.a, digits), row.rope)
      assert.equal(markdown.mean(test.b, digits), row.roper)
      assert.equal(("%.3f"):format(test.p), ("%.3f"):format(row.p))
    end
  end)
end)
