-- Texts and the figure of the study "How long does the lead last?", from its runs.
local curves = require "curves"
local families = require "families"
local markdown = require "markdown"

return function(study)
  local tested, described = table.unpack(study.plan.families)
  local change, last = markdown.tests(study, tested)[1], markdown.tests(study, described)[2]
  local test = families.tests(study, tested)[1]
  local answer = not test.corrected and "runs are missing"
    or test.corrected >= families.LEVEL and "cannot tell" or test.mean > 0 and "yes"
    or "no, it is larger"
  return {
    answers = { { "On Prefix, is RoPER's lead smaller at the end than at a tenth of the steps?",
      answer, ("change of RoPER − RoPE, in loss: %s, p = %s; at the end %s"):format(change[3],
        change[4], last[3]) } },
  }, { ["difference.svg"] = curves.draw({ ["RoPER − RoPE"] = curves.differences(study, "to_6000",
    { "rope", "roper" }) }, "difference of the test losses, nats per token") }
end
