require("roper")
local browser = require("tests.browser")
local files = require("roper.base.file")
local html = require("tests.html")
local lessons = require("roper.workbench.lesson")
local markup = require("roper.base.markup")
local page = require("roper.workbench.lesson.page")
local scratch = require("tests.scratch")
local tables = require("roper.base.tables")

-- Collects from each page in a frame the width of its content, its formulas, figures and sections,
-- whether its background is dark, and text with too little contrast.
local SURVEY = [[
  const brightness = (color) => {
    const [red, green, blue] = color.match(/[\d.]+/g).map((part) => (part / 255) ** 2.2);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  addEventListener("load", () => {
    const lines = [];
    for (const frame of document.querySelectorAll("iframe")) {
      const page = frame.contentDocument;
      for (const answer of page.querySelectorAll("details")) answer.open = true;
      lines.push("page " + frame.id, "width " + page.documentElement.scrollWidth);
      for (const formula of page.querySelectorAll(".formula")) {
        const room = formula.getBoundingClientRect().right;
        const ends = Array.from(formula.querySelectorAll("math"),
          (math) => math.getBoundingClientRect().right);
        lines.push("formula " + Math.ceil(Math.max(...ends) - room) + " " +
          (formula.scrollWidth - formula.clientWidth));
      }
      for (const figure of page.querySelectorAll("figure:not([hidden])")) {
        const box = figure.getBoundingClientRect();
        const sizes = [...figure.querySelectorAll("svg text")].map(text => {
          const {a, b} = text.getScreenCTM();
          return Math.hypot(a, b) * parseFloat(getComputedStyle(text).fontSize);
        });
        lines.push("figure " + Math.round(box.width) + " " + Math.round(box.height) + " " +
          figure.querySelectorAll("path, line, polyline, rect, image, use").length + " " +
          Math.min(100, ...sizes));
      }
      const paper = brightness(getComputedStyle(page.body).backgroundColor);
      lines.push(paper < 0.1 ? "dark" : "light");
      for (const element of page.querySelectorAll("body :not(script, style)")) {
        const { color, fill } = getComputedStyle(element);
        const ink = element.namespaceURI.endsWith("svg") ? fill : color;
        const text = [...element.childNodes].find((node) => node.data?.trim());
        if (text && !element.closest(".token") && contrast(brightness(ink), paper) < 3)
          lines.push("faint " + ink + " " + text.data.trim());
      }
      for (const section of page.querySelectorAll("section[id]"))
        lines.push("section " + section.id);
    }
    document.body.textContent = lines.join("\n") + "\npage";
  });
]]

describe("lesson pages", function()
  local all

  setup(function()
    scratch.create()
    all = lessons.all()
    assert.equal(scratch.path("site/index.html"), page.write(all, scratch.path("site")))
  end)
  teardown(scratch.remove)

  local function read(name)
    return scratch.read(scratch.path("site/" .. name .. ".html"))
  end

  it("are well-formed and self-contained, and link to each other in order", function()
    local index = read("index")
    html.check(index)
    local links = {}
    for name in index:gmatch('<li><a href="([%w-]+)%.html"') do
      links[#links + 1] = name
    end
    for i, lesson in ipairs(all) do
      assert.equal(lesson.name, links[i])
      local text = read(lesson.name)
      html.check(text)
      local scripts = select(2, text:gsub("<script", ""))
      assert.equal(text:find('class="play"', 1, true) and 1 or 0, scripts)
      assert.is_nil(text:find("src=", 1, true))
      assert.is_nil(text:find("@import", 1, true))
      local outside = text:gsub('xmlns[:%w]*="[^"]*"', "")
        :gsub('<a href="https://arxiv%.org/abs/%d+%.%d+">', ""):match("https?://[^\"<]*")
      assert.is_nil(outside, lesson.name)
      assert.equal(all[i + 1] ~= nil,
        all[i + 1] ~= nil and text:find(all[i + 1].name .. ".html", 1, true) ~= nil)
    end
    assert.equal(#all, #links)
    assert.truthy(index:find('20 minutes, after <a href="rotation.html"><code>rotation', 1, true))
    local page_text = read("relative-score")
    assert.truthy(page_text:find('<a href="https://arxiv.org/abs/2104.09864">Su et al. 2021</a>', 1,
      true))
    assert.truthy(page_text:find('<table class="notation"><tbody><tr><th', 1, true))
  end)

  it("link only to papers and existing pages", function()
    local linked = 0
    local names = tables.map(all, function(lesson) return lesson.name end)
    for _, name in ipairs { "index", table.unpack(names) } do
      for target in read(name):gmatch('href="([^"#]+)"') do
        local file = target:match("^([%w-]+%.html)$")
        if file then
          assert.truthy(files.read(scratch.path("site/" .. file)), name .. ": " .. target)
        else
          assert.truthy(target:find("^https://arxiv%.org/abs/%d%d%d%d%.%d%d%d%d%d?$"), target)
          linked = linked + 1
        end
      end
    end
    assert.is_true(linked >= 9, linked)
    page.write({ lessons.find("relative-score") }, scratch.path("alone"))
    local alone = scratch.read(scratch.path("alone/relative-score.html"))
    assert.truthy(alone:find("<code>rotation</code>", 1, true))
    assert.is_nil(alone:find("rotation.html", 1, true))
  end)

  it("show the formula, the figure and the claims of each step, all of which hold", function()
    for _, lesson in ipairs(all) do
      local text = read(lesson.name)
      for i, step in ipairs(lesson.steps) do
        local section = text:match(('<section id="step%%-%d".-</section>'):format(i))
        local place = ("%s, step %d"):format(lesson.name, i)
        local _, claims = section:gsub('<p class="claim">', "")
        local picture, caption = section:match("<figure>(<svg .*)<figcaption>(.-)</figcaption>")
        local formula = section:match('<div class="formula')
        assert.equal(step.formula ~= nil, formula ~= nil, place)
        assert.equal(#step.claims, claims, place)
        assert.equal(step.figure ~= nil, picture ~= nil, place)
        if picture then
          assert.truthy(picture:find("<text[^>]*>[^<]"), place) -- labels
          assert.truthy(caption:gsub("<[^>]*>", ""):find("%a"), place)
        end
      end
      assert.is_nil(text:find("✗", 1, true))
    end
  end)

  it("have unique ids, and refer only to existing ones", function()
    local ids, names = {}, { "index" }
    for i, lesson in ipairs(all) do
      names[i + 1] = lesson.name
    end
    for _, name in ipairs(names) do
      ids[name] = { [""] = true }
      for id in read(name):gmatch("%sid=['\"]([^'\"]+)") do
        assert.is_nil(ids[name][id], name .. ": " .. id)
        ids[name][id] = true
      end
    end
    for _, name in ipairs(names) do
      local text = read(name)
      for target in text:gmatch("href=['\"]([^'\"]+)") do
        local other, id = target:match("^([%w-]*)%.?h?t?m?l?#?([%w-]*)$")
        local is_outside = target:find("https://arxiv.org/abs/", 1, true) == 1
        assert.truthy(is_outside or other and ids[other == "" and name or other][id],
          name .. ": " .. target)
      end
      for target in text:gmatch("url%(#([^)]+)%)") do
        assert.is_true(ids[name][target], name .. ": " .. target)
      end
    end
  end)

  it("can be slides with one step each, linked to each other", function()
    local lesson = lessons.find("rotation")
    page.write({ lesson }, scratch.path("slides"), "slides")
    local text = scratch.read(scratch.path("slides/rotation.html"))
    html.check(text)
    local count = #lesson.steps
    for number = 1, count do
      assert.truthy(text:find(('<section id="step-%d"'):format(number), 1, true))
      assert.equal(number > 1 and number < count and 2 or 1,
        select(2, text:gsub(('href="#step%%-%d"'):format(number), "")))
    end
    assert.is_nil(read("rotation"):find("scroll-snap", 1, true))
  end)

  it("have questions but no answers in a handout", function()
    page.write({ lessons.find("rotation") }, scratch.path("handout"), "handout")
    local text = scratch.read(scratch.path("handout/rotation.html"))
    html.check(text)
    local function count(page_text, part)
      return select(2, page_text:gsub(part, ""))
    end
    assert.is_true(count(text, "Try it%.") > 0)
    assert.equal(count(text, "Try it%."), count(read("rotation"), "<details>"))
    assert.equal(0, count(text, "<details>"))
    assert.is_nil(text:find("agree up to rounding", 1, true))
    assert.truthy(read("rotation"):find("agree up to rounding", 1, true))
  end)

  it("ask before they show the answer and the results; a handout shows neither", function()
    local lesson = { name = "asking", title = "t", before = "b", after = "a", needs = {},
      notation = {}, steps = { {
      title = "s", text = "w", code = "x = 6 * 7\nx", claims = { { text = "x == 42" } },
      identity = { "cos(m) == cos(-m)", given = { m = "position" } },
      figure = { caption = "figured", draw = "return plot.line({1, 2}, {format = format})" },
      predict = { { question = "first?", answer = "answered", kind = "choice", expect = 2,
        choices = { "one way", "other way" } } },
      exercise = { { question = "then?", answer = "after all", kind = "open" } } } } }
    for _, form in ipairs({ "html", "slides", "handout" }) do
      page.write({ lesson }, scratch.path(form), form)
      local text = scratch.read(scratch.path(form .. "/asking.html")):match("<section id=.*")
      html.check("<div>" .. text:gsub("</body></html>%s*$", "</div>"))
      local before, results, rest = text:match("^(.-)<details class=\"results\">(.*)</details>(.*)")
      if form == "handout" then
        for _, secret in ipairs({ "answered", ">42", "== 42", "cos(m)", "figure", "after all" }) do
          assert.is_nil(text:find(secret, 1, true), secret)
        end
        assert.truthy(text:find("first%?.*one way.*other way.*&gt; x = 6.*then%?.*room"), text)
      else
        assert.truthy(before:find("first%?.*one way.*other way"))
        for _, part in ipairs({ "answered", ">42", "x == 42", "cos(m)", "<figure>" }) do
          assert.is_nil(before:find(part, 1, true), part)
          assert.truthy(results:find(part, 1, true), part)
        end
        local code = results:match('<pre class="code">(.-)</pre>')
        assert.equal("&gt; x = 6 * 7\n&gt; x\n42\n", (code:gsub("<[^>]*>", "")))
        assert.equal(3, select(2, code:gsub('<span class="line"', "")))
        assert.truthy((results .. rest):find("then%?.*<summary>Answer</summary>.*after all"))
        assert.truthy(results:find("<details class=\"checks\"><summary>.-holds exactly; residuals"))
      end
    end
  end)

  it("escape HTML in texts", function()
    local hostile = "<b>&amp; \"x\" 'y'</b>"
    local lesson = { name = "hostile", title = hostile, before = hostile, after = hostile,
      needs = { hostile }, notation = { { "\"<b>\"", hostile } }, steps = {
        { title = hostile, text = hostile .. " `<i>` $a < b$", formula = 'a < b > "<i>&amp;"',
          code = "'<u>'", claims = { { text = "'<s>' < 'a'" } },
          predict = { { question = hostile, answer = hostile, kind = "choice", expect = 1,
            choices = { hostile, hostile } } },
          exercise = { { question = hostile, answer = hostile } } } } }
    page.write({ lesson }, scratch.path("hostile"))
    local text = scratch.read(scratch.path("hostile/hostile.html"))
    local counts = html.check(text)
    assert.is_nil(counts.i)
    assert.is_nil(counts.u)
    assert.is_nil(counts.s)
  end)

  it("print minus signs in prose, but leave code unchanged", function()
    local lesson = { name = "minus", title = "t", before = "b", after = "a", needs = {},
      notation = {}, steps = { { title = "t", claims = {},
        text = "i - n and (-x) = -x to 1e-9, but `i - n`" } } }
    page.write({ lesson }, scratch.path("minus"))
    local text = scratch.read(scratch.path("minus/minus.html"))
    assert.truthy(text:find(
      "i\u{A0}−\u{A0}n and (−x)\u{A0}=\u{A0}−x to 1e−9, but <code>i - n</code>", 1, true))
  end)

  -- A document with each lesson in a frame of a width.
  local function frames(width)
    local parts = { "<!doctype html><html><head><meta charset=\"utf-8\"></head><body>" }
    for _, lesson in ipairs(all) do
      parts[#parts + 1] = ('<iframe id="%s" style="width:%dpx;border:0" srcdoc="%s"></iframe>')
        :format(lesson.name, width, markup.escape(read(lesson.name)))
    end
    return table.concat(parts) .. "</body></html>"
  end

  -- Checks the pages in a browser.
  local function check_pages(width, mode, options)
    local path, reason = browser.find()
    if not path then
      pending(reason)
      return
    end
    local document = browser.load(path, frames(width), SURVEY, options)
    local text = document:gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&amp;", "&")
    for _, lesson in ipairs(all) do
      local name = lesson.name
      local found = text:match("page " .. name:gsub("%-", "%%-") .. "\n(.-)\npage")
      assert.truthy(found, name)
      assert.is_true(tonumber(found:match("width (%d+)")) <= width, name .. ": " .. found)
      assert.equal(mode, found:match("\n(dark)\n") or found:match("\n(light)\n"))
      assert.is_nil(found:match("faint [^\n]*"))
      local figures, formulas = 0, 0
      for beyond, cut in found:gmatch("formula (%S+) (%S+)") do
        formulas = formulas + 1
        assert.is_true(tonumber(beyond) <= 0 and tonumber(cut) <= 0,
          ("%s, formula %d: %s px beyond the edge, %s cut"):format(name, formulas, beyond, cut))
      end
      for w, h, marks, letters in found:gmatch("figure (%d+) (%d+) (%d+) ([%d.]+)") do
        figures = figures + 1
        assert.is_true(tonumber(w) >= 300 and tonumber(h) >= 150 and tonumber(marks) >= 3
          and tonumber(letters) >= 9.9, name .. ": " .. found)
      end
      for number, step in ipairs(lesson.steps) do
        assert.truthy(found:find(("section step%%-%d%%f[%%D]"):format(number)), name)
        figures = figures - (step.figure and 1 or 0)
        formulas = formulas - (step.formula and 1 or 0)
      end
      assert.equal(0, figures, name)
      assert.equal(0, formulas, name)
    end
  end

  it("show every formula and figure in a browser window of 1280 pixels", function()
    check_pages(1280, "light")
  end)

  it("show them in dark mode on a phone of 390 pixels", function()
    check_pages(390, "dark", { "--blink-settings=preferredColorScheme=0" })
  end)
end)
