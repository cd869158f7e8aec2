-- Texts and the figure of the study "How long does the lead last?", from its runs.
local curves = require "curves"
local markdown = require "markdown"

return function(study)
  local family = study.plan.families[1]
  local row = markdown.tests(study, family)[1]
  return {
    answers = { { "On Prefix, is RoPER's lead smaller at the end than at a tenth of the steps?",
      markdown.answer(study, family), row[3] } },
  }, { ["stopped.svg"] = curves.figure(study, "stopped", "training loss in nats per token") }
end
