-- The report as LaTeX: texts, tables, figures, and that they compile if a TeX engine is installed.
local output = require("roper.workbench.plot.output")
local paper = require("roper.workbench.study.report.paper")
local process = require("tests.process")
local report = require("roper.workbench.study.report")
local reports = require("tests.reports")
local scratch = require("tests.scratch")
local svg = require("roper.workbench.plot.svg")
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
  local show = output.show
  before_each(function() output.show = function() return "%PDF" end end) -- faster
  after_each(function() output.show = show end)

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

  it("draws means and bands as PDF", function()
    local pictures, render = {}, svg.render
    finally(function() svg.render = render end)
    output.show = show
    svg.render = function(figure)
      pictures[figure.ylabel .. " by " .. figure.xlabel] = render(figure)
      return render(figure)
    end
    local view = reports.lengths({ "rope", "roper" }, 6)
    view.sweep.trials[2].run.result.longer[1].accuracy = nil
    local files = paper.files(reports.view(view.sweep.trials))
    assert.equal("%PDF", files["figure-accuracy-by-length.pdf"]:sub(1, 4))
    local picture = pictures["accuracy by times the length in training"]
    for _, part in ipairs({ 'class="band', ">rope<", ">8<" }) do
      assert.truthy(picture:find(part, 1, true), part)
    end
    assert.truthy(files["report.tex"]:find("Band: 95 \\% interval of this mean", 1, true))
  end)

  it("names the figures that could not be drawn", function()
    output.show = function() error("report: rsvg-convert is not installed", 0) end
    local view = reports.lengths({ "rope", "roper" }, 6)
    local files = paper.files(view)
    assert.is_nil(files["figure-accuracy-by-length.pdf"])
    assert.truthy(files["report.tex"]:find("Accuracy by length could not be drawn: [^\n]*"
      .. "rsvg%-convert is not installed\n"))
    assert.truthy(view.failed[1]:find("^Accuracy by length: .*rsvg%-convert is not installed$"))
  end)

  it("is complete and well-formed with hostile names and many methods", function()
    local methods = { HOSTILE, "roper" }
    for i = 3, 25 do
      methods[i] = "m" .. i
    end
    local files = paper.files(reports.lengths(methods, 2))
    local floats = {}
    for command, name in files["report.tex"]:gmatch("\\(in%l+)[^{}\n]*{([%w-]+)}") do
      floats[name .. (command == "input" and ".tex" or ".pdf")] = true
    end
    for name in pairs(floats) do
      assert.truthy(files[name], name)
      check(name:find("%.tex$") and files[name] or "")
    end
    check(files["report.tex"])
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
    local status, printed = process.run({ "sh", "-c",
      ("cd '%s' && pdflatex -interaction=nonstopmode -halt-on-error report.tex"):format(folder) })
    assert.equal(0, status, printed)
  end)
end)
