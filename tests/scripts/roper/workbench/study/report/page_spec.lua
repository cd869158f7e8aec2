local core = require("roper.core")
local html = require("tests.html")
local markup = require("roper.text.markup")
local number = require("roper.workbench.study.report.number")
local page = require("roper.workbench.study.report.page")
local reports = require("tests.reports")
local svgs = require("tests.svg")

local HOSTILE <const> = { "<script>alert(1)</script>", "</title></style></script><script>x",
  "\"><img src=x onerror=x>", "a & b < c", "]]>", "<!--", "'; drop", "%s %d %1", "\xFF\0\27[31m",
  ("x"):rep(300), "\u{202E}gnirts" }

-- The values of the dots that each line of a chart of runs joins, from the method at the top.
local function joined(chart)
  local axes, list = svgs.axes(chart), {}
  for i, line in ipairs(svgs.lines(chart:match('class="join" d="(.-)"'))) do
    list[i] = {}
    for k, point in ipairs(line) do
      assert.is_true(k == 1 or point[2] > line[k - 1][2])
      list[i][k] = axes.x(point[1] / axes.width)
    end
  end
  return list
end

-- The values of the means that a chart of runs marks.
local function means_of(chart)
  local axes, list = svgs.axes(chart), {}
  for d in chart:gmatch('class="mean" d="(.-)"') do
    list[#list + 1] = axes.x(svgs.lines(d)[1][1][1] / axes.width)
  end
  return list
end

describe("page.render", function()
  it("draws accuracy by length with the bands that its caption describes", function()
    for seeds, expected in pairs({ [1] = "<b>Accuracy by length</b>. Thin: single runs",
                                   [3] = "Band: from the smallest to the largest of the runs",
                                   [6] = "Band: 95 %% interval of this mean" }) do
      local view = reports.lengths({ "rope", "roper" }, seeds)
      local text = page.render(view)
        :match("<figure[^>]*><figcaption><b>Accuracy by length.-</figure>")
      assert.truthy(text:find(expected), expected)
      local picture = text:match('.*(<svg [^>]*aria%-label="Accuracy by length.*)')
      local axes, bands = svgs.axes(picture), 0
      local first = text:match("<label[^>]*>(.-)</label>")
      assert.equal(seeds > 1 and "bands" or nil, first)
      for d in text:gmatch('class="band s%d" d="(.-)"') do
        bands = bands + 1
        local low, high = math.huge, -math.huge
        for _, part in ipairs(axes.path(d)) do
          if part[1][1] < 1.01 then
            low, high = math.min(low, part[1][2]), math.max(high, part[2][2])
          end
        end
        svgs.near({ 0.91, 0.90 + seeds / 100 }, { low, high }, 0.001)
      end
      assert.equal(seeds > 1 and 2 or 0, bands)
    end
  end)

  it("is one well-formed page that needs nothing else", function()
    local text = page.render(reports.view())
    local counts = html.check(text)
    assert.equal(1, counts.html)
    local titles = {}
    for title in text:gmatch("<figcaption><b>(.-)</b>") do
      titles[#titles + 1] = title
    end
    assert.same({ "Correct", "Correct, greedy", "Accuracy", "Loss", "Training loss, last half",
      "Steps to 90 %", "Accuracy on answer tokens",
      "Difference in accuracy between runs of the same seed", "Training loss",
      "Accuracy by distance" }, titles)
    assert.equal(2 + 4, counts.input) -- runs or bands; for the loss, of all steps or the last half
    assert.equal(1, select(2, text:gsub("<script>", "")))
    text = text:gsub('<link href="data:," rel="icon">', "")
    for _, reference in ipairs({ "<link", "<img", "src=", "href=", "@import", "url(", "http:",
      "https:", "fetch(" }) do
      assert.is_nil(text:find(reference, 1, true), reference)
    end
  end)

  it("begins with the result", function()
    assert.truthy(page.render(reports.view()):find("<h1>[^<]*</h1><section><p class=\"result\">"
      .. "The difference between roper and rope in correct answers is not significant: %+30.0 of"))
  end)

  it("has a dot for each finished run that has the number, those of a seed joined", function()
    local text = page.render(reports.view())
    local solved = text:match("<b>Correct</b>.-</svg>.-</figure>")
    local titles = {}
    for title in solved:gmatch('class="dot"[^>]*><title>(.-)</title>') do
      titles[#titles + 1] = title
    end
    assert.same({ "rope, seed 1: 61.0", "rope, seed 2: 62.0", "roper, seed 1: 91.0" }, titles)
    svgs.near({ { 61, 91 }, { 62 } }, joined(solved), 0.01)
    svgs.near({ 61.5, 91 }, means_of(solved), 0.01)
    assert.truthy(solved:find("one by one +30.0; p", 1, true))
  end)

  it("draws runs that never reached 90 % apart, without a mean", function()
    local trials = {}
    for seed = 1, 3 do
      trials[2 * seed - 1] = reports.trial("rope", seed, "finished")
      trials[2 * seed] = reports.trial("roper", seed, "finished")
      trials[2 * seed].run.result.steps_to_90 = 60 + 10 * seed
    end
    trials[1].run.result.steps_to_90 = 70
    local steps = page.render(reports.view(trials)):match("<b>Steps to 90 %%.-</figure>")
    local titles = {}
    for class, title in steps:gmatch('class="(dot[^"]*)"[^>]*><title>(.-)</title>') do
      titles[#titles + 1] = class .. " " .. title
    end
    assert.same({ "dot rope, seed 1: 70", "dot rope, seed 2: not reached in 100 steps",
      "dot hole rope, seed 2: not reached in 100 steps",
      "dot rope, seed 3: not reached in 100 steps",
      "dot hole rope, seed 3: not reached in 100 steps", "dot roper, seed 1: 70",
      "dot roper, seed 2: 80", "dot roper, seed 3: 90" }, titles)
    -- Runs that never reached 90 % are beyond the axis, which ends at 90 steps.
    local pairs_of_runs = joined(steps)
    for i = 2, 3 do
      assert.is_true(pairs_of_runs[i][1] > 91)
      pairs_of_runs[i][1] = 0
    end
    svgs.near({ { 70, 70 }, { 0, 80 }, { 0, 90 } }, pairs_of_runs, 0.01)
    assert.truthy(steps:find(">not reached</text>", 1, true))
    svgs.near({ 80 }, means_of(steps), 0.01) -- that of roper
    assert.truthy(steps:find("; in 2 of 3 pairs, a run never reached 90 % and counts with its last "
      .. "step", 1, true))
    assert.truthy(steps:find('aria-label="Steps', 1, true))
    for _, trial in ipairs(trials) do
      trial.run.result.steps_to_90 = nil
    end
    steps = page.render(reports.view(trials)):match("<b>Steps to 90 %%.-</figure>")
    assert.truthy(steps:find("No run reached 90 %.", 1, true))
    assert.is_nil(steps:find('aria-label="Steps', 1, true))
  end)

  it("keeps the colours of methods if only some are shown", function()
    local all = reports.lengths({ "rope", "roper", "none" }, 2).sweep
    local report = require("roper.workbench.study.report")
    local view = report.of(all, { methods = { "none", "roper" }, baseline = "roper" })
    view.attention = {}
    local text = page.render(view)
    html.check(text)
    assert.is_nil(text:find("rope,", 1, true))
    assert.truthy(text:find('class="line s3"[^>]*><title>none − roper, mean of 2<'))
    assert.truthy(text:find('class="mark s3"', 1, true))
    assert.is_nil(text:find('class="[%a ]+ s1[ "]'))
    assert.truthy(text:find("<li>2 of 3 methods are shown; comparisons with the others do not "
      .. "count", 1, true))
    assert.error_matches(function() report.of(all, { methods = { "ropr" } }) end,
      'report: no method "ropr"; did you mean "rope"?')
    assert.error_matches(function() report.of(all, { methods = { "none" }, baseline = "rope" }) end,
      'report: no method "rope"')
  end)

  it("draws bands first if there are many methods, and single runs on request", function()
    local trials, methods = {}, {}
    for i = 1, 7 do
      methods[i] = "m" .. i
      trials[i], trials[i + 7] = reports.trial(methods[i], 1, "finished"),
        reports.trial(methods[i], 2, i == 7 and "failed" or "finished")
    end
    local text = page.render(reports.view(trials, methods))
    local accuracy = text:match("<b>Accuracy on answer tokens</b>.-</figure>")
    local bands, runs = accuracy:match('(<p class="note">.-</svg></div>)(.*)')
    local function labels(picture)
      local list = {}
      for label in picture:gmatch('<path class="line[^>]*><title>(.-)</title>') do
        list[#list + 1] = label
      end
      return list
    end
    local means = { "m1, mean of 2", "m2, mean of 2", "m3, mean of 2", "m4, mean of 2",
      "m5, mean of 2", "m6, mean of 2", "m7, mean of 1" }
    assert.same(means, labels(bands))
    assert.truthy(bands:find("Band: from the smallest to the largest of the runs", 1, true))
    assert.equal(6, select(2, bands:gsub('class="band s%d', ""))) -- m7 has one finished run
    assert.equal(14 + 7, #labels(runs))
    assert.is_nil(runs:find('class="band', 1, true))
    -- Differences have the colours of the methods that are not the first.
    local difference = text:match("<b>Difference in accuracy.-</figure>")
    assert.truthy(difference:find(">no difference</text>", 1, true))
    for i = 2, 6 do
      assert.truthy(difference:find(('class="line s%d"[^>]*><title>m%d − m1, mean of 2<'):format(i,
        i)))
    end
    assert.is_nil(text:find('class="join"', 1, true))
  end)

  it("shows the study's table with N, and what was published", function()
    local text = page.render(reports.view())
    local rows = html.rows(text, "study")
    assert.same({ "method", "runs", "correct of 128", "loss", "floor", "steps to 90 %" }, rows[1])
    assert.same({ "rope", "2 of 3", "61.5 ± 0.5", "1.2850 ± 0.0050", "1.2701", "> 100 (0/2)" },
                rows[2])
    assert.same({ "roper", "1 of 3", "91.0", "1.2900", "1.2701", "80 (1/1)" }, rows[3])
    rows = html.rows(text, "published")
    assert.same({ "published", "62.00", "96.11", "+34.11",
      "9 of 10 runs, 20 M parameters, 5,000 steps" }, rows[2])
    assert.same({ "this sweep", "61.50", "91.00", "+29.50",
      "2 of 3 runs; 1 of 3 runs, preset mini" }, rows[3])
    assert.truthy(text:find("compare directions, not figures", 1, true))
  end)

  it("notes a number of problems other than the published one", function()
    local view = reports.view()
    for _, trial in ipairs(view.sweep.trials) do
      trial.config.problems = 4
    end
    assert.equal("2 of 3 runs; 1 of 3 runs, preset mini, correct of 4",
      html.rows(page.render(view), "published")[3][5])
  end)

  it("shows failed, running, missing and censored runs", function()
    local text = page.render(reports.view())
    assert.truthy(text:find("3 of 6 runs finished, 1 failed, 1 running, 1 waiting.", 1, true))
    assert.truthy(text:find("<li>roper: 2 of 3 runs are missing", 1, true))
    assert.truthy(text:find(">train: the loss is nan at step 41\n</span></pre>", 1, true))
    assert.truthy(text:find("Dotted: 2 runs that did not finish.", 1, true))
    local rows = html.rows(text, "runs")
    assert.equal(7, #rows)
    assert.same({ "rope", "3", "failed", "40 of 100", "–", "–", "–", "–", "–", "–", "–" }, rows[6])
    assert.same({ "roper", "3", "waiting", "0 of 100", "–", "–", "–", "–", "–", "–", "–" }, rows[7])
    assert.same({ "rope", "1", "finished", "100 of 100", "61", "62", "0.9100", "1.2900", "1.3100",
      "never", "1m01s" }, rows[2])
    assert.same({ { "method", "N", "reached", "median", "restricted mean", "± s.e." },
      { "rope", "2", "0 of 2", "> 100", "≥ 100", "–" },
      { "roper", "1", "1 of 1", "80", "80", "–" } }, html.rows(text, "censored"))
  end)

  it("shows the statistics with N, and the paired differences", function()
    local text = page.render(reports.view())
    assert.same({ { "method", "N", "mean", "± s.e.", "95 % interval", "median", "study’s mean",
      "kept" }, { "rope", "2", "61.5", "0.5", "–", "61.5", "61.5", "2 of 2" },
      { "roper", "1", "91.0", "–", "–", "91.0", "91.0", "1 of 1" } },
      html.rows(text, "spread"))
    assert.same({ "roper − rope", "1", "+30.0", "one by one: +30.0", "1.000" },
                html.rows(text, "pairs")[2])
  end)

  it("shows an interval for six pairs or more, and single differences for fewer", function()
    for count, expected in pairs({ [5] = "one by one: +26.0, +27.0, +28.0, +29.0, +30.0",
                                   [6] = "+26.0 to +31.0" }) do
      local trials = {}
      for seed = 1, count do
        trials[2 * seed - 1] = reports.trial("rope", seed, "finished")
        trials[2 * seed] = reports.trial("roper", seed, "finished")
        trials[2 * seed].run.result.solved = 85 + 2 * seed
      end
      local text = page.render(reports.view(trials))
      local pair = html.rows(text, "pairs")[2]
      assert.equal(tostring(count), pair[2])
      assert.equal(expected, pair[4])
      assert.equal(count == 5 and "0.062" or "0.031", pair[5])
      assert.truthy(text:find("it excludes 0 exactly if p &lt; 0.05.", 1, true))
      assert.equal(count == 5, text:find("5 pairs cannot give a p below 0.062.", 1, true) ~= nil)
    end
  end)

  it("has no median of the steps if half of the runs never got there", function()
    local view = reports.view()
    view.sweep.trials[1].run.result.steps_to_90 = 60
    local text = page.render(reports.view(view.sweep.trials))
    assert.same({ "rope", "2", "1 of 2", "undetermined", "≥ 80", "20" },
                html.rows(text, "censored")[2])
    assert.equal("undetermined (1/2)", html.rows(text, "study")[2][6])
  end)

  it("leaves out the worst of ten, and reports it", function()
    local trials = {}
    for seed = 1, 10 do
      for i, method in ipairs({ "rope", "roper" }) do
        local trial = reports.trial(method, seed, "finished")
        trial.run.result.solved = seed == 4 and 5 or 50 + 10 * i + seed
        trials[#trials + 1] = trial
      end
    end
    local text = page.render(reports.view(trials))
    -- 61 .. 70 without 64 sum to 591; with 5 for it the mean of all is 59.6; the median lies
    -- between 65 and 66.
    assert.same({ "rope", "10", "59.6" }, { table.unpack(html.rows(text, "spread")[2], 1, 3) })
    assert.same({ "65.5", "65.7", "9 of 10" },
                { table.unpack(html.rows(text, "spread")[2], 6, 8) })
    local row = html.rows(text, "study")[2]
    assert.same({ "59.6 ± 6.1", "65.7 (9)" }, { row[3], row[4] })
    assert.same({ "this sweep", "65.67", "75.67", "+10.00", "9 of 10 runs, preset mini" },
                html.rows(text, "published")[3])
    -- Nine differences of 10 and one of 0: all signs alike, with either sign of the 0.
    local pair = html.rows(text, "pairs")[2]
    assert.same({ "roper − rope", "10", "+9.0" }, { table.unpack(pair, 1, 3) })
    assert.equal("0.004", pair[5]) -- 4 of 1024
  end)

  it("does not count values that are not finite in N", function()
    local view = reports.view({ reports.trial("rope", 1, "finished"),
      reports.trial("rope", 2, "finished"), reports.trial("rope", 3, "finished"),
      reports.trial("roper", 1, "finished") })
    view.sweep.trials[2].run.result.solved = nil
    local text = page.render(reports.view(view.sweep.trials))
    assert.same({ "rope", "2", "62.0" }, { table.unpack(html.rows(text, "spread")[2], 1, 3) })
  end)

  it("draws a floor that all runs share", function()
    local view = reports.view()
    assert.equal(4, select(2, page.render(view):gsub('class="level"[^>]*><title>floor', "")))
    view.sweep.trials[2].run.result.floor = 1.5
    view.sweep.trials[2].run.result.test_floor = 1.4901
    local text = page.render(view)
    assert.is_nil(text:find('class="level"[^>]*><title>floor'))
    assert.equal("1.4901", html.rows(text, "study")[3][5])
  end)

  it("shows right samples, and wrong ones marked from the first wrong character", function()
    local text = page.render(reports.view())
    assert.truthy(text:find("<code>bc&#39;#</code>", 1, true))
    assert.truthy(text:find("<code>y<mark>x&#39;#</mark></code>", 1, true))
    assert.truthy(text:find("1 of 2 sampled answers right.", 1, true))
  end)

  it("shows configurations and their differences", function()
    local view = reports.view()
    local text = page.render(view)
    assert.same({ { "differs", "rope", "roper" }, { "position", "rope", "roper" },
      { "seed", "1, 2, 3", "1, 2, 3" } }, html.rows(text, "differences"))
    assert.truthy(text:find("<dt>d_model</dt><dd>128</dd>", 1, true))
    assert.truthy(text:find("<dt>commit</dt><dd>abc1234</dd>", 1, true))
    -- A run that was resumed with another version has both.
    view.sweep.trials[2].run.provenance[2] = { version = "0.1.0", commit = "def5678", threads = 2,
      step = 40 }
    text = page.render(view)
    assert.truthy(text:find(">abc1234 then def5678 from step 40, abc1234</td>", 1, true), text)
  end)

  it("draws attention by relative distance, and reports why a map is missing", function()
    local view = reports.view()
    view.attention = { { trial = view.sweep.trials[1], map = reports.attention_map(),
        no_scores = "out of <memory>" },
      { trial = view.sweep.trials[2], problem = "no checkpoint <here>" } }
    local text = page.render(view)
    html.check(text)
    assert.truthy(text:find("rope, seed 1</bdi>: layer 2, head 1", 1, true))
    assert.truthy(text:find('Weight: 0 <span class="scale s1"></span> 1</span>', 1, true))
    assert.truthy(text:find(": no attention map: no checkpoint &lt;here&gt;", 1, true))
    assert.truthy(text:find(": no scores of its heads: out of &lt;memory&gt;", 1, true))
    assert.truthy(text:find("<title>0.875 on “a” at 0, 2 back, for “c”</title>", 1, true))
    -- Distances 3 2 1 0 from left to right; nothing is drawn for no weight.
    local cells = {}
    local cell = 'fill%-opacity="([%d.]+)" height="1" width="1" x="(%d)" y="(%d)"'
    for opacity, x, y in text:gmatch(cell) do
      cells[#cells + 1] = ("%s %s %s"):format(x, y, opacity)
    end
    assert.same({ "1 0 0.875", "3 0 0.125", "1 1 0.625", "2 1 0.125", "3 1 0.25" }, cells)
  end)

  it("draws attention by distance and the scores of each head", function()
    local view = reports.view()
    local scores = { by_distance = { { { 0.5, 0, 0.25 }, { 0.125, 0.25, 0.0625 } } },
      previous_token = { { 0, 0.25 } }, induction = { { 0.125, 1 } },
      copying = { { 0.75, 0.5 } }, ablation = { { -0.5, 0.0625 } } }
    view.attention = {
      { trial = view.sweep.trials[1], map = reports.attention_map(), scores = scores },
      { trial = view.sweep.trials[2], problem = "no checkpoint" } }
    local text = page.render(view)
    html.check(text)
    text = text:match("<h2>Heads</h2>.-</section>")
    assert.truthy(text:find("rope, seed 1</bdi>: attention by distance", 1, true))
    assert.truthy(text:find("<title>0.250 of the weight of head 1.1 is 2 back</title>", 1, true))
    local cells = {} -- distances 2 1 0 from left to right, as a share of the largest weight
    for opacity, x, y in text:gmatch('fill%-opacity="([%d.]+)" height="1" width="1" x="(%d)" '
      .. 'y="(%d)"') do
      cells[#cells + 1] = ("%s %s %s"):format(x, y, opacity)
    end
    assert.same({ "0 0 0.5", "2 0 1", "0 1 0.125", "1 1 0.5", "2 1 0.25" }, cells)
    assert.same({ { "layer.head", "previous token", "copying", "induction", "increase in loss" },
      { "1.1", "0.000", "0.750", "0.125", "−0.5000" },
      { "1.2", "0.250", "0.500", "1.000", "0.0625" } },
      html.rows(text, "heads"))
    scores.ablation, scores.problems = nil, { "no increase in loss: <tied>" }
    assert.truthy(page.render(view):find("rope, seed 1</bdi>: no increase in loss: &lt;tied&gt;", 1,
      true))
    assert.truthy(text:find("expect values near 0, even in models that solve the task by copying",
      1, true))
    assert.same({ "1.2", "0.250", "0.500", "1.000", number.NONE },
      html.rows(page.render(view), "heads")[3])
    view.attention[1].scores = nil
    assert.is_nil(page.render(view):find("<h2>Heads</h2>", 1, true))
  end)

  it("replaces a figure that fails by its name and the reason, and draws the others", function()
    local view, damaged = reports.view(), reports.attention_map()
    damaged.tokens = nil
    view.attention = {
      { trial = view.sweep.trials[1], map = reports.attention_map() },
      { trial = view.sweep.trials[2], map = damaged },
      { trial = view.sweep.trials[3], map = reports.attention_map() } }
    local whole = html.check(page.render(reports.view())).figure
    local text = page.render(view)
    assert.equal(whole + 2, html.check(text).figure)
    assert.truthy(text:find("<bdi>The attention map of roper, seed 1</bdi> could not be drawn: ", 1,
      true))
    assert.equal(1, #view.failed)
    assert.truthy(view.failed[1]:find("^The attention map of roper, seed 1: "))
    -- The same if the data of a whole section is damaged.
    view = reports.view()
    view.sweep.trials[1].run.samples = { sampled = { {} } }
    text = page.render(view)
    assert.truthy(text:find("<bdi>Samples</bdi> could not be drawn: ", 1, true))
    assert.equal(whole, html.check(text).figure)
    assert.equal(1, #view.failed)
  end)

  it("draws every cell of a long map, and none of a model that has diverged", function()
    local view, long = reports.view(), reports.attention_map()
    long.rows[2].position, long.rows[2].weights[600] = 600, 0.5
    for i = 1, 601 do
      long.tokens[i] = "a"
    end
    view.attention = { { trial = view.sweep.trials[1], map = long } }
    assert.truthy(page.render(view):find('fill-opacity="0.5" height="1" width="1" x="0" y="1"', 1,
      true))
    for _, row in ipairs(long.rows) do
      for distance in pairs(row.weights) do
        row.weights[distance] = 0 / 0
      end
    end
    local text = page.render(view)
    assert.truthy(text:find("layer 2, head 1", 1, true))
    assert.is_nil(text:find("fill-opacity", 1, true))
  end)

  it("takes hostile text as text, wherever a run or sweep has text", function()
    for _, text in ipairs(HOSTILE) do
      local trial = reports.trial("rope", 1, "finished")
      local failed = reports.trial("rope", 2, "failed")
      trial.method, failed.method, trial.name = text, text, text
      failed.run.failure = text
      trial.run.samples.sampled = { { question = text, answer = text, text = text .. "x",
        solved = false }, { question = text, answer = text, text = text, solved = true } }
      trial.run.result.longer[1].name = text
      for _, part in ipairs({ trial.config, trial.run.provenance[1] }) do
        part.commit, part.rotate, part[text] = text, text, text
      end
      local view = reports.view({ trial, failed }, { text })
      view.sweep.experiment = text
      view.summary.notes = { text }
      view.summary.pairs = { { a = text, b = text, measure = view.summary.measure, n = 1,
        difference = 1, each = { 1 }, censored = 0, comparisons = 1, p = 1, corrected = 1,
        least = 1 } }
      local shown = reports.attention_map()
      shown.question, shown.answer, shown.tokens = text, text, { text, text, text, text, text }
      shown.rows[1].predicted = text:sub(1, 1)
      view.attention = { { trial = trial, map = shown }, { trial = failed, problem = text } }
      local whole = page.render(view)
      html.check(whole)
      assert.truthy(utf8.len(whole))
      assert.is_nil(whole:find("[%z\1-\8\11-\31]"))
      assert.equal(1, select(2, whole:gsub("<script", "")))
      for _, markup_of in ipairs({ "<img", "<!--", "alert(1)</script>" }) do
        assert.is_nil(whole:find(markup_of, 1, true))
      end
      assert.truthy(whole:find("<li>" .. markup.escape(text) .. "</li>", 1, true))
      assert.truthy(whole:find(">" .. markup.escape(text), 1, true))
    end
  end)

  it("draws one run, no run, and runs without finite numbers", function()
    -- A finished run also has accuracy by distance.
    local figures = { finished = 3, running = 2, failed = 2, waiting = 0 }
    for status, count in pairs(figures) do
      local text = page.render(reports.view({ reports.trial("rope", 1, status) }, { "rope" }))
      assert.equal(count, html.check(text).figure or 0)
      assert.truthy(text:find(("%d of 1 run finished"):format(status == "finished" and 1 or 0), 1,
                              true))
    end
    local trial = reports.trial("rope", 1, "finished")
    for _, entry in ipairs(trial.run.metrics) do
      entry.loss, entry.accuracy = core.json_null, 0 / 0
    end
    for _, name in ipairs({ "floor", "test_floor", "solved", "accuracy", "loss", "seconds",
      "last_half" }) do
      trial.run.result[name] = nil -- as `runs.read` gives what JSON has as null
    end
    local text = page.render(reports.view({ trial }, { "rope" }))
    html.check(text)
    assert.is_nil(text:find("nan", 1, true))
    assert.is_nil(text:find("userdata", 1, true))
  end)
end)
