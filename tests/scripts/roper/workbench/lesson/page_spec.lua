require("roper")
local browser = require("tests.browser")
local files = require("roper.system.file")
local html = require("tests.html")
local lessons = require("roper.workbench.lesson")
local map = require("tests.scripts.roper.workbench.lesson.page.map")
local markup = require("roper.text.markup")
local page = require("roper.workbench.lesson.page")
local questions = require("tests.scripts.roper.workbench.lesson.page.quiz")
local scratch = require("tests.scratch")
local sources = require("roper.workbench.lesson.sources")
local tables = require("roper.base.tables")

-- Collects from each page in a frame the width of its content, its formulas, figures (before
-- anything is unfolded) and sections, whether its background is dark, text with too little
-- contrast, and pictures and controls without a name.
local SURVEY = [[
  const parts = (color) => color.match(/[\d.]+/g).map(Number);
  const brightness = (color) => {
    const [red, green, blue] = color.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const mixed = (over, under, share) => over.slice(0, 3).map(
    (part, i) => share * part + (1 - share) * under[i]);
  const shareOf = (color) => parts(color)[3] ?? 1;

  // The color behind an element, and that of its text on it.
  function colors(element, view) {
    let paper = [255, 255, 255], opacity = 1;
    const line = [];
    for (let at = element; at; at = at.parentElement) line.unshift(at);
    for (const at of line) {
      const { backgroundColor, opacity: own } = view.getComputedStyle(at);
      paper = mixed(parts(backgroundColor), paper, shareOf(backgroundColor));
      opacity *= Number(own);
    }
    const { color, fill } = view.getComputedStyle(element);
    const ink = element.namespaceURI.endsWith("svg") ? fill : color;
    return [paper, mixed(parts(ink), paper, shareOf(ink) * opacity)];
  }

  addEventListener("load", () => {
    const lines = [];
    for (const frame of document.querySelectorAll("iframe")) {
      const page = frame.contentDocument, view = frame.contentWindow;
      for (const button of page.querySelectorAll(".prediction .plain")) button.click();
      lines.push("page " + frame.id);
      const visible = [...page.querySelectorAll("figure")].filter((figure) =>
        figure.checkVisibility());
      lines.push("first " + Math.round(visible[0].getBoundingClientRect().top));
      for (const figure of visible) {
        const box = figure.getBoundingClientRect();
        const sizes = [...figure.querySelectorAll("svg text")].map(text => {
          const {a, b} = text.getScreenCTM();
          return Math.hypot(a, b) * parseFloat(getComputedStyle(text).fontSize);
        });
        lines.push("figure " + Math.round(box.width) + " " + Math.round(box.height) + " " +
          figure.querySelectorAll("path, line, polyline, rect, image, use").length + " " +
          Math.min(100, ...sizes));
      }
      for (const part of page.querySelectorAll("details")) part.open = true;
      view.dispatchEvent(new Event("resize"));
      lines.push("width " + page.documentElement.scrollWidth);
      for (const formula of page.querySelectorAll(".formula")) {
        const room = formula.getBoundingClientRect().right;
        const ends = Array.from(formula.querySelectorAll("math"),
          (math) => math.getBoundingClientRect().right);
        lines.push("formula " + Math.ceil(Math.max(...ends) - room) + " " +
          (formula.scrollWidth - formula.clientWidth));
      }
      const [paper] = colors(page.body, view);
      lines.push(brightness(paper) < 0.1 ? "dark" : "light");
      for (const element of page.querySelectorAll("body :not(script, style)")) {
        const text = [...element.childNodes].find((node) => node.data?.trim());
        if (!text || element.closest(".token, :disabled") || !element.checkVisibility({
          opacityProperty: true, visibilityProperty: true })) continue;
        const [behind, ink] = colors(element, view);
        const found = contrast(brightness(behind), brightness(ink));
        if (found < 4.5) lines.push("faint " + found.toFixed(2) + " " + text.data.trim());
      }
      for (const picture of page.querySelectorAll("[role=img]"))
        if (!picture.getAttribute("aria-label")?.trim()) lines.push("nameless picture");
      for (const control of page.querySelectorAll("input, button"))
        if (!(control.ariaLabel || control.closest("label") || control.textContent.trim()))
          lines.push("nameless control");
      for (const tag of ["main", "header", "footer", "h1"])
        if (page.querySelectorAll(tag === "header" ? "body > header" : tag).length !== 1)
          lines.push("not one " + tag);
      for (const stop of page.querySelectorAll("[tabindex]"))
        if (!stop.matches("[role=slider]") && stop.scrollWidth <= stop.clientWidth)
          lines.push("needless stop " + stop.className);
      for (const section of page.querySelectorAll("section[id]"))
        lines.push("section " + section.id);
    }
    document.body.textContent = lines.join("\n") + "\npage";
  });
]]

describe("lesson pages", function()
  local all = lessons.all()

  -- All pages are made once: the lessons compute and train for seconds.
  setup(function()
    scratch.create()
    questions.collecting(function()
      assert.equal(scratch.path("site/index.html"), page.write(all, scratch.path("site")))
    end)
  end)
  teardown(scratch.remove)

  local function read(name)
    return scratch.read(scratch.path("site/" .. name .. ".html"))
  end

  map(all, read)
  questions.specify(read)

  it("are well-formed and self-contained, and link to each other in order", function()
    local index = read("index")
    html.check(index)
    local links = {}
    for name in index:gmatch('<a class="go" href="([%w-]+)%.html"') do
      links[#links + 1] = name
    end
    for i, lesson in ipairs(all) do
      assert.is_true(tables.set(links)[lesson.name], lesson.name)
      local text = read(lesson.name)
      html.check(text)
      local scripts = select(2, text:gsub("<script", ""))
      assert.equal(text:find('class="play ', 1, true) and 3 or 2, scripts)
      assert.is_nil(text:find("src=", 1, true))
      assert.is_nil(text:find("@import", 1, true))
      local outside = text:gsub('xmlns[:%w]*="[^"]*"', ""):gsub('"http://www.w3.org/2000/svg"', "")
        :gsub('<a href="https://[^"]*">', ""):match("https?://[^\"<]*")
      assert.is_nil(outside, lesson.name)
      assert.equal(all[i + 1] ~= nil,
        all[i + 1] ~= nil and text:find(all[i + 1].name .. ".html", 1, true) ~= nil)
    end
    assert.equal(#all, #links)
    assert.truthy(read("general-form"):find('20 minutes · after <a href="rotation.html">Rotating',
      1, true))
    local page_text = read("relative-score")
    assert.truthy(page_text:find('<a href="https://arxiv.org/abs/2104.09864">Su et al. 2021</a>', 1,
      true))
    assert.truthy(page_text:find('<table class="notation"><tbody><tr><th', 1, true))
  end)

  it("link only to sources and existing pages", function()
    local links, targets = {}, {} -- in all lessons, and on the page of sources
    for _, lesson in ipairs(all) do
      links[lesson.name] = sources.links(lesson)
      for link in pairs(links[lesson.name]) do
        targets[link] = true
      end
    end
    links.index, links.sources = {}, targets
    html.check(read("sources"))
    assert.truthy(read("index"):find('<a href="sources.html">', 1, true))
    for name, expected in pairs(links) do
      local found = {}
      for target in read(name):gmatch('<a[^>]- href="([^"#]+)"') do
        local file = target:match("^([%w-]+%.html)$")
        if file then
          assert.truthy(files.read(scratch.path("site/" .. file)), name .. ": " .. target)
        else
          found[target] = true
        end
      end
      assert.same(expected, found)
    end
    assert.is_true(#tables.keys(targets) >= 20)
    page.write({ lessons.find("relative-score") }, scratch.path("alone"))
    local alone = scratch.read(scratch.path("alone/relative-score.html"))
    assert.truthy(alone:find("<code>rotation</code>", 1, true))
    assert.is_nil(alone:find("rotation.html", 1, true))
  end)

  it("show the formula, the figure and the claims of each step, all of which hold", function()
    for _, lesson in ipairs(all) do
      local text = read(lesson.name)
      for i, step in ipairs(lesson.steps) do
        local section = text:match(('<section class="step" id="step%%-%d".-</section>'):format(i))
        local place = ("%s, step %d"):format(lesson.name, i)
        local _, claims = section:gsub('<p class="claim"[^>]*>', "")
        local picture, caption = section:match(
          '<figure[^>]*><div class="pic">(<svg .*)<figcaption>(.-)</figcaption>')
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
    local ids, names = {}, { "index", "sources", "glossary" }
    for i, lesson in ipairs(all) do
      names[i + 3] = lesson.name
    end
    for _, name in ipairs(names) do
      ids[name] = { [""] = true }
      for id in read(name):gmatch("%sid=['\"]([^'\"]+)") do
        assert.is_nil(ids[name][id], name .. ": " .. id)
        ids[name][id] = true
      end
    end
    for _, name in ipairs(names) do
      local text = read(name):gsub('<link href="data:," rel="icon">', "")
      for target in text:gmatch("href=['\"]([^'\"]+)") do
        local other, id = target:match("^([%w-]*)%.?h?t?m?l?#?([%w-]*)$")
        local is_outside = target:find("https://", 1, true) == 1
        assert.truthy(is_outside or other and ids[other == "" and name or other][id],
          name .. ": " .. target)
      end
      for target in text:gmatch("url%(#([^)]+)%)") do
        assert.is_true(ids[name][target], name .. ": " .. target)
      end
    end
  end)

  it("show a question before what answers it, and fold its answer and the checks", function()
    local lesson = { name = "asking", title = "t", before = "b", after = "a", needs = {},
      notation = {}, steps = { {
      title = "s", text = "w", code = "x = 6 * 7\nx", claims = { { text = "x == 42" } },
      identity = { "cos(m) == cos(-m)", given = { m = "position" } },
      figure = { caption = "figured", draw = "return plot.line({1, 2}, {format = format})" },
      predict = { { question = "first?", answer = "answered", kind = "choice", expect = 2,
        choices = { "one way", "other way" }, conditions = {}, further = { "hinted" } } },
      exercise = { { question = "then?", answer = "after all", kind = "open", conditions = {},
        further = {} } } } } }
    page.write({ lesson }, scratch.path("folding"))
    local text = scratch.read(scratch.path("folding/asking.html")):match("<section.*</section>")
    html.check("<div>" .. text .. "</div>")
    local open = text:gsub("<details.-</details>", ""):gsub('<ul class="hints".-</ul>', "")
    assert.truthy(open:find("first%?.*one way.*other way.*<svg .*figured.*x == 42.*then%?"), open)
    for _, part in ipairs({ "answered", "residuals", "after all", "hinted" }) do
      assert.is_nil(open:find(part, 1, true), part)
    end
    -- for live cells
    assert.truthy(text:find('<pre class="code" data-source="x = 6 * 7\nx">', 1, true))
    assert.truthy(text:find('<p class="claim" data-source="x == 42">', 1, true))
    assert.truthy(text:find('<figure data-source="return plot.line({1, 2}, {format = format})">', 1,
      true))
    local results = text:match('<div class="results">(.*)')
    local code = results:match('<pre class="code"[^>]*>(.-)</pre>')
    assert.equal("&gt; x = 6 * 7\n&gt; x\n42\n", (code:gsub("<[^>]*>", "")))
    assert.equal(3, select(2, code:gsub('<span class="line"', "")))
    assert.truthy(results:find('<details class="checks"><summary>.-holds exactly; residuals'))
    assert.truthy(results:find('<summary>Answer</summary>.-after all'))
  end)

  it("open with the picture of the first step if it has no question", function()
    assert.truthy(read("relative-distance"):match('id="step%-1"(.-)</section>')
      :find("<h2>.-</h2><p>.-</p><div class=\"figures\"><figure.-<p>"))
    assert.truthy(read("rotation"):match('id="step%-1"(.-)</section>')
      :find('class="question prediction".*<figure'))
  end)

  it("escape HTML in texts", function()
    local hostile = "<b>&amp; \"x\" 'y'</b>"
    local lesson = { name = "hostile", title = hostile, before = hostile, after = hostile,
      needs = { hostile }, notation = { { "\"<b>\"", hostile } }, steps = {
        { title = hostile, text = hostile .. " `<i>` $a < b$", formula = 'a < b > "<i>&amp;"',
          code = "'<u>'", claims = { { text = "'<s>' < 'a'" } },
          predict = { { question = hostile, answer = hostile, kind = "choice", expect = 1,
            choices = { hostile, hostile }, conditions = { { "it == '<u>'", hostile } },
            further = { hostile } } },
          exercise = { { question = hostile, answer = hostile, kind = "open", conditions = {},
            further = {} } } } } }
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

  -- A document with each lesson in a frame.
  local function frames(width)
    local parts = { "<!doctype html><html><head><meta charset=\"utf-8\"></head><body>" }
    for _, lesson in ipairs(all) do
      parts[#parts + 1] = ('<iframe id="%s %d" style="width:%dpx;border:0" srcdoc="%s"></iframe>')
        :format(lesson.name, width, width, markup.escape(read(lesson.name)))
    end
    return table.concat(parts) .. "</body></html>"
  end

  -- Checks what was found about a page at a width.
  local function check_page(lesson, width, found)
    local place = ("%s, %d pixels: %s"):format(lesson.name, width, found)
    assert.is_true(tonumber(found:match("width (%d+)")) <= width, place)
    for _, flaw in ipairs({ "faint", "nameless", "not one", "needless" }) do
      assert.is_nil(found:match(flaw .. "[^\n]*"), place)
    end
    local first = lesson.steps[1]
    if first.figure and not first.predict[1] then
      assert.is_true(tonumber(found:match("first (%-?%d+)")) < 700, place)
    end
    local figures, formulas = 0, 0
    for beyond, cut in found:gmatch("formula (%S+) (%S+)") do
      formulas = formulas + 1
      assert.is_true(tonumber(beyond) <= 0 and tonumber(cut) <= 0, place)
    end
    for w, h, marks, letters in found:gmatch("figure (%d+) (%d+) (%d+) ([%d.]+)") do
      figures = figures + 1
      assert.is_true(tonumber(w) >= 300 and tonumber(h) >= 150 and tonumber(marks) >= 3
        and tonumber(letters) >= 9.9, place)
    end
    for number, step in ipairs(lesson.steps) do
      assert.truthy(found:find(("section step%%-%d%%f[%%D]"):format(number)), place)
      local play = step.figure and step.figure.play
      figures = figures - (step.figure and 1 or 0) - (play and play.beside and 1 or 0)
      formulas = formulas - (step.formula and 1 or 0)
    end
    assert.equal(0, figures, place)
    assert.equal(0, formulas, place)
  end

  local DARK <const> = { "--blink-settings=preferredColorScheme=0" }

  for _, how in ipairs { { mode = "light", width = 390 },
    { mode = "light", width = 1920, tag = " #long" },
    { mode = "dark", width = 1280, tag = " #long", options = DARK } } do
    browser.it(("show formulas and figures in %s mode at %d pixels%s"):format(how.mode, how.width,
      how.tag or ""), function(path)
      local document = browser.load(path, frames(how.width), SURVEY, how.options)
      local text = document:gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&amp;", "&")
      local count = 0
      for name, width, found in text:gmatch("page ([%w-]+) (%d+)\n(.-)\n%f[p]") do
        count = count + 1
        assert.equal(how.mode, found:match("\n(dark)\n") or found:match("\n(light)\n"))
        check_page(lessons.find(name), tonumber(width), found)
      end
      assert.equal(#all, count)
    end)
  end
end)
