-- Texts of the study "Products in bfloat16", from its runs.
local markdown = require "markdown"

return function(study)
  local family = study.plan.families[1]
  local rows = markdown.tests(study, family)
  return {
    pairs = markdown.pairs(study, { "float32", "bfloat16" }),
    answers = { { "Do models train as well with products in bfloat16?",
      markdown.answer(study, family), ("loss on Index: RoPE %s, RoPER %s"):format(rows[1][3],
      rows[2][3]) } },
  }, {}
end
