-- Texts and the figure of the study "RoPE and RoPER, in pairs", from its runs.
local curves = require "curves"
local families = require "families"
local markdown = require "markdown"

return function(study)
  local family = study.plan.families[1]
  local rows = markdown.tests(study, family)
  return {
    pairs = markdown.pairs(study, { "RoPE", "RoPER" }),
    answers = { { "What is higher or lower with RoPER than with RoPE on the RoPER study's tasks?",
      markdown.answer(families.tests(study, family)),
      ("steps to 90 %% on Index: %s, p = %s; loss on Prefix: %s, p = %s"):format(rows[1][3],
        rows[1][4], rows[4][3], rows[4][4]), is_headline = true } },
  }, { ["prefix.svg"] = curves.figure(study, "prefix", "loss in nats per token") }
end
