require("roper")
local browser = require("tests.browser")
local documents = require("roper.text.document")
local escape = require("roper.base.escape")
local every = require("tests.lessons")
local html = require("tests.html")
local lessons = require("roper.workbench.lesson")
local markup = require("roper.text.markup")
local page = require("roper.workbench.lesson.page")
local questions = require("roper.workbench.lesson.question")
local renderer = require("roper.text.document.html")
local scratch = require("tests.scratch")
local sentences = require("roper.workbench.lesson.sentences")
local steps = require("roper.workbench.lesson.step")

local COUNT = "<section[ >]"

-- Prose as HTML.
local function html_of(text)
  return markup.render(renderer.nodes(documents.paragraphs(text)))
end

-- Shows every slide of the page in a frame, in turn, by keys, and collects its size, and the slides
-- and words that are visible.
local TURN = [[
  const lines = [];
  const press = (key) => dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  addEventListener("load", () => {
    const all = [...document.querySelectorAll("section")];
    const state = () => {
      const shown = all.filter((slide) => slide.checkVisibility());
      const slide = shown[0].querySelector(".slide"), box = slide.getBoundingClientRect();
      const size = parseFloat(getComputedStyle(slide).fontSize);
      const right = Math.max(...[...slide.querySelectorAll("*")].filter((part) =>
        part.checkVisibility()).map((part) => part.getBoundingClientRect().right));
      const bottom = Math.max(...[...slide.querySelectorAll("*")].filter((part) =>
        part.checkVisibility()).map((part) => part.getBoundingClientRect().bottom));
      return `${shown.length} ${all.indexOf(shown[0]) + 1} ${Math.round(box.width)} ` +
        `${Math.round(box.height)} ${Math.ceil(right)} ${Math.ceil(bottom)} ${size.toFixed(1)} ` +
        `${document.documentElement.scrollHeight}`;
    };
    lines.push(state());
    for (let i = 1; i < all.length; i += 1) {
      press(["ArrowRight", " ", "PageDown", "ArrowDown"][i % 4]);
      lines.push(state());
    }
    press("ArrowRight");
    lines.push("end " + state());
    press("ArrowLeft");
    lines.push("back " + state());
    press("Home");
    lines.push("home " + state());
    document.body.textContent = lines.join("\n") + "\n";
  });
]]

-- Those with all kinds of slides.
local SOME <const> = { ["ten-minutes"] = true, ["relative-distance"] = true, precision = true }

describe("slides", function()
  local quick, some, slow = {}, {}, {}

  setup(function()
    scratch.create()
    for _, lesson in ipairs(lessons.all()) do
      table.insert(every.SLOW[lesson.name] and slow or quick, lesson)
      some[#some + 1] = SOME[lesson.name] and lesson or nil
    end
    page.write(quick, scratch.path("slides"), "slides")
  end)
  teardown(scratch.remove)

  local function read(name)
    return scratch.read(scratch.path("slides/" .. name .. ".html"))
  end

  -- The letters of a part of a page, without formulas.
  local function words_of(part)
    return (part:gsub("<math.-</math>", ""):gsub("<[^>]*>", ""):gsub("%s+", ""))
  end

  local function check_contents(list)
    for _, lesson in ipairs(list) do
      local text, said, noted, count = read(lesson.name), {}, {}, 0
      html.check(text)
      for slide, notes in text:gmatch('<section.-><div class="slide">(.-)</div>'
        .. '<aside aria%-label="Notes" class="notes">(.-)</aside></section>') do
        count = count + 1
        assert.truthy(slide:find("^<h[12]>"), slide)
        said[count], noted[count] = words_of(slide), words_of(notes)
        assert.truthy(noted[count]:find("%S"), slide)
        assert.is_nil(slide:gsub('<figure class="play .-</figure>', ""):find("<details", 1, true))
      end
      assert.equal(select(2, text:gsub(COUNT, "")), count)
      local shown, notes = table.concat(said, " "), table.concat(noted, " ")
      every.step(function(_, number, step)
        assert.truthy(text:find((' id="step-%d"'):format(number), 1, true), lesson.name .. number)
        for _, part in ipairs(sentences.parts(step.text)) do
          assert.truthy(notes:find(words_of(html_of(part.whole)), 1, true), part.whole)
        end
        for _, question in ipairs(questions.of(step)) do
          assert.truthy(shown:find(words_of(html_of(question.question)), 1, true))
          for _, part in ipairs(sentences.parts(questions.answer(question))) do
            assert.truthy(shown:find(words_of(html_of(part.text)), 1, true), part.text)
          end
        end
        for _, line in ipairs(escape.lines(steps.unindented(step.python or ""))) do
          assert.truthy(text:find(markup.escape(line), 1, true), line)
        end
      end, { lesson })
    end
  end

  it("have a title, one idea and notes, and leave nothing out", function()
    check_contents(quick)
  end)

  -- The documents of lessons after a script, and their names. Without a browser, the test is
  -- skipped.
  local function documents_after(script, width, height, list)
    local path, reason = browser.find()
    local pages, names = {}, {}
    for i, lesson in ipairs(path and list or {}) do
      names[i] = lesson.name
      pages[i] = { read(lesson.name), script, width = width, height = height }
    end
    return path and browser.load_all(path, pages) or pending(reason), names
  end

  -- Checks that the slides fit, one at a time, and follow the keys.
  local function check_turns(list, width, height)
    local loaded, names = documents_after(TURN, width, height, list)
    for i, document in ipairs(loaded) do
      local name, number = names[i], 0
      local count = select(2, read(name):gsub(COUNT, ""))
      for line in document:match("<body[^>]*>(.*)</body>"):gmatch("([^\n]+)\n") do
        local word, rest = line:match("^(%l*) ?(.*)$")
        local shown, at, across, down, right, bottom, letters, whole = rest:match(
          "^(%d+) (%d+) (%d+) (%d+) (%-?%d+) (%-?%d+) ([%d.]+) (%d+)$")
        local place = ("%s: %s"):format(name, line)
        assert.equal("1", shown, place)
        number = word == "" and number + 1 or number
        assert.equal(word == "end" and count or word == "back" and count - 1
          or word == "home" and 1 or number, tonumber(at), place)
        assert.same({ width, height }, { tonumber(across), tonumber(down) }, place)
        assert.is_true(tonumber(right) <= width and tonumber(bottom) <= height, place)
        assert.is_true(tonumber(letters) >= height / 100, place)
        assert.is_true(tonumber(whole) <= height, place)
      end
      assert.equal(count, number, name)
    end
  end

  it("fit into 1280 x 720, one at a time, and follow the keys", function()
    check_turns(some, 1280, 720)
  end)

  it("fit into 1280 x 720 in all lessons, and into 1920 x 1080 #long", function()
    check_turns(quick, 1280, 720)
    check_turns(some, 1920, 1080)
  end)

  it("are the same for lessons that train for seconds #long", function()
    page.write(slow, scratch.path("slides"), "slides")
    assert.equal(3, #slow)
    check_contents(slow)
    check_turns(slow, 1280, 720)
  end)

  it("show their notes below what then still fits, if N is pressed", function()
    local loaded, names = documents_after([[
      addEventListener("load", () => {
        const press = (key) => dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        const all = [...document.querySelectorAll("section")];
        const states = all.map((section, i) => {
          if (i) press(" ");
          press("n");
          const { bottom } = section.firstElementChild.getBoundingClientRect();
          const notes = section.querySelector(".notes");
          const isShown = notes.checkVisibility()
            && notes.getBoundingClientRect().top >= bottom - 1;
          const fits = [...section.firstElementChild.querySelectorAll("*")].every((part) =>
            !part.checkVisibility() || part.getBoundingClientRect().bottom <= bottom + 1);
          press("N");
          return isShown && fits && !notes.checkVisibility();
        });
        document.body.textContent = states.map((state, i) => state || i + 1).join(" ");
      });]], 1280, 720, some)
    for i, document in ipairs(loaded) do
      local count = select(2, read(names[i]):gsub(COUNT, ""))
      assert.equal(("true "):rep(count), document:match("<body[^>]*>(.-)</body>") .. " ", names[i])
    end
  end)

  it("follow each other on a screen as narrow as a phone's", function()
    local loaded, names = documents_after([[
      addEventListener("load", () => {
        const all = [...document.querySelectorAll("section")];
        const shown = all.filter((slide) => slide.checkVisibility()).length;
        dispatchEvent(new KeyboardEvent("keydown", { key: "End", bubbles: true }));
        document.body.textContent = `${shown} ${all.length} ${scrollY} ` +
          (document.documentElement.scrollWidth <= innerWidth);
      });]], 390, 844, some)
    for i, document in ipairs(loaded) do
      local count = select(2, read(names[i]):gsub(COUNT, ""))
      assert.equal(("%d %d 0 true"):format(count, count),
        document:match("<body[^>]*>(.-)</body>"), names[i])
    end
  end)
end)
