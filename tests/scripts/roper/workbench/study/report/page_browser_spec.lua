local browser = require("tests.browser")
local html = require("tests.html")
local page = require("roper.workbench.study.report.page")
local reports = require("tests.reports")
local scratch = require("tests.scratch")
local tables = require("roper.base.tables")

local HOSTILE <const> = { "</title></style></script><script>x", "\"><img src=x onerror=x>" }

describe("the page in a browser", function()
  local path, reason = browser.find()
  local pages, documents = {}, nil

  -- All pages are loaded by one start of the browser.
  setup(function()
    if path then
      scratch.create()
      documents = browser.load_all(path, tables.map(pages, function(one)
        return { page.render(one.view), one.script, width = one.width }
      end))
      scratch.remove()
    end
  end)

  -- An `it` on the document of a view after a script: check(document, view).
  local function with_browser(name, one, check)
    pages[#pages + 1] = one
    local number = #pages
    it(name, function()
      if not path then
        pending(reason)
      end
      check(documents[number], one.view)
    end)
  end

  with_browser("has the numbers of the metrics and results", { view = reports.view() },
      function(document, view)
    local rows = html.rows(document, "runs")
    for i, trial in ipairs(view.sweep.trials) do
      local result = trial.run.result
      assert.equal(trial.method, rows[i + 1][1])
      assert.equal(tostring(trial.seed), rows[i + 1][2])
      assert.equal(result and result.solved, tonumber(rows[i + 1][5]))
      assert.equal(result and ("%.4f"):format(result.loss) or "–", rows[i + 1][8])
    end
    -- The lines of the figure on all losses.
    local figure = document:match("<b>Training loss</b>.-</div>")
    local lines = {}
    for tag in figure:gmatch('<path class="line[^>]*>') do
      local line = {}
      for step in tag:match('data%-x="([^"]*)"'):gmatch("%S+") do
        line[#line + 1] = { step = tonumber(step) }
      end
      local i = 0
      for loss in tag:match('data%-y="([^"]*)"'):gmatch("%S+") do
        i = i + 1
        line[i].loss = tonumber(loss)
      end
      lines[tag:match('data%-label="([^"]*)"')] = line
    end
    local compared = 0
    for _, trial in ipairs(view.sweep.trials) do
      for i, entry in ipairs(trial.run.metrics) do
        compared = compared + 1
        local point = lines[("%s, seed %d"):format(trial.method, trial.seed)][i]
        assert.equal(entry.step, point.step)
        assert.is_true(math.abs(entry.loss - point.loss) < 1e-5)
      end
    end
    assert.equal(10 + 10 + 10 + 6 + 4, compared)
  end)

  local mapped = reports.view()
  mapped.attention = { { trial = mapped.sweep.trials[1], map = reports.attention_map() } }
  with_browser("shows the value under the pointer", { view = mapped, script = [[
      const say = (id) => {
        const tip = document.getElementById("tip"), p = document.createElement("output");
        p.id = id; p.textContent = tip.hidden ? "hidden" : tip.textContent;
        document.body.append(p);
      };
      const named = (name) => [...document.querySelectorAll(".plot")].find(
        (plot) => plot.getAttribute("aria-label") === name);
      const loss = named("Training loss"), distance = named("Accuracy by distance");
      const move = (target, x, y, type = "pointermove") => target.dispatchEvent(
        new PointerEvent(type, { bubbles: true, clientX: x, clientY: y }));
      let box = loss.getBoundingClientRect();
      move(loss, box.left, box.top); say("first");
      move(loss, 0, 0, "pointerleave"); say("left");
      move(loss, box.right, box.bottom); say("last");
      box = distance.getBoundingClientRect();
      move(distance, box.right, box.bottom); say("distance");
      move(document.querySelector(".dot"), 5, 5); say("dot");
      move(document.querySelector(".matrix rect"), 5, 5); say("cell");
      move(document.querySelector(".matrix"), 5, 5); say("empty");
    ]] }, function(document)
    local function said(id)
      return document:match('<output id="' .. id .. '">(.-)</output>')
    end
    assert.equal("rope, seed 3\nstep 10: 1.453", said("first"))
    assert.equal("hidden", said("left"))
    assert.equal("roper, seed 1\nstep 100: 1.261", said("last"))
    assert.equal("rope, 2 runs\ntokens back to the source 7: 0 of 4", said("distance"))
    assert.equal("rope, seed 1: 61.0", said("dot"))
    assert.equal("0.875 on “a” at 0, 2 back, for “c”", said("cell"))
    assert.equal("hidden", said("empty"))
  end)

  with_browser("shows the value under the pointer on a logarithmic axis", {
    view = reports.lengths({ "rope", "roper" }, 6), script = [[
      const plot = [...document.querySelectorAll(".plot")].find(
        (plot) => plot.getAttribute("aria-label") === "Accuracy by length");
      const box = plot.getBoundingClientRect();
      plot.dispatchEvent(new PointerEvent("pointermove", { bubbles: true,
        clientX: box.left + 0.62 * box.width, clientY: box.top + 0.2 * box.height }));
      document.body.dataset.tip = document.getElementById("tip").textContent;]] },
      function(document)
    assert.truthy(document:find('data-tip="roper, mean of 6\ntimes the length in training 2: 0.73"',
      1, true), document:match('data%-tip="[^"]*"'))
  end)

  for number, text in ipairs(HOSTILE) do
    local trial = reports.trial("rope", 1, "finished")
    trial.method, trial.name, trial.config[text] = text, text, text
    with_browser("keeps hostile text as text, " .. number, {
      view = reports.view({ trial }, { text }), script = [[
        document.body.dataset.title = document.title;
        document.body.dataset.images = document.images.length;
        document.body.dataset.scripts = document.scripts.length;]] }, function(document)
      assert.truthy(document:find('data-images="0" data-scripts="3"', 1, true))
      local title = document:match('data%-title="([^"]*)"'):gsub("&quot;", '"'):gsub("&gt;", ">")
        :gsub("&lt;", "<")
      assert.equal("substring_index: " .. text .. " (mini)", title)
    end)
  end

  with_browser("fits a phone", { view = reports.view(), width = 390, script = [[
      document.body.dataset.wide = document.documentElement.scrollWidth <= innerWidth;
      const table = document.querySelector(".scroll"); // which shows by shadows that it scrolls
      document.body.dataset.scrolls = table.scrollWidth > table.clientWidth;
      document.body.dataset.shadows = getComputedStyle(table).backgroundAttachment;]] },
      function(document)
    assert.truthy(document:find('data-wide="true" data-scrolls="true" '
      .. 'data-shadows="local, local, scroll, scroll"', 1, true))
  end)

  with_browser("shows one view of the loss, and another on request, without a script", {
    view = reports.view(), script = [[
      const loss = document.getElementById("training-loss-1").parentNode;
      const seen = () => Array.from(loss.querySelectorAll(".choice"),
        (choice) => Number(choice.offsetHeight > 0)).join("");
      document.body.dataset.before = seen();
      document.querySelector("label[for=training-loss-4]").click();
      document.body.dataset.after = seen();]] }, function(document)
    assert.truthy(document:find('data-before="1000" data-after="0001"', 1, true))
  end)
end)
