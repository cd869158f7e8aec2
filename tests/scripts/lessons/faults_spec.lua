-- The claims of lessons fail if their code is broken, or if a false equation replaces a true one.

require("roper")
local check = require("roper.workbench.lesson.check")
local every = require("tests.lessons")
local lessons = require("roper.workbench.lesson")
local mutants = require("tests.mutants")
local output = require("tests.stdout")
local statement = require("roper.identity.statement")
local steps = require("roper.workbench.lesson.step")

describe("the lessons", function()
  it("have claims that fail if the code is broken", function()
    for _, lesson in ipairs(lessons.all()) do
      local scope = steps.scope()
      for number, step in ipairs(lesson.steps) do
        for _, claim in ipairs(step.claims) do
          local inner = steps.layer(scope)
          steps.prepare(step, inner, steps.planted(step.code, claim.instead))
          local judged = steps.judge(claim, inner)
          assert.is_false(judged.holds, ("%s: %s with %s"):format(every.name(lesson, number),
            claim.text, claim.instead[2]))
        end
        if number < #lesson.steps then
          steps.prepare(step, scope)
        end
      end
    end
  end)

  it("have identities with a mutant that fails the check", function()
    every.step(function(lesson, number, step)
      local equation = step.identity and step.identity[1]
      if not equation then
        return
      end
      local refuted = false
      for _, broken in ipairs(mutants.of(equation, statement.variables(step.identity.given))) do
        local mutated = { name = lesson.name, steps = { { claims = {}, identity = { broken,
          given = step.identity.given } } } }
        local text, holds = output.capture(check.run, { mutated })
        refuted = not holds
        assert.equal(refuted, text:find("^not ok 1") ~= nil)
        if refuted then
          break
        end
      end
      assert.is_true(refuted, every.name(lesson, number))
    end)
  end)

  it("fail if a refuted equation replaces the true one", function()
    every.step(function(lesson, number, step)
      for i, wrong in ipairs(step.identity and step.identity.wrong or {}) do
        local equation = type(wrong) == "table" and wrong[1] or wrong
        local mutated = { name = lesson.name, steps = { { claims = {}, identity = { equation,
          given = step.identity.given, wrong = { step.identity[1] } } } } }
        local text = output.capture(check.run, { mutated })
        assert.truthy(text:find("^not ok 1 .*\nnot ok 2 .*\n1%.%.2\n"),
          ("%s, wrong equation %d\n%s"):format(every.name(lesson, number), i, text))
      end
    end)
  end)
end)
