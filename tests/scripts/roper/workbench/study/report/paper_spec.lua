-- The report as LaTeX: texts, tables, figures, and that they compile if a TeX engine is installed.
local paper = require("roper.workbench.study.report.paper")
local process = require("tests.process")
local report = require("roper.workbench.study.report")
local reports = require("tests.reports")
local scratch = require("tests.scratch")
local tex = require("roper.workbench.study.report.tex")

local HOSTILE <const> = "a_b 50% $x$ #1 & {k}~^\\ <é>|\"'`[1]*--x λ"

-- The environments that are open at the end of a text; raises an error if one closes another.
local function check(text)
  local open = {}
  for kind, name in text:gmatch("\\(%a+){([%a*]+)}") do
    if kind == "begin" then
      open[#open + 1] = name
    elseif kind == "end" then
      assert.equal(table.remove(open), name)
    end
  end
  assert.same({}, open)
  local depth = 0
  for brace in text:gsub("\\[\\{}%%]", ""):gmatch("[{}]") do
    depth = depth + (brace == "{" and 1 or -1)
    assert.is_true(depth >= 0)
  end
  assert.equal(0, depth)
end

-- The coordinates of each \addplot that matches a pattern.
local function plots(text, pattern)
  local list = {}
  for options, body in text:gmatch("\\addplot%[([^\n]*)%] coordinates {\n([^\n]*)\n}") do
    list[#list + 1] = options:find(pattern) and body or nil
  end
  return list
end

describe("tex.escape", function()
  it("prints every character as itself", function()
    assert.equal("a\\_b 50\\% \\symbol{36} \\# \\& \\{x\\} \\textasciitilde{}\\textasciicircum{}"
      .. "\\textbackslash{} {[}1{]} é -{}-{}c {[}U+03BB{]} $-$1 $\\pm$ 2~m",
      tex.escape("a_b 50% $ # & {x} ~^\\ [1] é --c λ −1 ± 2\u{A0}m"))
    assert.equal("\\textbackslash{}x1B\\textbackslash{}n\\textbackslash{}xFF",
      tex.escape("\27\n\xFF"))
  end)
end)

describe("paper.files", function()
  it("has a table of the results as the page shows them", function()
    local files = paper.files(reports.view())
    assert.equal([[
% Written by roper report. A changed file is not overwritten.
\begin{tabular}{@{}lrrrrr@{}}
\toprule
method & runs & correct of 128 & loss & floor & steps to 90 \% \\
\midrule
rope & 2 of 3 & 61.5 $\pm$ 0.5 & 1.2850 $\pm$ 0.0050 & 1.2701 & \textgreater{} 100 (0/2) \\
roper & 1 of 3 & 91.0 & 1.2900 & 1.2701 & 80 (1/1) \\
\bottomrule
\end{tabular}
]], files["table-results.tex"])
    assert.truthy(files["report.tex"]:find("roper: 2 of 3 runs are missing (1 running, 1 waiting).",
      1, true))
    assert.truthy(files["table-differences.tex"]:find(
      "correct, roper $-$ rope & 1 & +30.0 & \\textendash{} & 1.000 \\\\", 1, true))
    assert.truthy(files["table-configuration.tex"]:find("d\\_model & 128 \\\\", 1, true))
  end)

  it("draws means and bands in the colours and marks of the page", function()
    local view = reports.lengths({ "rope", "roper" }, 6)
    view.sweep.trials[2].run.result.longer[1].accuracy = nil
    local picture = paper.files(reports.view(view.sweep.trials))["figure-accuracy-by-length.tex"]
    assert.truthy(picture:find("xmode=log", 1, true))
    assert.truthy(picture:find("xtick={1,2,8}, xticklabels={1,2,8}", 1, true))
    assert.truthy(picture:find("ymin=0, ymax=1", 1, true))
    assert.same({ "(1,0.935) (2,0.72) (8,0.52)" }, plots(picture, "^roper%-s1, mark=%*,"))
    assert.equal(1, #plots(picture, "^roper%-s2, mark=square%*,"))
    assert.same({ "(1,0.91) (2,0.71) (8,0.51) (8,0.53) (2,0.73) (1,0.96)" },
      plots(picture, "fill=roper%-s1"))
    assert.truthy(picture:find("\\addlegendentry{rope}", 1, true))
    local whole = paper.files(reports.view(view.sweep.trials))["report.tex"]
    assert.truthy(whole:find("Band: 95 \\% interval of this mean", 1, true))
  end)

  it("interrupts lines and bands at missing values", function()
    local view = reports.lengths({ "rope", "roper" }, 6)
    view.sweep.trials[1].run.metrics[4].accuracy = 0 / 0 -- at step 40
    local picture = paper.files(view)["figure-accuracy.tex"]
    assert.truthy(plots(picture, "^roper%-s1, mark")[1]:find("(40,nan)", 1, true))
    local bands = plots(picture, "fill=roper%-s1")
    assert.equal(1, #bands) -- the single point before the gap has no area
    assert.truthy(bands[1]:find("^%(60,"))
    assert.equal(1, #plots(picture, "fill=roper%-s2"))
  end)

  it("is complete and well-formed with hostile names and many methods", function()
    local methods = { HOSTILE, "roper" }
    for i = 3, 25 do
      methods[i] = "m" .. i
    end
    local files = paper.files(reports.lengths(methods, 2))
    for _, text in pairs(files) do
      check(text)
    end
    local floats = {}
    for name in files["report.tex"]:gmatch("\\input{([%w-]+)}") do
      assert.truthy(files[name .. ".tex"], name)
      floats[name .. ".tex"] = true
    end
    for name in pairs(files) do
      assert.truthy(floats[name] or name == "report.tex", name)
    end
    -- 300 differences do not fit on a page; those from a baseline do.
    assert.is_nil(files["table-differences.tex"])
    assert.truthy(files["report.tex"]:find("300 differences are left out", 1, true))
    local view = report.of(reports.lengths(methods, 2).sweep, { baseline = "roper" })
    local differences = paper.files(view)["table-differences.tex"]
    assert.equal(24, select(2, differences:gsub(" %$%-%$ roper &", "")))
  end)
end)

describe("report.tex", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("compiles", function()
    local reason = process.missing("pdflatex")
    if reason then
      return pending(reason)
    end
    local folder = scratch.path("paper")
    report.write_latex(reports.lengths({ HOSTILE, "roper", "none" }, 6), folder)
    local status, output = process.run({ "sh", "-c",
      ("cd '%s' && pdflatex -interaction=nonstopmode -halt-on-error report.tex"):format(folder) })
    assert.equal(0, status, output)
  end)
end)
