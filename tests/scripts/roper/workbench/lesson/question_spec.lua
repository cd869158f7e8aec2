local questions = require("roper.workbench.lesson.question")
local steps = require("roper.workbench.lesson.step")

local ANSWER <const> = { question = "Q?", answer = "Because." }

-- The fields of a question for a line of Lua with a form.
local function with_form(form)
  return { check = "x == 1", sample = "x = 1", form = form }
end

-- A question with these fields, checked.
local function question(fields)
  local given = { hints = { "Think." } }
  for _, from in ipairs({ ANSWER, fields }) do
    for name, value in pairs(from) do
      given[name] = value
    end
  end
  return questions.all("here", given)[1]
end

-- Judges lines in a scope with x = 3. A case is {line, kind of the verdict, its hint or wanted
-- answer, the variable that remains}.
local function judges(one, cases)
  for _, case in ipairs(cases) do
    local scope = steps.layer({ x = 3, math = math, table = table })
    local line, kind, told, left = table.unpack(case, 1, 4)
    local found = questions.judge(one, line, scope, questions.expected(one, scope))
    assert.equal(kind, found.kind, line)
    assert.equal(told, found.hint or found.wanted, line)
    assert.equal(left, (next(scope)), line)
  end
end

describe("a question", function()
  it("has the fields of its kind", function()
    local choices = { "one way", "another" }
    for _, case in ipairs({
      { "here: option answer: expected a string, got nil", { question = "Q?" } },
      { "here: unknown option expects; did you mean \"expect\"", { expects = "1" } },
      { "here, choice question: option expect: expected an integer, got nil",
        { choices = choices } },
      { "here: expect: expected the number of a choice, an integer from 1 to 2, got 3",
        { choices = choices, expect = 3 } },
      { "here, choice question: option expect: expected an integer, got \"2\"",
        { choices = choices, expect = "2" } },
      { "here: expected 2 to 26 choices, got 1", { choices = { "one" }, expect = 1 } },
      { "here: choice 2: expected a string, got 7", { choices = { "one", 7 }, expect = 1 } },
      { "here, choice question: unknown option within; it takes choices, expect",
        { choices = choices, expect = 1, within = 0.1 } },
      { "here, number question: option expect: expected a string, got 5", { expect = 5 } },
      { "here: expect:1: unexpected symbol near '*'", { expect = "2 + * x" } },
      { "here, number question: option within: expected a finite non-negative number, got -1",
        { expect = "1", within = -1 } },
      { "here, line question: option sample: expected a string, got nil", { check = "it == 1" } },
      { "here, line question: unknown option expect; it takes check, form, sample",
        { check = "it == 1", sample = "1", expect = "1" } },
      { "here: sample:1: unexpected symbol near '='", { check = "it == 1", sample = "= 1" } },
      { "here: form: expected {\"a line with ___ for each blank\", {choices of the first}, ...}, "
        .. "got \"x = 1\" and 1 lists of choices", with_form { "x = 1", { "1", "2" } } },
      { "here: form: blank 1: expected a string, got 2", with_form { "x = ___", { "1", 2 } } },
      { "here: form: expected 2 to 64 ways to fill it, got 1", with_form { "x = ___", { "1" } } },
      { "here: form: not a line of Lua: x = 1 +", with_form { "x = ___", { "1", "1 +" } } },
      { "here, open question: unknown option sample; it takes none",
        { sample = "1" } },
      { "here: expected at least one hint without a condition",
        { expect = "1", hints = { { "it == 2", "no" } } } },
      { "here: hint 1: expected {\"Lua condition\", \"hint\"} or a hint",
        { expect = "1", hints = { { "it == 2" }, "no" } } },
      { "here: hint 1:1: unexpected symbol near '='", { expect = "1",
        hints = { { "= 2", "no" }, "no" } } },
      { "here: an open question takes only hints without a condition",
        { hints = { { "it == 2", "no" } } } },
    }) do
      local given = case[2].question and case[2] or nil
      local ok, message = pcall(given and function() questions.all("here", given) end
        or function() question(case[2]) end)
      assert.is_false(ok, case[1])
      assert.equal(case[1], message:sub(1, #case[1]))
    end
  end)

  it("can be single, in a list, or absent", function()
    assert.same({}, questions.all("here", nil))
    assert.equal("open", questions.all("here", ANSWER)[1].kind)
    assert.equal(2, #questions.all("here", { ANSWER, ANSWER }))
    assert.error_matches(function() questions.all("here", { ANSWER, { question = "Q?" } }) end,
      "^here 2: option answer")
  end)

  it("with choices is answered by a number or a letter", function()
    local wanted = "a number from 1 to 3, or a letter from a to c"
    judges(question({ choices = { "left", "right", "up" }, expect = 2,
      hints = { { "it == 1", "The other." }, "Think." } }), {
      { "2", "right" }, { "b", "right" }, { " B ", "right" }, { "(b)", "right" }, { "2.", "right" },
      { "1", "wrong", "The other." }, { "a", "wrong", "The other." }, { "c", "wrong" },
      { "4", "malformed", wanted }, { "0", "malformed", wanted }, { "d", "malformed", wanted },
      { "the second", "malformed", wanted },
      { "2 b", "malformed", wanted },
      { "> b", "other" }, { "x + 1", "other" }, { "y = 2", "other" },
      { "for i = 1, 2 do", "other" },
    })
    judges(question({ choices = { "1", "2", "3" }, expect = 1 }), {
      { "a", "right" }, { "b", "wrong" }, { "1", "malformed", "a letter from a to c" },
    })
  end)

  it("for a number is answered by an expression with a number as its value", function()
    local wanted = "one number, such as 0.5, 1/2 or cos(60°)"
    judges(question({ expect = "2 * x", hints = { { "it == -6", "The sign." }, "Think." } }), {
      { "6", "right" }, { "6.05", "right" }, { "x + 3", "right" }, { "math.sqrt(36)", "right" },
      { "-6", "wrong", "The sign." }, { "6.07", "wrong" }, { "1/0", "wrong" },
      { "math.mininteger", "wrong" },
      { "0/0", "malformed", wanted }, { "6, 6", "malformed", wanted },
      { "'6'", "malformed", wanted }, { "six", "malformed", wanted }, { "{}", "malformed", wanted },
      { "6 degrees", "right" }, { "6%", "wrong" }, { "6 +", "incomplete" },
      { "y = 6", "other" }, { "> 6", "other" }, { "nothing()", "failed" },
      { "table.insert({}, 6)", "tried" },
    })
    judges(question({ expect = "x - 3" }), { -- near zero sizes do not count
      { "0", "right" }, { "1e-10", "right" }, { "1e-8", "wrong" }, { "0.001", "wrong" } })
    judges(question({ expect = "1 / (x - 3)" }), { { "1/0", "right" }, { "-1/0", "wrong" },
      { "5", "wrong" } })
    judges(question({ expect = "100", within = 0 }), { { "100", "right" }, { "100.0", "right" },
      { "100.1", "wrong" } })
    judges(question({ expect = "-100", within = 0.2 }), { { "-81", "right" }, { "-79", "wrong" },
      { "100", "wrong" } })
  end)

  it("for a line of Lua is answered by one, and keeps the variables only of a right one", function()
    local wanted = "a line of Lua"
    judges(question({ check = "y == 2 * x", sample = "y = 6",
      hints = { { "y == -6", "The sign." }, { "it == 6", "Set y." }, "Think." } }), {
      { "y = 6", "right", nil, "y" }, { "y = 2 * x; y", "right", nil, "y" },
      { "y = -6", "wrong", "The sign." },
      { "6", "wrong", "Set y." }, { "x = 7", "wrong" }, { "nothing()", "failed" },
      { "y = = 6", "malformed", wanted }, { "y = 2 *", "incomplete" }, { "> y = 6", "other" },
    })
    local one = question({ check = "f(2) == 4", sample = "function f(n) return 2 * n end" })
    local scope = steps.layer({ x = 3 })
    local function judge(line)
      return questions.judge(one, line, scope, nil).kind
    end
    assert.equal("wrong", judge("f = 7"))
    assert.equal("wrong", judge("function f(n) x = n return x end"))
    assert.equal("right", judge("function f(n) last = n return n + n end"))
    assert.equal(6, scope.f(3))
    assert.equal(3, scope.last) -- set where the lesson's variables are
    assert.equal(3, scope.x)
  end)

  it("judges each way to fill a form, and keeps no variable", function()
    local one = question({ check = "z == x", sample = "z = 3", form = { "z = ___ - ___",
      { "x", "4", "nothing()" }, { "0", "1" } }, hints = { { "z == 2", "Too small." }, "Think." } })
    local scope = steps.layer({ x = 3 })
    local found = questions.of_form(one, scope)
    local kinds, hints = {}, {}
    for i, verdict in ipairs(found) do
      kinds[i], hints[i] = verdict.kind, verdict.hint or false
    end
    assert.same({ "right", "wrong", "wrong", "right", "failed", "failed" }, kinds)
    assert.same({ false, "Too small.", false, false, false, false }, hints)
    assert.is_nil(next(scope))
  end)

  it("reports an expected value that is not a number", function()
    for source, got in pairs({ ["nil"] = "nil", ["'5'"] = '"5"', ["0/0"] = "%-?nan" }) do
      assert.error_matches(function() questions.expected(question({ expect = source }), {}) end,
        "^here, expect: expected a number, got " .. got .. "$")
    end
  end)
end)
