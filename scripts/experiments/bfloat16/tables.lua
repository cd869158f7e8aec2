-- Texts of the study "Products in bfloat16", from its runs.
local families = require "families"
local markdown = require "markdown"

return function(study)
  local family = study.plan.families[1]
  local rows = markdown.tests(study, family)
  return {
    pairs = markdown.pairs(study, { "float32", "bfloat16" }),
    answers = { { "Does the loss on Index differ with products in bfloat16?",
      markdown.answer(families.tests(study, family)),
      ("bfloat16 − float32: RoPE %s, RoPER %s"):format(rows[1][3], rows[2][3]) } },
  }, {}
end
