local browser = require("tests.browser")
local core = require("roper.core")
local html = require("tests.html")
local metrics = require("roper.training.metrics")
local process = require("tests.process")
local report = require("roper.workbench.study.report")
local scratch = require("tests.scratch")
local uv = require("luv")

-- A real sweep, made once: two methods from two seeds, small and short.
describe("report", function()
  local folder, view

  setup(function()
    scratch.create()
    folder = scratch.path("sweep")
    local status, output, errors = process.run({ "./roper", "sweep", "substring_index",
      "position=rope,roper", "seed=1,2", "preset=smoke", "steps=10", "--folder", folder, "--jobs",
      "1" }, nil, { OPENBLAS_CORETYPE = false })
    assert(status == 0, output .. errors)
    view = report.read(folder)
    report.write(view)
  end)
  teardown(scratch.remove)

  local function write(options)
    local path = report.write(report.read(folder, options))
    local page = scratch.read(path)
    html.check(page)
    return page, path
  end

  -- Put other bytes in a file of a trial while f runs; nil removes it.
  local function with_file(trial, name, bytes, f)
    local path = trial.folder .. "/" .. name
    local before = scratch.read(path)
    local function put(content)
      os.remove(path)
      if content then
        local file <close> = assert(io.open(path, "wb"))
        file:write(content)
      end
    end
    put(bytes)
    local ok, message = pcall(f)
    put(before)
    assert(ok, message)
  end

  it("writes the page into the sweep's folder, over one that is there", function()
    local page, path = write()
    assert.equal(folder .. "/report.html", path)
    assert.equal(page, (write()))
    assert.equal(path, (report.write(report.read(folder .. "//"))))
    assert.truthy(page:find("4 of 4 runs finished.", 1, true))
    assert.truthy(page:find("<h1>substring_index: rope, roper (smoke)</h1>", 1, true))
  end)

  it("ignores invalid values in metrics and samples", function()
    local trial = view.sweep.trials[1]
    with_file(trial, "metrics.jsonl", '{"step": 10, "loss": "x", "accuracy": [1], '
      .. '"test_loss": null}\n', function()
      for _, samples in ipairs({ '{"sampled": 5}', '{"sampled": [5]}', '{"sampled": [{}]}' }) do
        with_file(trial, "samples.json", samples, function()
          assert.truthy(write():find("4 of 4 runs finished.", 1, true))
        end)
      end
    end)
    with_file(trial, "metrics.jsonl", "{}\n", function()
      local page = write()
      assert.truthy(page:find("3 of 4 runs finished, 1 failed.", 1, true))
      assert.truthy(page:find(trial.folder .. "/metrics.jsonl:1: expected a JSON object with a "
        .. "step, got {}", 1, true))
    end)
  end)

  browser.it("has the numbers of the files, as a browser reads them", function(path)
    local document = browser.load(path, (write()))
    local runs = document:match('<table class="runs">(.-)</table>')
    local losses = document:match("<b>Training loss</b>.-</figure>")
    for _, trial in ipairs(view.sweep.trials) do
      local result = core.json_decode(scratch.read(trial.folder .. "/result.json"))
      local row = ("<bdi>%s</bdi></th><td class=\"n\">%d</td>.-</tr>"):format(trial.method,
        trial.seed)
      local cells = {}
      for cell in runs:match(row):gmatch('<td class="n">([^<]*)</td>') do
        cells[#cells + 1] = cell
      end
      assert.equal(result.solved, math.tointeger(tonumber(cells[3])))
      assert.equal(result.solved_greedy, math.tointeger(tonumber(cells[4])))
      assert.equal(("%.4f"):format(result.accuracy), cells[5])
      assert.equal(("%.4f"):format(result.loss), cells[6])
      for _, entry in ipairs(metrics.read(trial.folder .. "/metrics.jsonl")) do
        assert.truthy(losses:find(('data-x="%d" data-y="%.6g"'):format(entry.step, entry.loss), 1,
                                  true))
      end
    end
    local summary = require("roper.workbench.study.report.summary").of(view.sweep)
    local spread = document:match('<table class="spread">(.-)</table>')
    for _, method in ipairs(summary.methods) do
      assert.truthy(spread:find(("<td class=\"n\">%d</td><td class=\"n\">%.1f</td>"):format(
        method.solved.n, method.solved.mean), 1, true))
    end
  end)

  it("draws a map of the last checkpoint for each method", function()
    assert.equal(2, #view.attention)
    for i, entry in ipairs(view.attention) do
      assert.equal(view.sweep.methods[i], entry.trial.method)
      assert.equal(view.attention[1].map.question, entry.map.question)
    end
    local page = write({ layer = 1, head = 2 })
    assert.truthy(page:find("layer 1, head 2", 1, true))
    assert.truthy(page:find("The head was chosen by an option.", 1, true))
    assert.error_matches(function() write({ head = 9 }) end,
                         "report: head: expected an integer from 1 to 2, got 9")
    assert.error_matches(function() write({ heads = 1 }) end, 'did you mean "head"')
  end)

  it("reports why there is no map if a checkpoint is cut or missing", function()
    local trial = view.sweep.trials[1]
    local whole = scratch.read(trial.folder .. "/checkpoint.safetensors")
    for _, bytes in ipairs({ "", whole:sub(1, 1000), false }) do
      with_file(trial, "checkpoint.safetensors", bytes or nil, function()
        assert.truthy(write():find("no attention map: [^<]*checkpoint.safetensors"))
      end)
    end
  end)

  it("counts a run with a torn or missing result as missing", function()
    local trial = view.sweep.trials[1]
    for _, bytes in ipairs({ "{", false }) do
      with_file(trial, "result.json", bytes or nil, function()
        local page = write()
        assert.truthy(page:find("3 of 4 runs finished, 1 stopped.", 1, true))
        assert.truthy(page:find("<li>rope: 1 of 2 runs are missing", 1, true))
      end)
    end
  end)

  it("draws the metrics of a killed run", function()
    local trial = view.sweep.trials[1]
    local lines = scratch.read(trial.folder .. "/metrics.jsonl")
    with_file(trial, "result.json", nil, function()
      for _, left in ipairs({ "", lines:sub(1, #lines // 2), '{"step": 10, "loss": null}\n' }) do
        with_file(trial, "metrics.jsonl", left, write)
      end
    end)
  end)

  it("accepts a single run", function()
    local run = scratch.path("lone")
    assert(os.execute(("cp -r '%s' '%s'"):format(view.sweep.trials[2].folder, run)))
    local status, output, errors = process.run({ "./roper", "report", run })
    assert.equal(0, status, errors)
    assert.truthy(output:find("\n  roper   1 of 1 ", 1, true), output)
    assert.truthy(output:find(("1 of 1 run finished."):format(run), 1,
                              true), output)
    local page = scratch.read(run .. "/report.html")
    html.check(page)
    assert.truthy(page:find("<h1>substring_index: roper (smoke)</h1>", 1, true))
    assert.truthy(page:find("roper, seed 1</bdi>: layer 1, head", 1, true))
    -- A run that was trained in Lua belongs to no experiment.
    scratch.write("lone/config.json", '{"config": {"batch": 4}}')
    assert.error_matches(function() report.read(run) end,
                         "expected the folder of a sweep, got .*/lone, which has no sweep.json$")
    local code, _, message = process.run({ "sh", "-c", ("cd '%s' && '%s' report ."):format(
      scratch.path("."), uv.fs_realpath("roper")) })
    assert.same({ 1, "roper: sweep: expected the folder of a sweep, got the current folder, which "
      .. "has no sweep.json; it contains the sweep sweep\n" }, { code, message })
  end)

  it("is a command that prints the table and the path", function()
    local status, output = process.run({ "./roper", "report", folder, "--layer", "1" })
    assert.equal(0, status)
    for _, part in ipairs({ "of 4", "rope", "roper", "95 % interval",
      "4 of 4 runs finished.", "\nReport: " .. folder .. "/report.html\n" }) do
      assert.truthy(output:find(part, 1, true), part)
    end
    local function refuses(arguments, code, message)
      local got, _, errors = process.run({ "./roper", "report", table.unpack(arguments) })
      assert.equal(code, got)
      assert.truthy(errors:find(message, 1, true), errors)
    end
    refuses({ scratch.path("none") }, 1, "sweep: there is no folder " .. scratch.path("none"))
    refuses({ folder, "--head", "0" }, 2, "--head: expected ")
    refuses({ folder, "--problem", "5" }, 1,
            "report: problem: expected an integer from 1 to 4, got 5")
    assert.equal(0, (process.run({ "./roper", "report", folder, "--problem", "4" })))
    refuses({ folder, "--problem", "x" }, 2, "--problem: expected ")
    status, output = process.run({ "./roper", "report", folder, "--baseline", "roper" })
    assert.equal(0, status)
    assert.truthy(output:find("correct, rope − roper ", 1, true), output)
    assert.falsy(output:find("roper − rope ", 1, true), output)
    local data = scratch.path("data")
    status, output = process.run({ "./roper", "report", folder, "--csv", data, "--method", "rope" })
    assert.equal(0, status)
    assert.truthy(output:find(("\nCSV: %s, 9 files\n"):format(data), 1, true), output)
    assert.equal(1 + 2, select(2, scratch.read(data .. "/results.csv"):gsub("\n", "")))
    scratch.write("data/results.csv", "mine")
    refuses({ folder, "--csv", data }, 1, "data already contains results.csv, which no report has")
    assert.equal("mine", scratch.read(data .. "/results.csv"))
    local paper = scratch.path("paper")
    status, output = process.run({ "./roper", "report", folder, "--latex", paper })
    assert.equal(0, status)
    local line = ("\nLaTeX: %s, 12 files; report.tex shows them all\n"):format(paper)
    assert.truthy(output:find(line, 1, true), output)
    assert.truthy(scratch.read(paper .. "/report.tex"):find("\\input{table-results}", 1, true))
    refuses({ folder, "--method", "rop" }, 1, 'report: no method "rop"; did you mean "rope"?')
    refuses({ folder, "--baseline", "rop" }, 1, 'report: no method "rop"; did you mean "rope"?')
    refuses({}, 2, "missing argument 'sweep'")
  end)
end)
