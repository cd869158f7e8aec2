-- The lesson `study` repeats numbers of scripts/experiments/README.md; here the two are compared.

require("roper")
local lessons = require("roper.workbench.lesson")
local scratch = require("tests.scratch")
local steps = require("roper.workbench.lesson.step")

describe("the lesson on the study", function()
  local scope, readme, prose

  setup(function()
    local lesson = lessons.find("study")
    scope, readme = steps.scope(), scratch.read("scripts/experiments/README.md")
    local texts = {}
    for i, step in ipairs(lesson.steps) do
      steps.prepare(step, scope)
      texts[i] = step.text
      for _, question in ipairs(step.predict) do
        texts[#texts + 1] = question.question .. " " .. question.answer
      end
    end
    prose = table.concat(texts, "\n"):gsub("%s+", " ")
  end)

  local function assert_listed(form, list, name)
    local cells = {}
    for i, number in ipairs(list) do
      cells[i] = form:format(number)
    end
    local row = ("| %s | %s |"):format(name, table.concat(cells, " | "))
    assert.truthy(readme:find(row, 1, true), row)
  end

  it("has the steps of each seed and the accuracies of the project's tables", function()
    for method, name in pairs({ rope = "RoPE", roper = "RoPER" }) do
      local row = readme:match("\n(| " .. name .. " | %d+ | %d+ | %d+ | [^\n]*)\n")
      assert.truthy(row:find(table.concat(scope.steps_to_90[method], " | "), 1, true), row)
      assert_listed("%.3f", scope.accuracy[method], name)
    end
  end)

  it("has the means, errors and p of the project's README", function()
    local table_of_results = scratch.read("README.md")
    for _, row in ipairs(scope.repeated) do
      local cells = ("| %s | %s | %d | %.3f |"):format(row.rope, row.roper, row.pairs, row.p)
      assert.truthy(table_of_results:find(cells, 1, true), cells)
    end
  end)

  it("says nothing in its prose that is not in the descriptions of the runs", function()
    local flat = readme:gsub("−", "-"):gsub("%s+", " ")
    for _, number in ipairs({ "409,261", "398,085", "600,212", "32.5", "0.0343", "0.0281",
      "0.0394", "120.7 ± 3.0", "117.8 ± 4.8", "126.8 ± 0.4", "126.2 ± 1.1", "0.3293", "0.3256",
      "0.3329", "0.3205", "3.281 ± 0.021", "3.306 ± 0.002", "-20.5", "6.2", "0.633", "0.750",
      "49 and 33" }) do
      local said = number == "49 and 33" and "33 to 49" or number
      assert.truthy(prose:find(said, 1, true), said .. " in the lesson")
      assert.truthy(flat:find(number, 1, true), number .. " in the README")
    end
  end)
end)
