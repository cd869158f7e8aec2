--- `roper report`: prints the table of a sweep and writes its report.
local arguments = require "roper.workbench.session.command.arguments"
local escape = require "roper.base.escape"

return {
  summary = "Print the table of a sweep and write its report as a page.",
  define = function(command)
    command:argument("sweep"):argname("SWEEP"):description "The folder of a sweep, or of a run."
    arguments.define_options(command, "ReportOptions", { "layer", "head", "problem",
      { "baseline", "METHOD" } })
    command:option("--csv"):argname("DIR")
      :description "Also write results, metrics, configurations and differences as CSV files."
    command:option("--latex"):argname("DIR")
      :description "Also write tables (booktabs) and figures (PDF) for LaTeX."
    command:option("--method"):argname("METHOD"):count("*")
      :description "Show only this method; can be repeated. Colours and marks stay the same."
    arguments.define_options(command, "ReportOptions", { { "select", "FIELD" } })
  end,
  run = function(parsed)
    local report = require "roper.workbench.study.report"
    local view = report.read(parsed.sweep, { layer = parsed.layer, head = parsed.head,
      problem = parsed.problem, baseline = parsed.baseline,
      methods = parsed.method[1] and parsed.method, select = parsed.select })
    local path = report.write(view)
    local count = parsed.csv and report.write_csv(view, parsed.csv)
    local tex_count = parsed.latex and report.write_latex(view, parsed.latex)
    io.stdout:write(report.text(view), "\nReport: ", escape.line(path), "\n")
    for _, text in ipairs(view.failed or {}) do
      io.stdout:write("Not drawn: ", escape.line(text), "\n")
    end
    if count then
      io.stdout:write("CSV: ", escape.line(parsed.csv), ", ", escape.count(count, "file"), "\n")
    end
    if tex_count then
      io.stdout:write("LaTeX: ", escape.line(parsed.latex), ", ", escape.count(tex_count, "file"),
        "; report.tex shows them all\n")
    end
  end,
}
