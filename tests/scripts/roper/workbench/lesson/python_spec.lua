-- The programs for PyTorch in lessons.

require("roper")
local every = require("tests.lessons")
local html = require("tests.html")
local lessons = require("roper.workbench.lesson")
local output = require("tests.stdout")
local page = require("roper.workbench.lesson.page")
local process = require("tests.process")
local scratch = require("tests.scratch")
local show = require("roper.workbench.lesson.show")
local steps = require("roper.workbench.lesson.step")

-- A lesson of one step: with a program, and with a question if there is one.
local function lesson(predict)
  local source = [[return roper.lesson { order = 1, title = "t", before = "b", after = "a",
    steps = { { title = "s", text = "w", code = "x = 6 * 7", PREDICT
      claims = { { "x == 42", instead = { "6", "5" } } },
      python = "\n  for i in range(2):\n      print(i < 1)  # True\n",
      figure = { caption = "figured", draw = "y = {1, 2} return plot.line(y, {format = format})",
        claims = { { "y[2] == 2", instead = { "2}", "3}" } } } } } } }]]
  return lessons.read(scratch.write("listed.lua", (source:gsub("PREDICT", predict or ""))))
end

local QUESTION <const> = [[predict = { question = "q?", expect = "42", answer = "answered",
  hints = { "Multiply." } },]]

describe("a program for PyTorch in a lesson", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("is shown at the terminal, after the results and before the figure", function()
    local text = output.capture(show.all, lesson())
    local from = text:find("measured: 42\n\nIn PyTorch:\n\n  for i in range(2):\n"
      .. "      print(i < 1)  # True\n\n", 1, true)
    assert.truthy(from, text)
    assert.truthy(text:find("figured", from, true))
    local screen = process.open("stty rows 200; ./roper lesson " .. scratch.path("listed.lua"))
    screen:expect("✓ x == 42")
    screen:expect("In PyTorch:")
    screen:expect("  for i in range(2):")
    screen:expect("figured")
    screen:type("quit\r")
  end)

  it("is an open block of code on a page", function()
    page.write({ lesson() }, scratch.path("page"))
    local text = scratch.read(scratch.path("page/listed.html"))
    html.check(text)
    local before, code = text:match("^(.*)<p>In PyTorch:</p>%s*<pre class=\"code\">(.-)</pre>")
    assert.is_nil(before:match("<section.*"):find("<details", 1, true))
    assert.equal("for i in range(2):\n    print(i &lt; 1)  # True\n", (code:gsub("<[^>]*>", "")))
  end)

  it("is shown with the answer if the step begins with a question", function()
    for form, is_shown in pairs { html = true, handout = false } do
      page.write({ lesson(QUESTION) }, scratch.path(form), form)
      local text = scratch.read(scratch.path(form .. "/listed.html"))
      local found = text:find("In PyTorch:", 1, true)
      assert.equal(is_shown, found ~= nil)
      assert.is_true(not found or found > text:find("answered", 1, true))
    end
  end)
end)

-- The numbers with decimal places in a text.
local function numbers(text)
  local list = {}
  for number in text:gmatch("%-?%d+%.%d%d+") do
    list[#list + 1] = number
  end
  return list
end

describe("the programs for PyTorch", function()
  local found = {} -- the programs, each with the numbers that the Lua of its step prints

  -- The numbers that the Lua of a step prints.
  local function printed_by(lesson_of, number)
    local scope, parts = steps.scope(), {}
    for i = 1, number - 1 do
      steps.prepare(lesson_of.steps[i], scope)
    end
    for i, piece in ipairs(steps.prepare(lesson_of.steps[number], scope)) do
      parts[i] = piece.output or ""
    end
    return numbers(table.concat(parts, "\n"))
  end

  setup(function()
    every.step(function(lesson_of, number, step)
      if step.python then
        found[#found + 1] = { program = steps.unindented(step.python),
          printed = printed_by(lesson_of, number) }
      end
    end)
    assert.is_true(#found > 0)
  end)

  it("state only numbers that the Lua of the step prints", function()
    for _, one in ipairs(found) do
      local stated = 0
      for comment in one.program:gmatch("# ([^\n]*)") do
        for _, number in ipairs(numbers(comment)) do
          stated = stated + 1
          assert.truthy((" " .. table.concat(one.printed, " ") .. " "):find(
            " " .. number .. " ", 1, true), number)
        end
      end
      assert.is_true(stated > 0)
    end
  end)

  it("print the same numbers as the Lua of the step", function()
    if process.run({ "sh", "-c", "python3 -c 'import torch'" }) ~= 0 then
      return pending("python3 has no torch (pip install torch)")
    end
    for _, one in ipairs(found) do
      local status, printed, errors = process.run({ "python3", "-" }, one.program)
      assert.equal(0, status, errors)
      assert.same(one.printed, numbers(printed))
    end
  end)
end)
