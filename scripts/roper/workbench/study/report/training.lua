--- Curves of training: measures, their differences and the loss over the steps.
local attempt = require "roper.workbench.study.report.attempt"
local chart = require "roper.workbench.study.report.chart"
local figures = require "roper.workbench.study.report.figures"
local tables = require "roper.base.tables"

return function(view)
  local list = tables.map(figures.training(view), function(figure)
    return attempt.draw(view, figure.title, chart.figure, figure)
  end)
  return #list > 0 and list or "No run has metrics yet."
end
