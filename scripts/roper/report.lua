--- A report as one HTML page that needs nothing else: tables and pictures.
local folders = require "roper.folder"

local M = {}

local STYLE = [[
:root { color-scheme: light dark; --line: #8884; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
figure { margin: 1rem 0; background: #fff; padding: .5rem; }
figure svg { width: 100%; height: auto; }
pre { overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
]]

--- Text for HTML.
---@param text any
---@return string
function M.escape(text)
  return (tostring(text):gsub("[&<>\"']", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;",
    ['"'] = "&quot;", ["'"] = "&#39;" }))
end

--- Rows, of which the first is the head, as a table.
local function html_table(rows)
  local lines = { "<table>" }
  for i, row in ipairs(rows) do
    local cells, tag = {}, i == 1 and "th" or "td"
    for j, cell in ipairs(row) do
      cells[j] = ("<%s>%s</%s>"):format(tag, M.escape(cell), tag)
    end
    lines[#lines + 1] = "<tr>" .. table.concat(cells) .. "</tr>"
  end
  lines[#lines + 1] = "</table>"
  return table.concat(lines, "\n")
end

--- One row a run.
local function run_rows(results)
  local rows = { { "method", "seed", "correct", "accuracy", "loss", "steps to 90 %", "seconds" } }
  for _, r in ipairs(results) do
    rows[#rows + 1] = { r.method, r.seed, ("%d of %d"):format(r.solved, r.problems),
      ("%.3f"):format(r.accuracy), ("%.4f"):format(r.loss), r.steps_to_90 or "never",
      ("%.0f"):format(r.seconds) }
  end
  return rows
end

--- Only the picture of gnuplot's SVG file.
local function inline(svg)
  return (svg:gsub("^.-<svg", "<svg", 1))
end

--- Write the report of a study.
---@param path string
---@param study table title; identities, rows: tables as lists of rows; note: on the rows; results:
---   of the runs; pictures: series and options for `plot.line`
function M.write(path, study)
  local parts = {
    "<!doctype html>", '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    "<title>" .. M.escape(study.title) .. "</title>",
    "<style>" .. STYLE .. "</style></head><body>",
    "<h1>" .. M.escape(study.title) .. "</h1>",
    html_table(study.rows),
    "<p>" .. M.escape(study.note) .. "</p>",
  }
  for _, picture in ipairs(study.pictures) do
    parts[#parts + 1] = "<figure>"
      .. inline(require("roper.plot").line(picture.series, picture.options)) .. "</figure>"
  end
  parts[#parts + 1] = "<h2>Each run</h2>" .. html_table(run_rows(study.results))
  parts[#parts + 1] = "<h2>Rotation identities</h2>" .. html_table(study.identities)
  parts[#parts + 1] = "</body></html>\n"
  folders.write(path, table.concat(parts, "\n"))
end

return M
