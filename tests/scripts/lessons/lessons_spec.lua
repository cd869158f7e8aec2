-- All lessons, and the example of how to write one: their claims are true, their code can be typed,
-- and their text fits the screen.

local check = require("roper.workbench.lesson.check")
local commands = require("roper.workbench.session.repl.commands")
local every = require("tests.lessons")
local format = require("roper.text.format")
local lessons = require("roper.workbench.lesson")
local output = require("tests.stdout")
local positions = require("tests.positions")
local player = require("roper.workbench.session.lesson_player")
local process = require("tests.process")
local questions = require("roper.workbench.lesson.question")
local roper = require("roper")
local scratch = require("tests.scratch")
local session = require("roper.workbench.session.repl.session")
local show = require("roper.workbench.lesson.show")
local steps = require("roper.workbench.lesson.step")
local width = require("roper.text.width").width

-- Misprinted and mistaken equations: the lesson that refutes each, and the source of each.
local MISPRINTS = {
  { "mask-and-waves", "RoFormer, eq. 4: another letter" },
  { "rotation", "α + θ: the position forgotten" },
  { "general-form", "the last pair on the slides" },
  { "general-form", "without the minus" },
  { "general-form", "clockwise" },
  { "relative-score", "RoFormer, eq. 16" },
  { "relative-distance", "labml's page, first component: the sine of another position" },
  { "relative-distance", "labml's page, second component" },
  { "relative-distance", "labml's page, last line" },
  { "relative-distance", "with v⁽¹⁾ twice only" },
  { "relative-distance", "with θ twice only" },
  { "linear-attention", "the unrotated sum used again" },
  { "linear-attention", "as if the sum kept its length" },
}

-- The lesson that lessons/README shows.
local function example()
  local name, source = scratch.read("scripts/lessons/README.md"):match(
    "`scripts/lessons/([%w_]+%.lua)`:\n\n%s*```lua\n(.-)\n%s*```")
  scratch.create()
  local lesson = lessons.read(scratch.write(name, source))
  scratch.remove()
  return lesson
end

-- Types the code of a lesson into a session whose variables are `globals`, and compares the output
-- with `page`, that of the lesson at the terminal.
local function type_in(lesson, globals, page)
  local typed, shown = session.new(globals), 1
  function typed:report(failure)
    error(lesson.name .. ": " .. self:explain(failure), 0)
  end
  function typed.show(_, results)
    local text = format.results(results) .. "\n"
    shown = select(2, page:find("\n" .. text, shown, true))
      or error(("%s: not shown: %s"):format(lesson.name, text), 0)
  end
  for _, step in ipairs(lesson.steps) do
    roper.seed(1)
    local rest
    for line in steps.unindented(step.code or ""):gmatch("[^\n]+") do
      assert.is_nil(not rest and commands.find(line, globals) or nil, line)
      rest = typed:feed(rest and rest .. "\n" .. line or line)
    end
    assert.is_nil(rest)
  end
end

describe("the lessons", function()
  local all -- those of scripts/lessons, and the example
  local found = {} -- the result of each identity, by its step
  local pages = {} -- the output of lessons at the terminal, by their names

  local function page_of(lesson)
    pages[lesson.name] = pages[lesson.name] or output.capture(show.all, lesson)
    return pages[lesson.name]
  end

  setup(function()
    all = lessons.all()
    all[#all + 1] = example()
    local run = steps.run
    steps.run = function(step, scope)
      local result = run(step, scope)
      found[step] = result.identity
      return result
    end
    for _, lesson in ipairs(all) do
      if not every.SLOW[lesson.name] then
        page_of(lesson)
      end
    end
    steps.run = run
  end)

  it("are those of scripts/lessons, in their order", function()
    assert.equal(#positions.names("scripts/lessons", ".lua"), #lessons.names())
    for i = 2, #all do
      assert.is_true(all[i - 1].order < all[i].order, all[i].name)
    end
  end)

  it("list their duration, required earlier lessons, and notation", function()
    local earlier = {}
    for _, lesson in ipairs(all) do
      assert.is_true(lesson.minutes ~= nil and #lesson.notation > 0, lesson.name)
      for _, name in ipairs(lesson.needs) do
        assert.is_true(earlier[name], lesson.name .. " needs " .. name)
      end
      earlier[lesson.name] = true
    end
  end)

  local function check_page(name, text)
    assert.truthy(text:find("✓ every claim holds\n$"), name)
    assert.is_nil(text:find("✗", 1, true), name)
    for line in text:gmatch("[^\n]+") do
      assert.is_true(width(line) <= 80, name .. ": " .. line)
    end
  end

  -- `./roper lesson --check` also plants a fault for each claim, which takes longer.
  it("make only true claims, and fit 80 columns", function()
    for name, text in pairs(pages) do
      check_page(name, text)
    end
  end)

  it("are true and fit if they train for seconds, too #long", function()
    for _, lesson in ipairs(all) do
      check_page(lesson.name, page_of(lesson))
    end
  end)

  it("have a form for each question that is answered with a line of Lua", function()
    local count = 0
    for _, lesson in ipairs(all) do
      for _, step in ipairs(lesson.steps) do
        for _, question in ipairs(questions.of(step)) do
          assert.equal(question.kind == "line", question.form ~= nil, question.question)
          count = count + (question.form and 1 or 0)
        end
      end
    end
    assert.is_true(count >= 11)
  end)

  it("ask at least three questions before results, and show no results before them", function()
    for _, lesson in ipairs(all) do
      local asked = 0
      for number, step in ipairs(lesson.steps) do
        asked = asked + #step.predict
        assert.is_nil(step.predict[1] and (step.code or ""):find("%f[%w]print%f[%W]"),
          every.name(lesson, number) .. " prints")
      end
      assert.is_true(asked >= 3, lesson.name)
    end
  end)

  it("have a figure each", function()
    local figures = {}
    every.step(function(lesson, _, step)
      figures[lesson.name] = figures[lesson.name] or step.figure
    end, all)
    for _, lesson in ipairs(all) do
      assert.truthy(figures[lesson.name], lesson.name)
    end
  end)

  it("check something in every step", function()
    every.step(function(lesson, number, step)
      assert.is_true(#step.claims > 0 or step.identity ~= nil, every.name(lesson, number))
    end, all)
  end)

  it("can be typed into a session line by line, with the same output #long", function()
    local _, names = process.run({ "./roper", "-e", "for name in pairs(_G) do print(name) end" })
    for _, lesson in ipairs(all) do
      local plain = {}
      for name in names:gmatch("%S+") do
        plain[name] = steps.scope()[name]
      end
      type_in(lesson, plain, page_of(lesson))
      for word in pairs(player.words) do
        assert.equal(steps.scope()[word], plain[word], lesson.name .. " sets a word of the prompt")
      end
    end
  end)

  it("fail if code that is typed raises an error or prints something else", function()
    for code, message in pairs({
      ["error('mistake')"] = "broken: mistake",
      ["roper.zeros{2}:sum(3)"] = "broken: .*expected an axis from 1 to 1",
      ["1 + 1"] = "broken: not shown: 2",
    }) do
      local lesson = { name = "broken", steps = { { code = code } } }
      assert.error_matches(function() type_in(lesson, steps.scope(), "\n3\n") end, message)
    end
  end)

  it("have an example in their README that passes its check", function()
    local text, holds = output.capture(check.run, { all[#all] })
    assert.is_true(holds, text)
  end)

  it("refute every misprint, by a counterexample and exactly", function()
    local refuted = {}
    every.step(function(lesson, _, step)
      for _, wrong in ipairs(found[step] and found[step].wrong or {}) do
        refuted[lesson.name .. ", " .. (wrong.source or "")] = wrong
      end
    end, all)
    for _, misprint in ipairs(MISPRINTS) do
      local name = table.concat(misprint, ", ")
      local wrong = refuted[name]
      assert.truthy(wrong and wrong.counterexample, name)
      assert.is_false(wrong.exact.holds)
      assert.is_true(math.abs(wrong.counterexample.left - wrong.counterexample.right) > 1e-3)
    end
  end)

  it("call the positions of a query and a key m and n in all formulas", function()
    local seen = 0
    local function check_indices(where, formula)
      for index in formula:gmatch("_(%b{})") do
        assert.is_nil(index:find("%f[%a][il]%f[%A]"), where .. ": " .. formula)
        seen = seen + 1
      end
      assert.is_nil(formula:find("_[il]%f[%A]"), where .. ": " .. formula)
    end
    local function check_all(where, value)
      if type(value) == "string" then
        for formula in value:gmatch("%$([^$]+)%$") do
          check_indices(where, formula)
        end
      elseif type(value) == "table" then
        for _, part in pairs(value) do
          check_all(where, part)
        end
      end
    end
    for _, lesson in ipairs(all) do
      for _, row in ipairs(lesson.notation) do
        check_indices(lesson.name, row[1])
      end
    end
    every.step(function(lesson, number, step)
      local name = every.name(lesson, number)
      check_indices(name, step.formula or "")
      for _, field in ipairs({ "title", "text", "predict", "exercise", "figure" }) do
        check_all(name, step[field])
      end
    end, all)
    assert.is_true(seen > 100)
  end)

  it("bound the probability of a wrong verdict by 1e-50", function()
    assert.truthy(next(found))
    for step, identity in pairs(found) do
      local exact = identity.exact
      assert.is_true(exact.bound <= 1e-50, step.title)
      assert.equal((2 * exact.degree / exact.prime) ^ exact.trials, exact.bound)
    end
  end)
end)
