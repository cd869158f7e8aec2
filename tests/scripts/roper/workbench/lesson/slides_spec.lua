require("roper")
local browser = require("tests.browser")
local html = require("tests.html")
local lessons = require("roper.workbench.lesson")
local page = require("roper.workbench.lesson.page")
local scratch = require("tests.scratch")
local slides = require("roper.workbench.lesson.slides")

local COUNT = "<section[ >]"

-- Shows every slide of the page in a frame, in turn, by keys, and collects its size, and the slides
-- and words that are visible.
local TURN = [[
  const lines = [];
  const press = (key) => dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  addEventListener("load", () => {
    const all = [...document.querySelectorAll("section")];
    const state = () => {
      const shown = all.filter((slide) => slide.checkVisibility());
      const slide = shown[0], box = slide.getBoundingClientRect();
      const size = parseFloat(getComputedStyle(slide).fontSize);
      const right = Math.max(...[...slide.querySelectorAll("*")].filter((part) =>
        part.checkVisibility()).map((part) => part.getBoundingClientRect().right));
      const bottom = Math.max(...[...slide.querySelectorAll("*")].filter((part) =>
        part.checkVisibility()).map((part) => part.getBoundingClientRect().bottom));
      return `${shown.length} ${all.indexOf(slide) + 1} ${Math.round(box.width)} ` +
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

describe("slides", function()
  local all

  setup(function()
    scratch.create()
    all = lessons.all()
    page.write(all, scratch.path("slides"), "slides")
  end)
  teardown(scratch.remove)

  local function read(name)
    return scratch.read(scratch.path("slides/" .. name .. ".html"))
  end

  it("have a title, at most 40 words, and at most one formula, picture or question", function()
    for _, lesson in ipairs(all) do
      local text = read(lesson.name)
      html.check(text)
      local count = 0
      for slide in text:gmatch("<section.->(.-)</section>") do
        count = count + 1
        assert.truthy(slide:find("^<h[12]>"), slide)
        local said = slide:gsub('<figure class="play .*', ""):gsub("<h[12]>.-</h[12]>", "")
          :gsub("<svg.*</svg>", ""):gsub('<div class="formula.-</div>', "")
          :gsub("<pre.-</pre>", "")
          :gsub("<math.-</math>", "x"):gsub("<[^>]*>", "")
        local words = select(2, said:gsub("%S+", ""))
        assert.is_true(words <= 46, ("%s: %d words: %s"):format(lesson.name, words, said))
        assert.is_true(select(2, slide:gsub("<figure>", "")) <= 1)
      end
      assert.is_true(count > #lesson.steps, lesson.name)
      assert.is_nil(text:gsub('<figure class="play .-</figure>', ""):find("<details", 1, true))
    end
  end)

  it("shorten a text to whole sentences", function()
    assert.equal("One. Two words. Why $a b$?", slides.shortened("One. Two words.\nWhy $a b$?"))
    local long = ("word "):rep(30):sub(1, -2)
    assert.equal(long .. ".", slides.shortened(long .. ". L" .. long .. "."))
    assert.equal("", slides.shortened(("word "):rep(41) .. ". More."))
    assert.equal("See [A b](arXiv:1) now.", slides.shortened("See [A b](arXiv:1) now."))
  end)

  -- The larger size with fewer lessons, which have all kinds of slides.
  local SOME <const> = { ["ten-minutes"] = true, ["relative-distance"] = true, precision = true }

  -- The documents of all lessons, or of `some`, after a script, and their names. Without a browser,
  -- the test is skipped.
  local function documents_after(script, width, height, some)
    local path, reason = browser.find()
    local pages, names = {}, {}
    for _, lesson in ipairs(path and all or {}) do
      if not some or some[lesson.name] then
        names[#names + 1] = lesson.name
        pages[#names] = { read(lesson.name), script, width = width, height = height }
      end
    end
    return path and browser.load_all(path, pages) or pending(reason), names
  end

  for _, size in ipairs({ { 1280, 720 }, { 1920, 1080, lessons = SOME } }) do
    it(("fit into %d x %d, one at a time, and follow the keys%s"):format(size[1], size[2],
      size.lessons and " #long" or ""), function()
      local documents, names = documents_after(TURN, size[1], size[2], size.lessons)
      for i, document in ipairs(documents) do
        local name, number = names[i], 0
        local count = select(2, read(name):gsub(COUNT, ""))
        for line in document:match("<body[^>]*>(.*)</body>"):gmatch("([^\n]+)\n") do
          local word, rest = line:match("^(%l*) ?(.*)$")
          local shown, at, width, height, right, bottom, letters, whole = rest:match(
            "^(%d+) (%d+) (%d+) (%d+) (%-?%d+) (%-?%d+) ([%d.]+) (%d+)$")
          local place = ("%s: %s"):format(name, line)
          assert.equal("1", shown, place)
          number = word == "" and number + 1 or number
          assert.equal(word == "end" and count or word == "back" and count - 1
            or word == "home" and 1 or number, tonumber(at), place)
          assert.same({ size[1], size[2] }, { tonumber(width), tonumber(height) }, place)
          assert.is_true(tonumber(right) <= size[1] and tonumber(bottom) <= size[2], place)
          assert.is_true(tonumber(letters) >= size[2] / 100, place)
          assert.is_true(tonumber(whole) <= size[2], place)
        end
        assert.equal(count, number, name)
      end
    end)
  end

  it("follow each other on a screen as narrow as a phone's", function()
    local documents, names = documents_after([[
      addEventListener("load", () => {
        const all = [...document.querySelectorAll("section")];
        const shown = all.filter((slide) => slide.checkVisibility()).length;
        dispatchEvent(new KeyboardEvent("keydown", { key: "End", bubbles: true }));
        document.body.textContent = `${shown} ${all.length} ${scrollY} ` +
          (document.documentElement.scrollWidth <= innerWidth);
      });]], 390, 844, SOME)
    for i, document in ipairs(documents) do
      local count = select(2, read(names[i]):gsub(COUNT, ""))
      assert.equal(("%d %d 0 true"):format(count, count),
        document:match("<body[^>]*>(.-)</body>"), names[i])
    end
  end)
end)
