local files = require("roper.system.file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local statistics = require("roper.tensor.statistics")
local tables = require("roper.base.tables")

local FOLDER <const> = files.real(require("roper.system.paths").LIBRARY .. "/../experiments")

require("roper.system.module_path").add_folder_of(FOLDER .. "/record/run.lua")
local by_length = require("by_length")
local curves = require("curves")
local families = require("families")
local markdown = require("markdown")
local pages = require("pages")
local rows = require("rows")
local studies = require("studies")

-- A study with rows {sweep, position, seed, at_1, at_2, curve}.
local function study_of(list, incomplete)
  return { fields = { "position" }, incomplete = incomplete or {},
    compared = tables.map(list, function(cells)
      return { sweep = cells[1], position = cells[2], seed = cells[3], at_1 = cells[4],
        at_2 = cells[5], curve = cells[6] }
    end) }
end

-- On copy, roper is ahead by 0.1 and fox by 0.3; on recall, by 0 and 0.2.
local function example()
  local list = {}
  for seed, x in ipairs({ 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7 }) do
    for sweep, by in pairs({ copy = 0.1, recall = 0 }) do
      for position, value in pairs({ rope = x, alibi = x, roper = x + by, fox = x + 0.2 + by }) do
        list[#list + 1] = { sweep, position, seed, value, value }
      end
    end
  end
  return list
end

local PAIRS <const> = { { "rope", "roper" }, { "alibi", "fox" } }

local FAMILY <const> = { measures = { "at_1", "at_2" }, correction = "bonferroni", tests = {
  { name = "all", sweeps = { "copy", "recall" }, pairs = PAIRS },
  { name = "pair", sweeps = { "copy", "recall" }, pairs = { PAIRS[2] } },
  { name = "task", sweeps = { "copy" }, pairs = PAIRS },
  { name = "less", sweeps = { "copy" }, pairs = { PAIRS[2] }, minus = { PAIRS[1] } } } }

describe("the tests of a study", function()
  it("average differences of the same seed over pairs, over sweeps and over both", function()
    local tests = families.tests(study_of(example()), FAMILY)
    for i, mean in ipairs({ 0.15, 0.25, 0.2, 0.2 }) do
      assert.near(mean, tests[i].mean, 1e-12)
      assert.equal(8, tests[i].n)
      assert.near(4 / 128, tests[i].corrected, 1e-12) -- the smallest p of 8 pairs, for 4 tests
      assert.is_true(tests[i].low > 0 and tests[i].high < 1)
    end
  end)

  it("leave out the seeds that lack a run or a value, in these tests only", function()
    local list = tables.map(example(), function(cells)
      if cells[1] == "copy" and cells[2] == "fox" and cells[3] == 3 then
        return nil
      elseif cells[1] == "recall" and cells[2] == "rope" and cells[3] == 5 then
        cells[5] = nil
      end
      return cells
    end)
    local tests = families.tests(study_of(list), FAMILY)
    assert.same({ 6, 7, 7, 7 }, tables.map(tests, function(test) return test.n end))
  end)

  it("give no p while runs are missing", function()
    local tests = families.tests(study_of(example(), { recall = true }), FAMILY)
    assert.same({ false, false, true, true }, tables.map(tests, function(test)
      return test.p ~= nil and test.corrected ~= nil and test.low ~= nil
    end))
    assert.near(0.15, tests[1].mean, 1e-12)
  end)

  it("compare values of curves at a step", function()
    local list = {}
    for seed = 1, 6 do
      list[#list + 1] = { "copy", "rope", seed, 0, 0, { { 100, 2 }, { 600, 1 } } }
      list[#list + 1] = { "copy", "roper", seed, 0, 0, { { 100, 1 }, { 600, 0.75 } } }
    end
    local test = families.tests(study_of(list), { correction = "holm", tests = { { name = "lead",
      sweeps = { "copy" }, pairs = { PAIRS[1] }, measures = { "step_600" },
      minus_measures = { "step_100" } } } })[1]
    assert.near(0.75, test.mean, 1e-12)
    assert.near(2 / 64, test.corrected, 1e-12)
  end)

  it("draw the differences of curves of the same seed, at the steps that both have", function()
    local study = study_of({ { "copy", "rope", 1, 0, 0, { { 100, 2 }, { 200, 1 } } },
      { "copy", "roper", 1, 0, 0, { { 100, 1.5 }, { 200, 1 }, { 300, 0 } } },
      { "copy", "rope", 2, 0, 0, { { 100, 4 } } }, { "copy", "roper", 2, 0, 0, { { 100, 3 } } },
      { "copy", "roper", 3, 0, 0, { { 100, 7 } } }, { "recall", "rope", 3, 0, 0, { { 100, 7 } } } })
    local differences = curves.differences(study, "copy", { "rope", "roper" })
    assert.same({ [100] = { -0.5, -1 }, [200] = { 0 } }, differences)
    local svg = curves.draw({ ["roper − rope"] = differences }, "loss")
    assert.truthy(svg:find("roper − rope</text>", 1, true))
    assert.is_nil(curves.draw({ none = {} }, "loss"))
  end)

  it("mark the methods that differ from a baseline, on sweeps without missing runs", function()
    local study = study_of(example(), { text = true })
    local columns = { { title = "Copy", sweeps = { "copy" }, measures = { "at_1" } },
      { title = "Recall", sweeps = { "recall" }, measures = { "at_1" } },
      { title = "Text", sweeps = { "text" }, measures = { "at_1" } } }
    local signs = families.signs(study, { "alibi", "rope", "roper" }, columns, "rope")
    assert.same({ { roper = 1 }, {}, false }, signs)
    assert.equal("Copy: `roper` above; Recall: cannot tell; for the others, runs are missing",
      markdown.differing(columns, signs))
    assert.same({ { alibi = -1, rope = -1 } },
      families.signs(study, { "alibi", "fox", "rope" }, { columns[2] }, "fox"))
    assert.equal("runs are missing", markdown.differing({ columns[3] }, { false }))
    local many = { a = 1, b = 1, c = 1, d = 1, e = -1 }
    assert.equal("Text: 4 above, `e` below", markdown.differing({ columns[3] }, { many }))
  end)

  it("have a table of the means of methods, over sweeps and measures", function()
    local study = study_of(example())
    for _, row in ipairs(study.compared) do
      row.at_2 = row.at_1 / 2
    end
    assert.equal(table.concat({ "| scheme | Copy | all |", "| --- | ---: | ---: |",
      "| `rope` | 0.43 ± 0.08 | 0.32 ± 0.06 |", "| `fox` | 0.73 ± 0.08 | 0.51 ± 0.06 |",
      "| `none` | – | – |" }, "\n"),
      markdown.methods(study, { "rope", "fox", "none" }, {
        { title = "Copy", sweeps = { "copy" }, measures = { "at_1" } },
        { title = "all", sweeps = { "copy", "recall" }, measures = { "at_1", "at_2" } } }))
  end)

  it("have a figure of accuracy against length, a line for the mean of methods", function()
    local study = study_of(example())
    study.plan = { columns = { "loss", "at_1", "at_2", "beyond_2" } }
    assert.near(0.581, statistics.mean(families.means(study, { "rope", "fox" },
      { sweeps = { "copy" }, measures = { "at_1" } })), 0.001)
    local svg = by_length.draw(study, { "copy" }, { { label = "both",
      methods = { "rope", "fox" } }, { label = "missing", methods = { "none" } } }, "accuracy")
    assert.truthy(svg:find("both</text>", 1, true))
    assert.is_nil(svg:find("missing</text>", 1, true))
    assert.is_nil(by_length.draw(study, { "s3" }, { { label = "both", methods = { "rope" } } },
      "accuracy"))
  end)

  it("are listed as higher, lower, undecided or missing", function()
    local function test(name, corrected, mean)
      return { name = name, corrected = corrected, mean = mean }
    end
    local a, b, c = test("a", 0.04, -1), test("b", 0.01, 2), test("c", 0.05, 3)
    assert.equal("higher (b), lower (a), cannot tell (c), runs are missing (d)",
      markdown.answer({ a, b, c, test("d") }))
    assert.equal("higher", markdown.answer({ b }))
    assert.equal("cannot tell", markdown.answer({ c, c }))
  end)

  it("count each run once, even if two machines trained it", function()
    local machines = {}
    for i = 1, 3 do
      machines[i] = { machine = tostring(i), commit = "c" .. i, processor = "p", instructions = "i",
        blas = "b", threads = "1" }
    end
    local list = tables.map({ "1", "1", "2+1", "2", "3+1" }, function(machine)
      return { machine = machine, seconds = 720 }
    end)
    assert.equal([[
5 of 0 runs are recorded; they took 1.0 hours of one core.
- 2 at commit c1: p, i, b, 1 thread each
- 1 at commit c2: p, i, b, 1 thread each, and 1 begun there and continued at another
- 0 at commit c3: p, i, b, 1 thread each, and 1 begun there and continued at another]],
      markdown.status({ rows = list, machines = machines, plan = { sweeps = {} } }))
  end)

  it("are corrected by Holm and by Bonferroni", function()
    local function same(expected, found)
      for i, p in ipairs(expected) do
        assert.near(p or -1, found[i] or -1, 1e-12)
      end
    end
    same({ 0.064, 0.01, 1, 0.093, 1 },
      families.corrected({ 0.016, 0.002, 0.633, 0.031, 0.75 }, "holm"))
    same({ 0.045, 0.045, 0.06 }, families.corrected({ 0.02, 0.015, 0.06 }, "holm"))
    same({ 0.03, 0.06, false }, families.corrected({ 0.01, 0.02, false }, "bonferroni"))
    same({ 0.03, 0.04, false }, families.corrected({ 0.01, 0.02, false }, "holm"))
  end)
end)

describe("recorded runs", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("are read as they were written, rounded", function()
    local path = scratch.path("runs.csv")
    rows.write(path, { "position", "seed", "loss", "at_2" }, {
      { position = "a{b=1,c=2}", seed = 3, loss = 1.234567, at_2 = 0.25 },
      { position = "rope", seed = 4 } })
    assert.equal('position,seed,loss,at_2\n"a{b=1,c=2}",3,1.23457,0.25\nrope,4,,\n',
      files.read(path))
    assert.same({ { position = "a{b=1,c=2}", seed = "3", loss = "1.23457", at_2 = "0.25" },
      { position = "rope", seed = "4" } }, (rows.read(path)))
    assert.same({ { 50, 0.5 }, { 100, 0.1235 } },
      rows.points(rows.curve({ { 50, 0.5 }, { 100, 0.12345678 } })))
    scratch.write("runs.csv", "position,seed\nrope\n")
    assert.error_matches(function() rows.read(path) end, "expected 2 cells, got 1 in rope", 1, true)
  end)

  it("are those of their study's plan, in a table of less than 128 kB", function()
    for _, name in ipairs(studies.list()) do
      local study = studies.read(name)
      local machines = tables.set(tables.map(study.machines, function(one) return one.machine end))
      for _, row in ipairs(study.rows) do
        assert.truthy(study.sweep_of[row.sweep], name)
        for machine in row.machine:gmatch("[^+]+") do
          assert.is_true(machines[machine], name)
        end
      end
      assert.is_true(#study.rows + #studies.missing(study) <= studies.count(study), name)
      assert.is_true(#(files.read(study.folder .. "/runs.csv") or "") < 128000, name)
    end
  end)

  it("choose rates on other seeds than those that are compared", function()
    local study = studies.read("along_the_way")
    assert.equal(6 * 13 * 10 + 13 * 3 + 6 * 13 * 3, #study.compared)
    for _, row in ipairs(study.compared) do
      assert.is_true(row.seed > 2 and row.at_8 ~= nil)
    end
  end)
end)

describe("the pages of the studies", function()
  local computed = require("computed").files()

  it("contain what follows from the recorded runs", function()
    for path, text in pairs(computed) do
      local problem = pages.difference(path, files.read(path) or "", text)
      assert(not problem, (problem or "") .. "\nplease run: make results")
    end
  end)

  it("differ if a digit is changed in one of the texts", function()
    local count = 0
    for path, text in pairs(computed) do
      for first, body in text:gmatch("()<!%-%- results [^\n]*\n(.-)<!%-%- end of results") do
        local at = body:find("%d%.%d")
        if at then
          count = count + 1
          local place = text:find(body, first, true) + at + 1
          local digit = (tonumber(text:sub(place, place)) + 1) % 10
          local changed = text:sub(1, place - 1) .. digit .. text:sub(place + 1)
          assert.truthy(pages.difference(path, changed, text):find(path, 1, true), path)
        end
      end
    end
    assert.is_true(count >= 4)
  end)

  it("change if a recorded accuracy is changed", function()
    local study = studies.read("along_the_way")
    local before = families.tests(study, study.plan.families[1])[1].mean
    for _, row in ipairs(study.compared) do
      if row.position == "roper" and row.sweep == "copy" and row.seed == 3 then
        row.at_1 = row.at_1 - 0.5
      end
    end
    assert.near(before - 0.5 / 4 / 30 / 10,
      families.tests(study, study.plan.families[1])[1].mean, 1e-12)
  end)

  it("have no decimal numbers elsewhere, and keep to their lengths", function()
    for path, text in pairs(computed) do
      if path:find("%.md$") then
        local prose = (text:match("\n## Results\n(.-)\n## ") or text)
          :gsub("<!%-%- results .-<!%-%- end of results", ""):gsub("0%.05", "")
          :gsub("0%.6 to 20 million", "")
        assert.is_nil(prose:match("[^\n]*%d%.%d[^\n]*"), path)
        local _, lines = text:gsub("\n", "")
        assert.is_true(lines <= (path:find("experiments/README") and 150
          or path:find("experiments/%w") and 60 or 200), path)
      end
    end
  end)

  it("are compared up to the first difference", function()
    local long = ("−"):rep(60)
    local function shown(digit)
      return ("...%s%s%s..."):format(long:sub(1, 39), digit, long:sub(1, 42))
    end
    assert.equal(("a.md:2: expected %s\n  got %s"):format(shown "5", shown "6"),
      pages.difference("a.md", ("same\n%s6%s"):format(long, long),
        ("same\n%s5%s"):format(long, long)))
    assert.equal("a.md: lines are missing at its end", pages.difference("a.md", "same", "same\nx"))
  end)

  it("name only texts that a study has", function()
    assert.error_matches(function()
      pages.filled("<!-- results pairs.wrong -->\n<!-- end of results -->", "README.md",
        function() end)
    end, "README.md: no study has the results pairs.wrong", 1, true)
  end)
end)

describe("record/run.lua", function()
  setup(scratch.create)
  teardown(scratch.remove)

  local PLAN <const> = [[
    return { title = "Small", fields = { preset = "smoke", d_model = 16, steps = 2, times = "2,4",
      test_sequences = 2, evaluate_every = 1 },
      sweeps = {
        { name = "short", experiment = "copy", position = { "rope", "alibi" }, seeds = "2..3",
          fields = { letters = 3, length = 17, problems = 1 }, curve = "test_loss",
          choose = { field = "rate", values = { 1e-3, 1e-2 }, seeds = "1", ties = "smaller" } },
        { name = "text", experiment = "language_model", position = { "none" }, seeds = "1",
          fields = { documents = "paragraphs" }, measure = "loss", needs = "files",
          curve = "validation_loss" } },
      columns = { "loss", "steps_to_90", "at_1", "at_2", "beyond_2", "curve" } }]]

  -- Runs the study in a folder, in which the folders of its runs are then.
  local function run(folder, ...)
    files.make(scratch.path(folder))
    local program = require("luv").cwd() .. "/roper"
    return process.run({ "/bin/sh", "-c", "cd \"$1\" && shift && exec \"$@\"", "sh",
      scratch.path(folder), program, FOLDER .. "/record/run.lua", scratch.path("small"), ... })
  end

  local function read()
    return rows.read(scratch.path("small/runs.csv"))
  end

  it("trains what has no row: runs that choose, then others, then those with a text", function()
    files.make(scratch.path("small"))
    scratch.write("small/plan.lua", PLAN)
    local status, _, errors = run("here", "1", "uncommitted=yes")
    assert.equal(0, status, errors)
    assert.truthy(errors:find("small: 8 of 9 runs are recorded", 1, true), errors)
    local count, rates = { chose = 0, compared = 0 }, {}
    for _, row in ipairs((read())) do
      local kind = row.seed == "1" and "chose" or "compared"
      count[kind] = count[kind] + 1
      assert.truthy(row.loss)
      assert.equal(kind == "compared", (row.at_1 and row.at_2 and row.beyond_2) ~= nil)
      if kind == "compared" then
        assert.truthy(row.curve:find("^1:%d.* 2:%d"))
        rates[row.position] = rates[row.position] or row.rate
        assert.equal(rates[row.position], row.rate)
      end
    end
    assert.same({ chose = 4, compared = 4 }, count)
    local text = scratch.write("text.txt", ("Some words to learn.\n\n"):rep(400))
    status, _, errors = run("here", "1", "files=" .. text, "uncommitted=yes")
    assert.equal(0, status, errors)
    assert.truthy(errors:find("small: 9 of 9 runs are recorded", 1, true), errors)
  end)

  it("trains only what is missing, also without the folders of the runs", function()
    local all, columns = read()
    rows.write(scratch.path("small/runs.csv"), columns, tables.map(all, function(row)
      return not (row.seed == "3" and row.position == "alibi") and row or nil
    end))
    local status, _, errors = run("elsewhere", "1", "uncommitted=yes")
    assert.equal(0, status, errors)
    assert.truthy(errors:find("small: 9 of 9", 1, true), errors)
    assert.equal(1, #require("roper.workbench.study.run.runs").find(scratch.path("elsewhere")))
    local again = read()
    for i, row in ipairs(all) do
      row.seconds, again[i].seconds = nil, nil
      assert.same(row, again[i])
    end
  end)

  it("leaves out a seed whose other runs are from other code, another processor or BLAS", function()
    local all, columns = read()
    local path = scratch.path("small/machines.csv")
    local machines = files.read(path)
    local function without(seeds)
      rows.write(scratch.path("small/runs.csv"), columns, tables.map(all, function(row)
        return not (row.position == "alibi" and seeds:find(row.seed)) and row or nil
      end))
    end
    local function assert_left_out(folder, pattern)
      local before = files.read(scratch.path("small/runs.csv"))
      local status, _, errors = run(folder, "1", "uncommitted=yes")
      assert.equal(1, status)
      assert.truthy(errors:find(pattern), errors)
      assert.equal(before, files.read(scratch.path("small/runs.csv")))
    end
    without "3"
    local config = require("roper.workbench.study.run.runs").find(scratch.path("elsewhere"))[1]
      .. "/config.json"
    local text = files.read(config)
    for _, field in ipairs({ "processor", "blas" }) do
      files.write(config, (text:gsub(('"%s": "'):format(field), "%0Other ")))
      assert_left_out("elsewhere", "seed 3 of short: .*Other .*remove the rows of this seed")
    end
    files.write(config, (text:gsub('"instructions": "', "%0other "))) -- of bfloat16, for example
    assert.equal(0, (run("elsewhere", "1", "uncommitted=yes")))
    assert.equal(#all, #read())

    without "2, 3"
    local unknown = machines:gsub("\n1,%w+", "\n1,0123456789ab")
    files.write(path, unknown)
    assert_left_out("third", "seed 2 of short: .*commit 0123456789ab.*\n.*seed 3 of short: ")
    assert.is_nil(files.stat(scratch.path("third/runs"))) -- so that nothing trains it later
    files.write(path, machines .. unknown:match("\n(1,.*)"):gsub("^1", "2"))
    for _, row in ipairs(all) do
      row.machine = row.seed == "2" and "2" or row.machine
    end
    without "2, 3"
    local _, _, errors = run("third", "1", "uncommitted=yes")
    assert.truthy(errors:find("seed 2 of short") and not errors:find("seed 3 of short"), errors)
    assert.equal(#all - 1, #read())
  end)

  it("continues a seed after commits that change no code", function()
    local is_known, whole = process.run({ "git", "rev-parse", "HEAD" })
    if is_known ~= 0 then
      return pending("this folder is not a repository of git")
    end
    local path = scratch.path("small/machines.csv")
    files.write(path, (files.read(path):gsub("0123456789ab", whole:match("%x+"))))
    local status, _, errors = run("fourth", "1", "uncommitted=yes")
    assert.equal(0, status, errors)
    assert.truthy(errors:find("small: 9 of 9", 1, true), errors)
  end)

  it("explains what it expects", function()
    local function message(...)
      local status, _, errors = process.run({ "./roper", FOLDER .. "/record/run.lua", ... })
      assert.equal(1, status)
      return errors
    end
    for expected, found in pairs({
      ["expected FIELD=VALUE, got files"] = message("pairs", "1", "files"),
      ["expected a study, one of along_the_way"] = message(),
      ["expected the folder of a study with a plan.lua"] = message("pears", "1",
        "uncommitted=yes") }) do
      assert.truthy(found:find(expected, 1, true), found)
    end
  end)
end)
