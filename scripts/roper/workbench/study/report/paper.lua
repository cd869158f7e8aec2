--- The report as LaTeX: `./roper report SWEEP --latex DIR`. Tables and figures (PDF) are files of
--- their own; report.tex shows them all, with captions.
local attempt = require "roper.workbench.study.report.attempt"
local chart = require "roper.workbench.study.report.chart"
local comparison = require "roper.workbench.study.report.comparison"
local configuration = require "roper.workbench.study.experiment.configuration"
local d = require "roper.text.document"
local figures = require "roper.workbench.study.report.figures"
local number = require "roper.workbench.study.report.number"
local output = require "roper.workbench.plot.output"
local tables = require "roper.base.tables"
local tex = require "roper.workbench.study.report.tex"

local M = {}

local HEAD <const> = "% Written by roper report. A changed file is not overwritten.\n"

local WIDTH <const>, HEIGHT <const> = 460, 320 -- of a figure, in pixels

-- Maximum number of differences in a table, which cannot continue on another page.
local MOST_ROWS <const> = 45

-- If a value of the configuration is longer, its column wraps.
local LONG <const> = 60

-- Returns all tables of a tree, in order.
local function tables_in(tree)
  if type(tree) ~= "table" or getmetatable(tree) then
    return {}
  elseif tree.kind then
    return tree.kind == "table" and { tree } or {}
  end
  return tables.joined({}, table.unpack(tables.map(tables.entries(tree), tables_in)))
end

-- The values of each field of the configurations, as a table.
local function settings(sweep)
  local configs = tables.map(sweep.trials, function(trial) return trial.config end)
  local varied, common = configuration.fields(configs)
  local rows, is_long = {}, false
  for _, name in ipairs(tables.joined(varied, common)) do
    local values, seen = {}, {}
    for _, config in ipairs(configs) do
      local value = number.setting(config[name])
      values[#values + 1] = not seen[value] and value or nil
      seen[value] = true
    end
    local text = table.concat(values, ", ")
    is_long = is_long or #text > LONG
    rows[#rows + 1] = text ~= number.NONE and { name, text } or nil
  end
  return d.table { rows = rows, head = { "setting", "value" },
    columns = { "l", is_long and "p{.6\\linewidth}" or "l" } }
end

-- Returns a float. The caption of a table is above it.
local function float(kind, name, content, caption)
  local is_figure = kind == "figure"
  caption = ("\\caption{%s}\\label{%s:%s}\n"):format(caption, is_figure and "fig" or "tab", name)
  return ("\\begin{%s}[tbp]\n\\centering\n%s%s\n%s\\end{%s}\n"):format(kind, is_figure and ""
    or caption .. "\\smallskip\\small\n", content, is_figure and caption or "", kind)
end

-- Returns the differences that fit on a page: in the most important measures, or in the main one,
-- or none. Also returns the number of differences in the main measure.
local function differences(summary)
  local count
  for _, is_shown in ipairs {
    function(measure) return measure.is_brief end,
    function(measure) return measure == summary.measure end } do
    local list = tables.map(summary.pairs, function(pair)
      return pair.n > 0 and is_shown(pair.measure) and pair or nil
    end)
    count = #list
    if count <= MOST_ROWS then
      return list, count
    end
  end
  return {}, count
end

-- Adds the tables of a view to the files, and their floats to a list.
local function add_tables(view, files, floats)
  local summary = view.summary
  local function add(name, node, caption)
    files[name .. ".tex"] = HEAD .. tex.table(node)
    floats[#floats + 1] = float("table*", name, ("\\input{%s}"):format(name),
      tex.inline(caption))
  end
  local results = tables.entries(require "roper.workbench.study.report.results"(view))
  for _, node in ipairs(results) do
    if node.class == "stale" then
      table.insert(floats, tex.inline(node.text) .. "\n\n")
    end
  end
  add("table-results", tables_in(results)[1],
    "Means over the finished runs. ±: standard error over the runs.")
  local shown, count = differences(summary)
  local compared = comparison.table(shown, true, true)
  if #shown < count then
    table.insert(floats, 1, tex.inline(("%d differences are left out, because they do not fit on a "
      .. "page; --baseline METHOD compares all methods with one."):format(count)) .. "\n\n")
  end
  if compared then
    add("table-differences", compared, { "Mean differences over pairs of runs of the same seed. ",
      comparison.legend(summary).text })
  end
  for _, node in ipairs(tables_in(require "roper.workbench.study.report.lengths"(view) or {})) do
    local name = node.caption:lower():gsub("%W+", "-")
    add("table-" .. name, node, { node.caption, ". ±: standard error over the runs." })
  end
  add("table-configuration", settings(view.sweep), "Configuration of the runs.")
end

-- Draws a part of a figure, the means of methods with their bands, as PDF. Returns nil if no run
-- has finished.
local function pdf_of(figure, part)
  local data = chart.data(tables.merged(figure, { lines = part.means, title = "" }))
  return data and output.show(tables.merged(data, { name = "report", width = WIDTH,
    height = HEIGHT }), nil, "pdf")
end

-- Adds the figures of a view to the files, and their floats to a list.
local function add_figures(view, files, floats)
  for _, figure in ipairs(tables.joined(figures.lengths(view), figures.training(view))) do
    for i, part in ipairs(figure.parts) do
      local name = "figure-" .. figure.name .. (i > 1 and "-" .. part.name:gsub(" ", "-") or "")
      local pdf = attempt.draw(view, figure.title, pdf_of, figure, part)
      if type(pdf) == "string" then
        files[name .. ".pdf"] = pdf
        floats[#floats + 1] = float("figure", name, ("\\includegraphics[width=\\linewidth]{%s}")
          :format(name), tex.inline { figure.title, part.name and { ", ", part.name } or "", ". ",
          part.note, figure.level and { " Dashed: ", figure.level.text, "." } or "" })
      elseif pdf then
        floats[#floats + 1] = tex.inline(pdf.text) .. "\n\n"
      end
    end
  end
end

--- Returns the files of a report.
---@param view table from `report.of`
---@return table<string, string> files content by name
function M.files(view)
  local files, floats = {}, {}
  add_tables(view, files, floats)
  add_figures(view, files, floats)
  files["report.tex"] = table.concat { HEAD, "\\documentclass[twocolumn]{article}\n",
    "\\usepackage{booktabs,graphicx}\n\\extrafloats{40}\n\\begin{document}\n\\section*{",
    tex.escape(require("roper.workbench.study.report.page").title(view)), "}\n",
    tex.inline(require("roper.workbench.study.report.headline").of(view.summary)), "\n\n",
    table.concat(tables.map(view.summary.notes, function(note)
      return tex.inline(note) .. ".\n\n"
    end)), table.concat(floats), "\\end{document}\n" }
  return files
end

return M
