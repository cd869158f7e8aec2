require("roper")
local browser = require("tests.browser")
local every = require("tests.lessons")
local handout = require("roper.workbench.lesson.handout")
local html = require("tests.html")
local lessons = require("roper.workbench.lesson")
local markup = require("roper.text.markup")
local page = require("roper.workbench.lesson.page")
local questions = require("roper.workbench.lesson.question")
local scratch = require("tests.scratch")
local steps = require("roper.workbench.lesson.step")

-- The plain words at the beginning of prose.
local function words_of(text)
  return markup.escape(text:match("^[%w ,.]+")):gsub(" $", "")
end

describe("a handout", function()
  local some

  setup(function()
    scratch.create()
    some = {}
    for i, name in ipairs({ "ten-minutes", "rotation", "relative-distance", "families" }) do
      some[i] = lessons.find(name)
    end
    page.write(some, scratch.path("handout"), "handout")
  end)
  teardown(scratch.remove)

  local function read(name)
    return scratch.read(scratch.path("handout/" .. name .. ".html"))
  end

  it("has each question, with room for its answer, but no answer", function()
    for _, lesson in ipairs(some) do
      local text = read(lesson.name)
      html.check(text)
      for _, part in ipairs({ "<details", "<summary", "<script", "<samp", "hints", "✓" }) do
        assert.is_nil(text:find(part, 1, true), lesson.name .. ": " .. part)
      end
      local asked, rooms = 0, 0
      every.step(function(_, number, step)
        for i, question in ipairs(questions.of(step)) do
          asked = asked + 1
          rooms = rooms + ((question.choices or question.form) and 0 or 1)
          assert.truthy(text:find(("<b>%d.%d </b>"):format(number, i), 1, true))
          assert.is_nil(#question.answer > 40 and text:find(question.answer:sub(1, 40), 1, true)
            or nil, question.answer)
        end
      end, { lesson })
      assert.equal(asked, select(2, text:gsub('class="asked"', "")), lesson.name)
      assert.equal(rooms, select(2, text:gsub('class="room[" ]', "")), lesson.name)
    end
  end)

  it("asks what is predicted before the figure, which only starts, and then shows code", function()
    local text = read("rotation")
    local section = text:match("<section>(.-)</section>")
    local first, figure = section:find("<b>1.1 </b>", 1, true), section:find("<figure", 1, true)
    local code, second = section:find("function turn", 1, true), section:find "<b>1%.2 </b>"
    assert.is_true(first < figure and figure < code and code < second)
    for _, lesson in ipairs(some) do
      local started = 0
      for _ in read(lesson.name):gmatch('<div class="start" data%-waits="">.-<figure') do
        started = started + 1
      end
      local figures = select(2, read(lesson.name):gsub("<figure", ""))
      assert.equal(started, figures)
      assert.is_true(figures > 0)
    end
  end)

  browser.it("shows the axes and the start of its figures, not what comes next", function(path)
    local document = browser.load(path, read("ten-minutes"), [[
      const all = [...document.querySelectorAll(".start")];
      const isSeen = (part) => getComputedStyle(part).visibility === "visible";
      document.body.textContent = [all.length,
        all.filter((one) => [...one.querySelectorAll(".tick")].some(isSeen)).length,
        all.filter((one) => [...one.querySelectorAll(
          ".chart > svg > rect, .now")].some(isSeen)).length,
        document.querySelectorAll("figcaption:not([hidden])").length - all.filter((one) =>
          !one.querySelector("figcaption").checkVisibility()).length].join(" ");]])
    local count, started, seen, captions = document:match("<body[^>]*>(%d+) (%d+) (%d+) (%d+)")
    assert.equal(count, started)
    assert.equal("0", seen)
    assert.equal("0", captions)
  end)

  it("has a page of answers: each with the usual wrong ones, whole figures and output", function()
    for _, lesson in ipairs(some) do
      local text = read(lesson.name .. "-answers")
      html.check(text)
      assert.is_nil(text:find('class="start"', 1, true))
      assert.is_nil(text:find("<script", 1, true))
      local figures = 0
      every.step(function(_, _, step)
        figures = figures + (step.figure and 1 or 0)
        for _, question in ipairs(questions.of(step)) do
          for _, hint in ipairs(question.further) do
            assert.truthy(text:find(words_of(hint), 1, true), hint)
          end
          local said = words_of(steps.unindented(question.answer):match("[^\n]*"))
          assert.truthy(text:find(said, 1, true), said)
        end
      end, { lesson })
      assert.equal(figures, select(2, text:gsub("<figure", "")))
      assert.truthy(text:find("<samp>", 1, true))
    end
  end)

  it("can have some steps of several lessons", function()
    local text = handout.page("Two", { { lesson = some[2], steps = { 2, 6 } },
      { lesson = some[1], steps = { 3 } } })
    local titles = {}
    for number in text:gmatch("Step (%d+) ") do
      titles[#titles + 1] = number
    end
    assert.same({ "2", "6", "3" }, titles)
    assert.equal(2, select(2, text:gsub("<h1>", "")))
  end)
end)
