require("roper")
local check = require("roper.workbench.lesson.check")
local lessons = require("roper.workbench.lesson")
local files = require("roper.system.file")
local output = require("tests.stdout")
local paths = require("roper.system.paths")
local scratch = require("tests.scratch")
local documents = require("roper.text.document.terminal")
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
      { "lesson: option order: expected an integer, got nil", {} },
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
      "lesson: option order")
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
    fails(": lesson: option before: expected a string, got nil",
      "return roper.lesson {\norder = 1,\ntitle = 'Half a lesson' }")
    fails(": lesson: step 2: unknown option clams; did you mean \"claims\"? It takes claims, "
      .. "code, exercise, figure, formula, identity, predict, python, text, title", [[
return roper.lesson { order = 1, title = "t", before = "b", after = "a",
  steps = {
    { title = "First", text = "Words." },
    { title = "Second",
      text = "Other words.", clams = {} } } }]])
    assert.error_matches(function() lessons.read(scratch.path("none.lua")) end,
      "^no file .*/none%.lua$")
    require("roper.system.file").make(scratch.path("folder.lua"))
    assert.error_matches(function() lessons.read(scratch.path("folder.lua")) end,
      "^cannot read .*/folder%.lua: expected a file, got a directory$")
  end)

  -- A file with a fault: {text, replacement, message}, for errors of Lua also the line in the file.
  local WHOLE <const> = [[
-- steps = { "a comment with a {
local function shown(name) return { caption = "of " .. name, "}" } end
return roper.lesson {
  order = 1, title = "t", before = "b", after = 'a "quoted" \'one\'',
  minutes = 5,
  needs = { "rotation" },
  notation = { { "|x|", "the length of $x$" } },
  steps = {
    { title = "First", text = [=[
        Words ]].."]] }"..[[ of several lines.]=],
      predict = {
        question = "How long?",
        expect = "length",
        answer = "So.",
        hints = {
          { "it == 7", "Square them." },
          "Think." } },
      code = [=[
        x = roper.tensor({3, 4}, "float64")

        length = x:square():sum():item() ^ 0.5]=],
      claims = {
        { "x[1]:item() == 3", instead = { "{3, 4}", "{5, 4}" } },
        { "length == 5",
          instead = { "{3, 4}", "{3, 5}" } } },
      figure = {
        caption = shown("the arrow").caption,
        draw = [=[
          y = x:totable()
          return plot.arrows({y}, {format = format})]=],
        claims = { { "y[1] == 3", instead = { "x:totable()", "{5, 4}" } } },
        play = {
          kind = "rotation", caption = "Move.",
          vectors = { { 1, 0 } } } } },
    { title = "Second", text = "Words.",
      formula = "a = b",
      identity = { "cos(m) == cos(-m)", given = { m = "position" } },
      exercise = {
        { question = "Which?", choices = { "left", "right" }, expect = 2, answer = "A.",
          hints = { { "it == 1", "No." }, "Think." } },
        { question = "Set z.", check = "z == 5",
          sample = "z = length",
          answer = "A.", hints = { "Think." } } } },
  },
}
]]

  -- Calls f(path, message) for each fault, with the file at the path.
  local function each_fault(faults, f)
    for _, fault in ipairs(faults) do
      local first, last = WHOLE:find(fault[1], 1, true)
      local path = scratch.write("a_lesson.lua",
        WHOLE:sub(1, first - 1) .. fault[2] .. WHOLE:sub(last + 1))
      f(path, path .. (fault[4] and (":%d: "):format(fault[4]) or ": ") .. fault[3])
    end
  end

  it("reports the field of a fault in a file", function()
    assert.equal("a-lesson", read(WHOLE).name)
    each_fault({
      { 'title = "t"', 'titel = "t"', 'lesson: unknown option titel; did you mean "title"' },
      { "minutes = 5", "minutes = 0", "lesson: option minutes: expected a positive integer" },
      { 'needs = { "rotation" }', 'needs = "rotation"', "lesson: option needs: expected a table" },
      { '"rotation" },', '"rotatoin" },', "lesson, needs 1: expected the name of a built-in "
        .. 'lesson, got "rotatoin"; did you mean "rotation"? There are ten-minutes, ' },
      { '"rotation" },', '"a-lesson" },', "lesson, needs 1: expected an earlier lesson, got the "
        .. "lesson itself; remove it" },
      { '{ "|x|", "the length of $x$" }', '"|x|"', "lesson, notation 1: expected "
        .. '{"formula", "its meaning"}, got "|x|"' },
      { 'text = "Words."', 'txt = "Words."', "lesson: step 2: unknown option txt; did you mean "
        .. '"text"' },
      { 'text = "Words.",', "", "lesson: step 2: option text: expected a string, got nil" },
      { "a = b", "a = (b", "lesson: step 2, formula: expected ')'" },
      { 'formula = "a = b"', "formula = 5", "lesson: step 2: option formula: expected a string" },
      { 'x = roper.tensor({3, 4}, "float64")', "x = (", "lesson: step 1, code:3: ')' "
        .. "expected (to close '(' at line 1) near '='" },
      { "length = x:sq", "length = = x:sq", "lesson: step 1, code:3: unexpected symbol near '='" },
      { "length = x:sq", "do length = x:sq", "lesson: step 1, code:3: incomplete code: " },
      { '"x[1]:item() == 3"', '"x[1]:item() = 3"', "lesson: step 1, claim 1:1: syntax error" },
      { '"length == 5"', '"length = 5"', "lesson: step 1, claim 2: expected an expression, such "
        .. "as x == 1, got a statement: length = 5" },
      { 'instead = { "{3, 4}", "{3, 5}" }', 'instead = { "{4, 3}", "{3, 5}" }', "lesson: step 1, "
        .. "claim 2: instead: the code does not contain '{4, 3}'; copy" },
      { '{ "x[1]:item() == 3", instead', '{ "x[1]:item() == 3", insted', "lesson: step 1, claim 1: "
        .. 'expected {"claim", instead = {"code", "broken code"}}, got no such instead' },
      { 'caption = shown("the arrow").caption,', "", "lesson: step 1, figure: option caption: "
        .. "expected a string, got nil" },
      { "y = x:totable()\n", "y = = x:totable()\n", "lesson: step 1, figure, draw:1: "
        .. "unexpected" },
      { 'kind = "rotation"', 'kind = "rotatoin"', "lesson: step 1, figure, play: option kind: "
        .. "expected one of attention, clocks, derivation, heads, rotation, sentence, got "
        .. '"rotatoin"; did you' },
      { "vectors =", "vector =", "lesson: step 1, figure, play: unknown option vector; did you" },
      { 'expect = "length"', 'expct = "length"', "lesson: step 1, predict: unknown option expct" },
      { 'expect = "length"', 'expect = "length +"',
        "lesson: step 1, predict: expect:1: unexpected" },
      { 'expect = "length"', 'expect = "y = 5"', "lesson: step 1, predict: expect: expected an "
        .. "expression" },
      { 'expect = "length"', "expect = 5", "lesson: step 1, predict, number question: option "
        .. "expect: expected a string, got 5" },
      { "it == 7", "it = 7", "lesson: step 1, predict: hint 1: expected an expression" },
      { "it == 7", "it == = 7", "lesson: step 1, predict: hint 1:1: syntax error" },
      { '"it == 1", "No."', '"it == 1", "$_$"', "lesson: step 2, exercise 1: hint 1: expected a "
        .. "letter" },
      { "expect = 2", "expect = 3", "lesson: step 2, exercise 1: expect: expected the number of a "
        .. "choice, an integer from 1 to 2, got 3" },
      { 'sample = "z = length"', 'sample = "z = length +"', "lesson: step 2, exercise 2: sample:1: "
        .. "unexpected symbol" },
      { 'shown("the arrow").caption,', "shown().caption,", "attempt to concatenate a nil", 2 },
      { "minutes = 5,", "minutes = 5", "'}' expected (to close '{' at line 3)", 6 },
      { "roper.lesson", "roper.leson", 'roper has no field "leson"; did you mean "lesson"?', 3 },
    }, function(path, message)
      local ok, told = pcall(lessons.read, path)
      assert.is_false(ok, message)
      assert.equal(message, told:sub(1, #message))
    end)
  end)

  it("is checked with the field of each fault", function()
    each_fault({
      { "x:square()", "x:squre()", 'step 1, code:3: a tensor has no field "squre"; did you mean' },
      { '"length == 5"', '"length == 6"', "step 1, claim 2: measured: 5" },
      { '"length == 5"', '"lenth == 5"', "step 1, claim 2: undefined variable lenth; did you mean "
        .. '"length"?' },
      { '"length == 5"', '"length.x == 5"', "step 1, claim 2:1: attempt to index a number value" },
      { '"length == 5"', '"length > 0"', "step 1, claim 2, instead: with {3, 5} instead of "
        .. "{3, 4}, the claim still holds; plant a fault that it detects" },
      { '"{3, 5}"', '"{3, {}}"', "step 1, claim 2, instead: with {3, {}} instead of {3, 4}, the "
        .. "code fails: step 1, code:1: " },
      { "y = x:totable()\n", "y = x:totable() roper.tensor({1, {2}})\n", "step 1, figure, draw:1: "
        .. "tensor: expected a number as element 2, got table" },
      { "y = x:totable()\n", "y = x:totable() x = nothing.y\n", "step 1, figure, draw:1: " },
      { "y[1] == 3", "y[1] == 4", "step 1, figure, claim 1: measured: 3" },
      { "y = x:totable()\n", "y = x:totable() x[2] = 9\n", "step 1: a claim, a figure or a "
        .. "question changes x; let it change a copy" },
      { 'expect = "length"', 'expect = "lenth.x"', "step 1, predict, expect:1: attempt to index" },
      { 'expect = "length"', 'expect = "{}"', "step 1, predict, expect: expected a number, got a "
        .. "table" },
      { "it == 7", "it == 5", "step 1, predict, hint 1: the hint for it == 5 also fits the right" },
      { "it == 7", "it == lenth", "step 1, predict, hint 1: undefined variable lenth; did" },
      { "it == 7", "it.x.y", "step 1, predict, hint 1:1: attempt to index a number value" },
      { "cos(m) == cos(-m)", "cos(m) == sin(m)", "step 2, identity: does not hold:\n" },
      { "cos(m) == cos(-m)", "cos(m == sin(m)", "step 2: identity: cos(m: unexpected end" },
      { 'sample = "z = length"', 'sample = "z = 4"', "step 2, exercise 2, sample: expected the "
        .. "answer z = 4 to be judged right, got wrong" },
    }, function(path, message)
      local text, holds = output.capture(check.run, { lessons.read(path) })
      assert.is_false(holds, message)
      assert.truthy(text:find("\n# " .. message, 1, true) or text:find("^# " .. message), message
        .. "\n" .. text)
    end)
  end)

  it("cannot need itself, directly or through others", function()
    local library = paths.LIBRARY
    files.make(scratch.path("roper"))
    files.make(scratch.path("lessons"))
    for name, needs in pairs { first = "third", second = "first", third = "second",
      other = "second", own = "own" } do
      scratch.write(("lessons/%s.lua"):format(name), ([[return roper.lesson { order = 1,
        title = "t", before = "b", after = "a",
        needs = { "%s" },
        steps = { { title = "s", text = "t" } } }]]):format(needs))
    end
    paths.LIBRARY = scratch.path("roper")
    local ok, message = pcall(function()
      for name, problem in pairs {
        first = "got a circle: first needs third, which needs second, which needs first; remove",
        own = "got the lesson itself; remove it" } do
        local path = scratch.path("lessons/" .. name .. ".lua")
        local read_ok, told = pcall(lessons.find, name)
        assert.is_false(read_ok)
        local expected = ("%s: lesson, needs 1: expected an earlier lesson, %s"):format(path,
          problem)
        assert.equal(expected, told:sub(1, #expected))
      end
      assert.equal("other", lessons.find("other").name) -- not in the circle itself
    end)
    paths.LIBRARY = library
    assert(ok, message)
  end)

  it("is documented with a whole lesson, which passes its check", function()
    local sources = require("roper.workbench.help.sources")
    local comment = table.concat(sources.comment_of(lessons.lesson).text, "\n")
    local source = comment:match("\n    (return roper.lesson.-\n    })\n"):gsub("\n    ", "\n")
    local found = read(source)
    local text, holds = output.capture(check.run, { found })
    assert.is_true(holds, text)
    -- Its table contains every documented field, except check's alternatives.
    for _, class in ipairs { "Lesson", "LessonStep", "LessonQuestion", "LessonFigure" } do
      for _, field in ipairs(sources.fields(class)) do
        assert.truthy(source:find("%f[%w]" .. field.name .. " ="), class .. "." .. field.name)
      end
    end
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
      "^no lesson 'rotatoin'; did you mean \"rotation\"%? There are ten%-minutes, why%-position")
  end)

  it("opens even if another one is broken, which is not read", function()
    local library = paths.LIBRARY
    for _, name in ipairs { "broken", "broken/roper", "broken/lessons" } do
      files.make(scratch.path(name))
    end
    scratch.write("broken/lessons/broken.lua", "return roper.lesson { order = 1, ")
    scratch.write("broken/lessons/works_too.lua", [[return roper.lesson { order = 2, title = "t",
      before = "b", after = "a", steps = { { title = "s", text = "t" } } }]])
    paths.LIBRARY = scratch.path("broken/roper")
    local ok, message = pcall(function()
      assert.same({ "broken", "works-too" }, lessons.names())
      assert.equal("works-too", lessons.find("works_too").name)
      assert.equal("works-too", lessons.find("2").name)
      assert.error_matches(function() lessons.find("broken") end, "unexpected symbol")
    end)
    paths.LIBRARY = library
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

  it("hides variables that are set by code that is not shown", function()
    local scope = steps.scope()
    steps.execute("count = 1\nfunction more() count, last = count + 1, count return count end",
      scope)
    assert.equal("2", steps.judge({ text = "more() == 2" }, scope).value)
    assert.is_true(steps.judge({ text = "more() == 2" }, scope).holds)
    local _, variables = steps.draw({ draw = "x = more() count = 'drawn' return x" }, scope)
    assert.equal(2, variables.x)
    assert.equal("drawn", variables.count)
    assert.equal(1, variables.last) -- set by the function, for the claims of the figure
    assert.error_matches(function()
      steps.evaluate("more() + nothing.x", steps.layer(scope), "hint 1")
    end, "attempt to index a nil value")
    assert.equal(1, scope.count)
    assert.is_nil(scope.last)
    assert.is_nil(scope.x)
    steps.evaluate("rawset(_G, 'surely_no_global', more())", steps.layer(scope), "hint 1")
    assert.is_nil(rawget(_G, "surely_no_global"))
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
    assert.truthy(text:find("\nnot ok 4 - bad 2: runs\n# code:1: attempt to index", 1, true))
    assert.truthy(text:find("\nnot ok 5 - bad 3: cos(m) == sin(m)\n# identity: does not hold:\n"
      .. "#   cos(m) == sin(m)\n", 1, true))
    assert.truthy(text:find("\nnot ok 6 - bad 3: not cos(m) == cos(m)\n# identity: not "
      .. "refuted\n", 1, true))
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
    assert.truthy(text:find("^not ok 1 %- it 1: is drawn\n# draw:1: attempt to call"), text)
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
    assert.equal("here, expect: expected a number, got nil", outcome { expect = "y" })
    assert.equal("here, sample: expected the answer y = 4 to be judged right, got wrong",
      outcome { check = "y == x", sample = "y = 4" })
    assert.equal("here, sample: expected the answer y = x to be judged right, got wrong",
      outcome { check = "y == x", sample = "y = x" }) -- x is set by code that is not shown yet
    assert.equal("here, sample: expected the answer y = 4 to be judged right, got wrong: here, "
      .. "check:1: attempt to index a number value (global 'y')",
      outcome { check = "y.z == x", sample = "y = 4" })
    assert.matches("^here, sample: expected the answer nothing%(%) to be judged right, got failed: "
      .. ".*'nothing'",
      outcome { check = "y == x", sample = "nothing()" })
    assert.equal("here, hint 1: undefined variable xx; did you mean \"x\"?", outcome {
      choices = { "a", "b" }, expect = 2, hints = { { "it == xx", "No." }, "Think." } })
    assert.equal("here, hint 1: the hint for it > 2 also fits the right answer", outcome {
      expect = "x", hints = { { "it > 2", "No." }, "Think." } })
    local function of_form(first, second)
      return outcome { check = "y == 3", sample = "y = 3", form = { "y = ___", { first, second } } }
    end
    assert.is_true(of_form("3", "4"))
    assert.equal("here, form: expected right and wrong ways to fill it, got 0 and 2",
      of_form("2", "1"))
    assert.equal("here, form: expected right and wrong ways to fill it, got 2 and 0",
      of_form("3", "1 + 2"))
    assert.equal("here, form: expected each way to fill it to be right or wrong, got failed: "
      .. "y = nothing()", of_form("3", "nothing()"))
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
