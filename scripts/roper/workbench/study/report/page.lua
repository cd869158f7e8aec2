--- The page of a report: its sections with headings, style and script in one file.
local attempt = require "roper.workbench.study.report.attempt"
local curve = require "roper.workbench.study.report.curve"
local html = require "roper.text.document.html"
local markup = require "roper.text.markup"
local svg = require "roper.workbench.plot.svg"
local h = markup.h

local M = {}

-- The sections in their order: modules, each a function of the view that returns a tree, or nil if
-- the section is empty; and their headings.
local SECTIONS <const> = {
  { "results" },
  { "rates", "Best values" },
  { "published" },
  { "spread", "Seed by seed" },
  { "training", "Curves" },
  { "distance", "Distance and length" },
  { "heads", "Attention maps" },
  { "inside", "Heads" },
  { "samples", "Samples" },
  { "runs", "Every run" },
  { "configuration", "Configuration" },
}

local function sections(view)
  local nodes = {}
  for i, entry in ipairs(SECTIONS) do
    local body = attempt.draw(view, entry[2] or "Results", function()
      local tree = require("roper.workbench.study.report." .. entry[1])(view)
      return tree and { html.nodes(tree) }
    end)
    nodes[i] = body and h.section { entry[2] and h.h2 { entry[2] }, html.nodes(body) } or false
  end
  return nodes
end

--- The title of the page.
function M.title(view)
  local preset, methods = view.sweep.trials[1].config.preset, view.sweep.methods
  return ("%s: %s"):format(view.sweep.experiment, #methods > curve.MANY and #methods .. " methods"
    or table.concat(methods, ", "))
    .. (preset and (" (%s)"):format(preset) or "")
end

--- The page as HTML.
---@param view table sweep, from `sweep.read`; summary, from `summary.of`; attention: a list of
---   {trial, map} or {trial, problem: why there is none}; chosen: true if an option selects the
---   head
---@return string html
function M.render(view)
  local title = M.title(view)
  return markup.document(title, { markup.asset "workbench/study/report/page.css", svg.style() }, {
    h.main { h.h1 { title }, sections(view) },
    h.div { id = "tip", role = "status", hidden = true },
    h.script { markup.asset "workbench/study/report/page.js" },
  })
end

return M
