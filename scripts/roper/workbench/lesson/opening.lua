--- The figure that opens the pages: that of the first step of a lesson, as its page shows it.
local core = require "roper.core"
local document = require "roper.text.document"
local html = require "roper.text.document.html"
local lessons = require "roper.workbench.lesson"
local markup = require "roper.text.markup"
local play = require "roper.workbench.lesson.play"
local show = require "roper.workbench.lesson.show"
local steps = require "roper.workbench.lesson.step"
local svg = require "roper.workbench.plot.svg"

local M = {}

--- The lesson of the figure.
M.LESSON = "ten-minutes"

--- The figure: the picture, and the interactive figure that takes its place.
---@return any nodes
---@return any style that the page needs
---@return any script
function M.figure()
  local step, scope = lessons.find(M.LESSON).steps[1], steps.scope()
  steps.prepare(step, scope)
  local figure = step.figure
  local style, script = play.assets { figure.play.kind }
  local caption = html.inline(document.prose(figure.play.caption))
  return { html.nodes(show.figure(figure, scope)), play.figure(figure.play, caption,
    steps.data(figure, scope)) }, { svg.style(), style }, script
end

--- The same as a JSON object of texts, for pages that are not made by this library.
---@return string json {figure, style, script}
function M.json()
  local figure, style, script = M.figure()
  return core.json_encode { figure = markup.render(figure), style = markup.render(style),
    script = markup.render(script) }
end

return M
