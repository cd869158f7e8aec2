-- Texts of the study "Turned values and a short convolution", from its runs.
local families = require "families"
local markdown = require "markdown"

return function(study)
  local family = study.plan.families[1]
  local row = markdown.tests(study, family)[3]
  return {
    answers = { { "What do turned values give that a short convolution does not?",
      markdown.answer(families.tests(study, family)), row[3] } },
  }, {}
end
