require("roper")
local bank = require("roper.workbench.lesson.class.bank")
local browser = require("tests.browser")
local class = require("roper.workbench.lesson.class")
local core = require("roper.core")
local deck = require("roper.workbench.lesson.class.deck")
local files = require("roper.system.file")
local forms = require("roper.workbench.lesson.form")
local grade = require("roper.workbench.lesson.class.grade")
local html = require("tests.html")
local lessons = require("roper.workbench.lesson")
local paths = require("roper.workbench.lesson.path")
local plan = require("roper.workbench.lesson.class.plan")
local process = require("tests.process")
local prose = require("roper.workbench.lesson.prose")
local questions = require("roper.workbench.lesson.question")
local scratch = require("tests.scratch")
local steps = require("roper.workbench.lesson.step")
local tables = require("roper.base.tables")
local worksheet = require("roper.workbench.lesson.class.worksheet")

-- Types the answers in `given` into the page, saves them, and shows the file that it writes.
local SAVE <const> = [[
  addEventListener("load", () => {
    let saved;
    URL.createObjectURL = (blob) => { saved = blob; return "#"; };
    const said = [], result = document.getElementById("result");
    const save = () => {
      document.getElementById("save").click();
      said.push(result.textContent);
    };
    const change = (field, value) => {
      field.value = value;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    };
    localStorage.clear();
    save();
    change(document.getElementById("name"), " Ada ");
    save();
    for (const [id, answer] of Object.entries(given)) {
      const ask = document.querySelector(`[data-id="${id}"]`);
      if (ask.dataset.kind === "choice")
        ask.querySelector(`[value="${answer}"]`).click();
      else if (ask.dataset.kind === "form")
        ask.querySelectorAll("select").forEach((menu, i) => change(menu, answer[i]));
      else change(ask.querySelector("input[type=text], textarea"), answer);
    }
    save();
    const kept = localStorage.getItem(localStorage.key(0));
    const read = Object.fromEntries([...document.querySelectorAll(".ask")].map((ask) =>
      [ask.dataset.id, ask.querySelector(".said").textContent]).filter(([, text]) => text));
    saved.text().then((text) => {
      document.body.textContent = JSON.stringify({ text, said, kept, read,
        count: document.querySelector(".count").textContent }) + "\f";
    });
  });
]]

describe("the kit of a class", function()
  local rotation, folder

  setup(function()
    scratch.create()
    rotation = lessons.find("rotation")
    folder = scratch.path("kit")
    class.write({ rotation }, folder)
  end)
  teardown(scratch.remove)

  local function read(name)
    return scratch.read(folder .. "/" .. name)
  end

  it("has pages that load nothing, and links only to what it has", function()
    for _, name in ipairs({ "index", "plan", "handout", "handout-answers", "answers", "questions",
      "lessons/index", "lessons/rotation", "slides" }) do
      local text = read(name .. ".html")
      html.check(text)
      assert.is_nil(text:find('src="http', 1, true), name)
      assert.matches("<meta content=\"default%-src 'none'; script%-src [^\"]*; style%-src "
        .. "'unsafe%-inline'; img%-src data:; font%-src data:; base%-uri 'none'; "
        .. "form%-action 'none'\"", text)
      local above = name:match("^(.-)[^/]*$")
      for href in text:gmatch('<a[^>]- href="([^"#:]+)[^":]*"') do
        assert.is_true(files.exists(folder .. "/" .. above .. href), name .. ": " .. href)
      end
    end
  end)

  it("names the command that grades it, with the file of a lesson of one's own", function()
    assert.truthy(read("index.html"):find("<code>./roper lesson --grade FOLDER</code>", 1, true))
    local own = lessons.read(scratch.write("my_own.lua", [[return roper.lesson { order = 1,
      title = "Own", before = "b", after = "a", steps = { { title = "s", text = "t" } } }]]))
    class.write({ own }, scratch.path("own"))
    assert.truthy(scratch.read(scratch.path("own/index.html")):find(
      "<code>./roper lesson my_own.lua --grade FOLDER</code>", 1, true))
  end)

  browser.it("runs its script in spite of its policy, from disk, but no other", function(path)
    local function count_in(name)
      local status, document = process.run({ path, "--headless", "--no-sandbox", "--disable-gpu",
        "--user-data-dir=" .. scratch.path("profile"), "--dump-dom",
        ("file://%s/%s.html"):format(folder, name) })
      assert.equal(0, status)
      return document:match('class="count"[^>]*>(.-)<')
    end
    assert.equal("0 of 10 answered", count_in("answers"))
    scratch.write("kit/forged.html", (read("answers.html"):gsub(" answered`", " changed`")))
    assert.equal("", count_in("forged"))
  end)

  browser.it("has pages that fit on phones, whose controls have names", function(path)
    local pages, names = {}, { "index", "plan", "answers", "questions", "handout",
      "handout-answers" }
    local has_long_lines = lessons.find("relative-distance")
    scratch.write("kit/wide.html", worksheet.page({ { lesson = has_long_lines } }))
    names[#names + 1] = "wide"
    for i, name in ipairs(names) do
      pages[i] = { read(name .. ".html"), [[addEventListener("load", () => {
        const controls = [...document.querySelectorAll("input, select, textarea, button")];
        const isNamed = (one) => one.ariaLabel || one.textContent || one.labels?.length;
        document.body.textContent = [document.documentElement.scrollWidth <= innerWidth,
          controls.every(isNamed), controls.length].join(" ");
      });]], width = 360, height = 800 }
    end
    for i, document in ipairs(browser.load_all(path, pages)) do
      local state = document:match("<body[^>]*>(.-)</body>")
      assert.matches((names[i] == "answers" or names[i] == "wide") and "^true true [1-9]"
        or "^true true 0$", state, 1, false, names[i])
    end
  end)

  it("does not contain the answers in the page for answers", function()
    local text = read("answers.html")
    for _, step in ipairs(rotation.steps) do
      for _, question in ipairs(questions.of(step)) do
        assert.truthy(text:find(question.question:match("%a[%w ,.]+"), 1, true))
        for _, hint in ipairs(question.further) do
          local words = hint:match("%a[%w ,.]+")
          assert.is_nil(#words > 20 and text:find(words, 1, true) or nil, hint)
        end
        local said = steps.unindented(question.answer):match("[%w ,.]+")
        assert.is_nil(#said > 20 and text:find(said, 1, true) or nil, said)
      end
    end
    for _, name in ipairs({ "data-expect", "data-verdicts", "data-if" }) do
      assert.is_nil(text:find(name, 1, true), name)
    end
  end)

  browser.it("saves what was answered; it is graded as at the terminal", function(path)
    local given = { ["rotation 1.1"] = "−1", ["rotation 1.2"] = core.json_array { 1, 2 },
      ["rotation 2.1"] = "sin 90", ["rotation 2.2"] = "6", ["rotation 3.1"] = "20 + 4·30",
      ["rotation 4.1"] = "b", ["rotation 5.1"] = "c", ["rotation 5.2"] = "270°",
      ["rotation 6.2"] = "minus three" }
    local document = browser.load(path, read("answers.html"), "const given = "
      .. core.json_encode(given) .. ";" .. SAVE, { "--virtual-time-budget=5000" })
    local shown = core.json_decode((document:match("<body[^>]*>(.-)\f"):gsub("&lt;", "<")
      :gsub("&gt;", ">"):gsub("&amp;", "&")))
    assert.matches("^Type your name first", shown.said[1])
    assert.matches("^There are no answers", shown.said[2])
    assert.matches("^Saved 9 of 10 answers to answers%-Ada%.json", shown.said[3])
    assert.equal("9 of 10 answered", shown.count)
    assert.same(core.json_decode(shown.kept).answers, core.json_decode(shown.text).answers)
    assert.matches("^Read as 0%.894 or as 1%.$", shown.read["rotation 2.1"])
    assert.matches("^Not understood: the question expects one number", shown.read["rotation 6.2"])
    assert.is_nil(shown.read["rotation 2.2"])
    files.make(scratch.path("handed"))
    scratch.write("handed/ada.json", shown.text)
    local student = grade.folder(scratch.path("handed"), { rotation }).students[1]
    assert.equal("Ada", student.student)
    local count = 0
    bank.each({ rotation }, function(item, scope)
      local answer, mark = given[item.id], student.marks[item.id]
      assert.equal(answer ~= nil, mark ~= nil, item.id)
      if answer then
        count = count + 1
        local line = item.question.form and forms.chosen(item.question.form, answer) or answer
        local verdict = questions.judge(item.question, line, steps.layer(scope), item.expected)
        assert.equal(verdict.kind == "right", mark.kind == "right", item.id)
        assert.equal(verdict.kind == "wrong", mark.kind == "wrong", item.id)
        assert.equal(verdict.hint, mark.kind == "wrong" and verdict.hint and mark.hint or nil)
      end
    end)
    assert.equal(9, count)
    assert.equal(5, student.right)
  end)

  it("asks only the questions of its parts, and says which in the files that it saves", function()
    local text = worksheet.page({ { lesson = rotation, steps = { 2, 5 } } })
    local ids = {}
    for id in text:gmatch('data%-id="([^"]*)"') do
      ids[#ids + 1] = id
    end
    assert.same({ "rotation 2.1", "rotation 2.2", "rotation 5.1", "rotation 5.2" }, ids)
    local kit = text:match('data%-kit="([^"]*)"'):gsub("&quot;", '"')
    assert.same(ids, core.json_decode(kit).asked)
  end)

  it("lists every question with its answer and the usual wrong ones, also as CSV", function()
    local page, text = read("questions.html"), read("questions.csv")
    assert.matches("^\u{FEFF}question,lesson,step,kind,text,choices,answer,", text)
    bank.each({ rotation }, function(item)
      assert.truthy(page:find(('id="%s"'):format(item.id:gsub(" ", "-")), 1, true))
      assert.truthy(text:find(("\n%s,Rotating a pair of numbers,"):format(item.id), 1, true))
      for _, hint in ipairs(item.question.form and {} or item.question.conditions) do
        assert.truthy(text:find(prose.line((hint[2]:gsub("%s+", " "))):gsub('"', '""'), 1, true),
          hint[2])
      end
    end)
    assert.matches(",'%-1,", text) -- not a formula
    assert.matches("choice,.-,a%) all four; b%) the two cosines; c%) the two sines; d%) none,"
      .. "c%) the two sines,", text)
    assert.matches("line,.-,\"{___, ___}; %-4 | %-3 | 3 | 4; ", text)
  end)
end)

describe("the plan of a class", function()
  it("takes 90 minutes and has the lessons of its path on the map", function()
    assert.equal(90, paths.minutes(paths.CLASS))
    local found
    for _, path in ipairs(paths.PATHS) do
      found = path[1]:find("90 minutes", 1, true) and path or found
    end
    assert.same(paths.lessons(paths.CLASS), found[3])
    for i, row in ipairs(paths.CLASS) do
      prose.check("row " .. i, row.does)
      prose.check("row " .. i, row.late or "")
      assert.equal(row.late == nil, row.saves == nil)
      assert.is_true((row.saves or 0) <= row.minutes)
    end
  end)

  it("says when what is done, with the questions of its steps and their answers", function()
    local by_name, list = {}, {}
    for i, name in ipairs(paths.lessons(paths.CLASS)) do
      list[i] = lessons.find(name)
      by_name[name] = list[i]
    end
    local rows = paths.numbered(paths.CLASS, by_name)
    local text = plan.page(rows, by_name)
    html.check(text)
    local at = 0
    for i, row in ipairs(rows) do
      local section = text:match(('<section id="part%%-%d">(.-)</section>'):format(i))
      local function clock(minutes)
        return ("%d:%02d"):format(minutes // 60, minutes % 60)
      end
      assert.truthy(section:find(clock(at) .. " to " .. clock(at + row.minutes), 1, true))
      at = at + row.minutes
      local count = 0
      for _, number in ipairs(row.steps) do
        count = count + #questions.of(by_name[row[1]].steps[number])
      end
      assert.equal(count, select(2, section:gsub("Answer: ", "")), row[1])
      assert.equal(row.late ~= nil, section:find("If it is late: ", 1, true) ~= nil)
    end
    assert.matches("saves 30 minutes in all", text)
    assert.truthy(text:find('href="slides.html#part-5"', 1, true))
  end)

  it("has one set of slides: its parts in order, their steps, and no code", function()
    local rows = { { "rotation", steps = { 2 }, minutes = 5, does = "Draw it.", late = "Skip it." },
      { "rotation", steps = { 4, 6 }, minutes = 7, does = "Show it." } }
    local rotation = lessons.find("rotation")
    local text = deck.page("A class", rows, { rotation = rotation,
      ["general-form"] = lessons.find("general-form") })
    html.check(text)
    assert.matches("<code>general%-form</code>", text) -- not a link: the kit does not have it
    local titles = {}
    for title in text:gmatch("<h2>([^<]+)") do
      titles[#titles + 1] = title ~= titles[#titles] and title or nil
    end
    assert.same({ "By position", "Rotations add up", "What a rotation leaves unchanged" }, titles)
    assert.matches('id="part%-1".-0:00 to 0:05.-Draw it%..-If it is late: Skip it%..-id="part%-2"'
      .. ".-0:05 to 0:12.-Show it%.", text)
    assert.is_nil(text:find("rope = roper.position", 1, true))
  end)

  it("names its steps, so that a new step moves none of them", function()
    local rows = paths.numbered({ { "a", steps = { "Two", 3 } } }, { a = { steps = {
      { title = "One" }, { title = "New" }, { title = "Two" } } } })
    assert.same({ 3, 3 }, rows[1].steps)
    assert.error_matches(function()
      paths.numbered({ { "a", steps = { "Four" } } }, { a = { steps = {} } })
    end, '^lesson: a has no step "Four"; change the plan in path.lua$')
  end)

  it("has all steps of a lesson of one's own", function()
    local rows = paths.of_lesson(lessons.find("precision"))
    assert.same({ { 1 }, { 2 }, { 3 } }, tables.map(rows, function(row) return row.steps end))
    assert.is_true(math.abs(paths.minutes(rows) - 15) <= 5)
  end)
end)
