require("roper")
local check = require("roper.workbench.lesson.check")
local lessons = require("roper.workbench.lesson")
local files = require("roper.base.file")
local output = require("tests.stdout")
local paths = require("roper.base.paths")
local scratch = require("tests.scratch")
local documents = require("roper.base.document.terminal")
local show = require("roper.workbench.lesson.show")
local steps = require("roper.workbench.lesson.step")

-- A lesson of one step.
local function lesson(step)
  step.title, step.text = step.title or "A step", step.text or "Some words."
  return { order = 1, title = "A lesson", before = "Nothing.", after = "All.", steps = { step } }
end

-- A lesson with these fields.
local function headed(fields)
  local whole = lesson {}
  for name, value in pairs(fields) do
    whole[name] = value
  end
  return whole
end

-- The lesson as a file of lessons gives it.
local function read(source)
  return lessons.read(scratch.write("a_lesson.lua", source))
end

describe("lesson", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("takes a table in a certain form", function()
    local code = "x = 1"
    for _, case in ipairs {
      { "lesson: expected a table of options, got number", 7 },
      { "lesson: unknown option titel; did you mean \"title\"", { titel = "x" } },
      { "lesson: option after: expected a string, got nil", {} },
      { "lesson: expected at least one step",
        { order = 1, title = "", before = "", after = "", steps = {} } },
      { "lesson: step 1: option text: expected a string, got 5", lesson { text = 5 } },
      { "lesson: step 1: unknown option clams; did you mean \"claims\"", lesson { clams = {} } },
      { "lesson, needs 1: expected the name of a lesson, got 4", headed { needs = { 4 } } },
      { "lesson: option minutes: expected a positive integer", headed { minutes = 0 } },
      { "lesson, notation 1: expected {\"formula\", \"its m", headed { notation = { "m" } } },
      { "lesson, notation 1: expected '}'", headed { notation = { { "R_{m", "" } } } },
      { "lesson, after: expected a letter", headed { after = "the $a_$" } },
      { "step 1, formula: expected ')' to close the '(' at column 5, found the end", lesson {
        formula = "a = (b" } },
      { "step 1, text: expected the number of a paper", lesson { text = "[S](arXiv:1)" } },
      { "step 1, title: expected a letter", lesson { title = "$a_$" } },
      { "step 1, exercise, question: expected", lesson { exercise = { question = "$($",
        answer = "" } } },
      { "step 1, exercise, answer: expected", lesson { exercise = { question = "",
        answer = "$($" } } },
      { "step 1, figure, caption: expected", lesson { figure = { caption = "$($", draw = "" } } },
      { "step 1, claim 1: expected {\"claim\", instead", lesson { code = code,
        claims = { "x == 1" } } },
      { "step 1, claim 1: instead: the code does not contain 'y'", lesson { code = code,
        claims = { { "x == 1", instead = { "y", "z" } } } } },
      { "step 1, figure: option draw: expected a string", lesson { figure = { caption = "" } } },
      { "step 1, figure: expected at least one claim about the numbers that it draws", lesson {
        figure = { caption = "", draw = "return plot.line{1, 2}" } } },
      { "step 1, figure, claim 1: instead: draw does not contain 'z'", lesson { figure = {
        caption = "", draw = "y = {1}", claims = { { "y[1] == 1", instead = { "z", "y" } } } } } },
      { "step 1, exercise: option answer: expected a string", lesson { exercise = {
        question = "" } } },
      { "step 1, predict 1: expected choices and expect, expect, or check and sample",
        lesson { predict = { question = "", answer = "" } } },
    } do
      local ok, message = pcall(lessons.lesson, case[2])
      assert.is_false(ok)
      assert.truthy(message:find(case[1], 1, true), message)
    end
  end)

  it("is found by being in a file", function()
    local found = read [[return roper.lesson { order = 3, title = "T", before = "b", after = "a",
      steps = { { title = "s", text = "t", code = "x = roper.zeros{2}" } } }]]
    assert.equal("a-lesson", found.name)
    assert.equal("T", found.title)
    for _, text in ipairs({ "return 7", "return { steps = {}, order = 1 }" }) do
      assert.error_matches(function() read(text) end, "expected a file that returns roper.lesson")
    end
    assert.error_matches(function() read "return = 7" end, "unexpected symbol near '='")
    assert.error_matches(function() read "return roper.lesson { title = 'x' }" end,
      "lesson: option after")
    assert.error_matches(function()
      read "return roper.lesson { order = 3, title = 'T', before = 'b', after = 'a', given = 7 }"
    end, "option given: expected a table, got 7")
  end)

  it("says which file, and where in it, is wrong", function()
    local path = scratch.path("a_lesson.lua")
    local function fails(message, source)
      scratch.write("a_lesson.lua", source)
      local ok, told = pcall(lessons.read, path)
      assert.is_false(ok)
      assert.equal(path .. message, told)
    end
    fails(":2: unexpected symbol near '='", "x = 1\n= 7")
    fails(":2: mine", "\nerror 'mine'")
    fails(":1: mine", "error('mine', 0)")
    fails(":3: lesson: option after: expected a string, got nil",
      "return roper.lesson {\norder = 1,\ntitle = 'Half a lesson' }")
    fails(":5: lesson: step 2: unknown option clams; did you mean \"claims\"? It takes claims, "
      .. "code, exercise, figure, formula, identity, predict, text, title", [[
return roper.lesson { order = 1, title = "t", before = "b", after = "a",
  steps = {
    { title = "First", text = "Words." },
    { title = "Second",
      text = "Other words.", clams = {} } } }]])
    assert.error_matches(function() lessons.read(scratch.path("none.lua")) end,
      "^no file .*/none%.lua$")
    require("roper.base.file").make(scratch.path("folder.lua"))
    assert.error_matches(function() lessons.read(scratch.path("folder.lua")) end,
      "^cannot read .*/folder%.lua: expected a file, got a directory$")
  end)

  it("gives its names to identities that declare none", function()
    local found = read [[return roper.lesson { order = 3, title = "T", before = "b", after = "a",
      given = { m = "position" }, steps = {
        { title = "s", text = "t", identity = { "cos(m) == cos(-m)" } },
        { title = "s", text = "t", identity = { "cos(n) == cos(-n)",
          given = { n = "position" } } },
        { title = "s", text = "t" } } }]]
    assert.same({ m = "position" }, found.steps[1].identity.given)
    assert.same({ n = "position" }, found.steps[2].identity.given)
    assert.is_true(steps.run(found.steps[1], steps.scope()).holds)
  end)

  it("is named in messages when there is none of a name", function()
    assert.equal("relative-distance", lessons.find("relative-distance").name)
    assert.equal("relative-distance", lessons.find("relative_distance").name)
    assert.error_matches(function() lessons.find("rotatoin") end,
      "^no lesson 'rotatoin'; did you mean \"rotation\"%? There are why%-position, mask")
  end)

  it("opens even if another one is broken, which is not read", function()
    local library = paths.LIBRARY
    scratch.create()
    files.make(scratch.path("roper"))
    files.make(scratch.path("lessons"))
    scratch.write("lessons/broken.lua", "return roper.lesson { order = 1, ")
    scratch.write("lessons/works_too.lua", [[return roper.lesson { order = 2, title = "t",
      before = "b", after = "a", steps = { { title = "s", text = "t" } } }]])
    paths.LIBRARY = scratch.path("roper")
    local ok, message = pcall(function()
      assert.same({ "broken", "works-too" }, lessons.names())
      assert.equal("works-too", lessons.find("works_too").name)
      assert.equal("works-too", lessons.find("2").name)
      assert.error_matches(function() lessons.find("broken") end, "unexpected symbol")
    end)
    paths.LIBRARY = library
    scratch.remove()
    assert(ok, message)
  end)

  it("is found by its number in the list", function()
    for number, found in ipairs(lessons.all()) do
      assert.equal(found.name, lessons.find(tostring(number)).name)
    end
    for _, number in ipairs { "0", "100", ("9"):rep(30) } do
      assert.error_matches(function() lessons.find(number) end,
        ("^no lesson %s; there are %%d+$"):format(number))
    end
  end)

  it("is shown and checked if nobody reads the file", function()
    local text = output.capture(lessons.lesson, lesson { text = "Words with `code`.",
      formula = "a = b", code = "x = 2\nx + 1", claims = { { "x < 3", instead = { "2", "3" } } },
      predict = { question = "What is x?", choices = { "2", "3" }, expect = 1, answer = "Two.",
        hints = { "Look at the code." } },
      exercise = { question = "Why?", answer = "Therefore." } })
    assert.truthy(text:find("Predict.*What is x.*Two%..*> x = 2.*Why.*Therefore"), text)
    for _, part in ipairs { "A lesson\n", "Before: Nothing.", "1/1  A step", "Words with code.",
      "    a = b\n", "> x = 2\n> x + 1\n3\n", "  ✓ x < 3   measured: 2\n", "Try it. Why?",
      "Answer. Therefore.",
      "Predict first. What is x?\n  a) 2\n  b) 3\n\nAnswer. a) Two.\n", "✓ every claim holds\n" } do
      assert.truthy(text:find(part, 1, true), part .. " in " .. text)
    end
    local failing = lesson { code = "x = 3", claims = { { "x < 3", instead = { "3", "4" } } } }
    local shown, ok, message = output.capture(pcall, lessons.lesson, failing)
    assert.is_false(ok)
    assert.equal("lesson: a claim fails", message)
    assert.truthy(shown:find("✗ x < 3   measured: 3", 1, true))
  end)
end)

describe("a step", function()
  it("runs code line by line as if typed", function()
    local transcript = steps.execute([[
        x = 2; y = 3
        function twice(z)
          return 2 * z
        end
        twice(x), y
        twice(y);
        nil
    ]], steps.scope())
    assert.same({
      { source = "x = 2; y = 3" },
      { source = "function twice(z)\n  return 2 * z\nend" },
      { source = "twice(x), y", output = "4\t3" },
      { source = "twice(y);" },
      { source = "nil", output = "nil" },
    }, transcript)
    assert.error_matches(function() steps.execute("x = = 1", {}) end, "unexpected symbol near '='")
    assert.error_matches(function() steps.execute("f(", {}) end, "incomplete code: f%(")
    assert.error_matches(function() steps.execute("nothing()", steps.scope()) end,
      "nil value")
  end)

  it("keeps its variables out of the globals", function()
    steps.execute("surely_no_global = 1", steps.scope())
    assert.is_nil(rawget(_G, "surely_no_global"))
  end)

  it("judges a claim and tells what was compared", function()
    local scope = steps.scope()
    scope.x, scope.name = 0.12345, "a"
    assert.same({ text = "x < 1", value = "0.123", holds = true },
      steps.judge({ text = "x < 1" }, scope))
    assert.same({ text = "2 * x >= 1", value = "0.247", holds = false },
      steps.judge({ text = "2 * x >= 1" }, scope))
    assert.same({ text = 'name == "a"', value = '"a"', holds = true },
      steps.judge({ text = 'name == "a"' }, scope))
    assert.same({ text = "x ~= 0/0", value = "0.123", holds = true },
      steps.judge({ text = "x ~= 0/0" }, scope))
    scope.x = 0 / 0
    assert.is_false(steps.judge({ text = "x < 1" }, scope).holds)
    assert.is_false(steps.judge({ text = "name" }, scope).holds) -- not true itself
  end)

  it("is the same each time", function()
    local step = { code = "x = roper.randn{2}:totable()", claims = {} }
    local first, second = steps.scope(), steps.scope()
    steps.run(step, first)
    require("roper").randn { 3 }
    steps.run(step, second)
    assert.same(first.x, second.x)
  end)
end)

describe("lesson.check", function()
  it("prints a line for each claim and says whether all hold", function()
    local good = { name = "good", steps = { { code = "x = 1", claims = {
      { text = "x == 1" }, { text = "x < 3" } } } } }
    local text, holds = output.capture(check.run, { good })
    assert.equal("ok 1 - good 1: x == 1\nok 2 - good 1: x < 3\n1..2\n", text)
    assert.is_true(holds)
    local bad = { name = "bad", steps = {
      { code = "x = 1", claims = { { text = "x == 2" } } },
      { code = "x = nothing.at_all", claims = {} },
      { claims = {}, identity = { "cos(m) == sin(m)", given = { m = "position" },
        wrong = { "cos(m) == cos(m)" } } },
    } }
    text, holds = output.capture(check.run, { good, bad })
    assert.is_false(holds)
    assert.truthy(text:find("\nnot ok 3 - bad 1: x == 2\n# measured: 1\n", 1, true))
    assert.truthy(text:find("\nnot ok 4 - bad 2: runs\n# lesson:1: attempt to index", 1, true))
    assert.truthy(text:find("\nnot ok 5 - bad 3: cos(m) == sin(m)\n#   cos(m) == sin(m)\n", 1,
      true))
    assert.truthy(text:find("\nnot ok 6 - bad 3: not cos(m) == cos(m)\n# not refuted\n", 1, true))
    assert.truthy(text:find("\n1..6\n# 4 of 6 checks fail\n$"))
  end)

  it("draws each figure in both forms and wants its claims to be of what is drawn", function()
    local function checked(draw, ...)
      local claims = {}
      for i, claim in ipairs { ... } do
        claims[i] = { text = claim[1], instead = { claim[2], claim[3] } }
      end
      return output.capture(check.run, { { name = "it", steps = { { code = "x = {1, 2}",
        claims = {}, figure = { draw = draw, claims = claims } } } } })
    end
    local draw = "y, z = x, 3 return plot.line(y, {format = format})"
    local text, holds = checked(draw, { "y[2] == 2", "= x", "= {3, 4}" })
    assert.equal("ok 1 - it 1: its figure is text and SVG\nok 2 - it 1: y[2] == 2\n1..2\n", text)
    assert.is_true(holds)
    for message, claim in pairs {
      ["measured: 2"] = { "y[2] == 4", "= x", "= {3, 4}" },
      ["with 4 instead of 3, the picture is the same"] = { "z == 3", "3", "4" },
      ["with {5, 2} instead of x, the claim still holds"] = { "y[2] == 2", "x", "{5, 2}" },
    } do
      text, holds = checked(draw, claim)
      assert.is_false(holds)
      assert.truthy(text:find("\nnot ok 2 .*\n# " .. message:gsub("[{}]", "%%%0") .. "\n"), text)
    end
    text = checked("return plot.line(x, {format = 'svg'})")
    assert.truthy(text:find("^not ok 1 %- it 1: its figure is text and SVG\n# draw returns"), text)
    text = checked("return plot.lin(x)")
    assert.truthy(text:find("^not ok 1 %- it 1: is drawn\n# lesson:1: attempt to call"), text)
  end)

  it("answers every question, and finds those that cannot be judged", function()
    local function outcome(question)
      question.question, question.answer = question.question or "Q?", "A."
      question.hints = question.hints or { "Think." }
      local one = { name = "asks", steps = { { code = "x = 3", claims = {},
        predict = require("roper.workbench.lesson.question").all("here", question) } } }
      local text, holds = output.capture(check.run, { one })
      assert.equal(holds, text:find("^ok 1 %- asks 1: asks: Q%?\n") ~= nil)
      return holds or text:match("\n# ([^\n]*)")
    end
    assert.is_true(outcome { choices = { "a", "b" }, expect = 2, hints = { { "it == 1", "No." },
      "Think." } })
    assert.is_true(outcome { expect = "x" })
    assert.is_true(outcome { check = "y == x", sample = "y = 3", hints = { { "y ~= 3", "No." },
      "Think." } })
    assert.equal("expect: expected a number, got nil", outcome { expect = "y" })
    assert.equal("expected the answer y = 4 to be judged right, got wrong",
      outcome { check = "y == x", sample = "y = 4" })
    assert.matches("^expected the answer nothing%(%) to be judged right, got failed: .*'nothing'",
      outcome { check = "y == x", sample = "nothing()" })
    assert.equal("the hint for it > 2 also fits the right answer", outcome { expect = "x",
      hints = { { "it > 2", "No." }, "Think." } })
    assert.matches("attempt to index a number value", outcome { expect = "x",
      hints = { { "it.y.z", "No." }, "Think." } })
    local text = output.capture(check.run, { { name = "open", steps = { { claims = {},
      exercise = { { question = "Q?", answer = "A.", kind = "open" } } } } } })
    assert.equal("1..0\n", text)
  end)

  it("tells of an identity that cannot be read", function()
    local text, holds = output.capture(check.run, { { name = "odd", steps = {
      { claims = {}, identity = { "1 ==" } } } } })
    assert.is_false(holds)
    assert.truthy(text:find("not ok 1 - odd 1: runs\n# identity: expected an expression", 1, true),
      text)
  end)
end)

describe("lesson.show", function()
  it("draws figures where plots go, unless their text is asked for", function()
    local plots, drawn = require("roper.workbench.plot.output"), {}
    local on_screen = plots.on_screen
    plots.on_screen = function(figure) drawn[#drawn + 1] = figure end
    local figure = { caption = "Rising.", draw = "return plot.line({1, 2}, {format = format})",
      claims = { { "1 == 1", instead = { "2", "3" } } } }
    local text = output.capture(lessons.lesson, lesson { figure = figure })
    local inner = documents.render(show.figure(figure, steps.scope()))
    assert.equal(1, #drawn)
    assert.truthy(text:find("Some words.\n\nRising.\n", 1, true), text)
    assert.truthy(inner:find("^.*┤.*\nRising%.\n$"), inner)
    assert.is_function(plots.on_screen)
    plots.on_screen(figure)
    assert.equal(2, #drawn) -- as before
    plots.on_screen = on_screen
  end)
end)
