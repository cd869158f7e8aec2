-- The identities of lessons fail if a false equation replaces a true one. That claims fail if their
-- code is broken is part of `./roper lesson --check`.

require("roper")
local check = require("roper.workbench.lesson.check")
local every = require("tests.lessons")
local mutants = require("tests.mutants")
local output = require("tests.stdout")
local statement = require("roper.identity.statement")

describe("the lessons", function()
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
