-- Texts and the figure of the study "How long does the lead last?", from its runs.
local curves = require "curves"
local families = require "families"
local markdown = require "markdown"
local number = require "roper.workbench.study.report.number"
local statistics = require "roper.tensor.statistics"

return function(study)
  local tested, described = table.unpack(study.plan.families)
  local change, last = markdown.tests(study, tested)[1], markdown.tests(study, described)[2]
  local test, long = families.tests(study, tested)[1], families.tests(study, described)[4]
  -- The last losses of seed 1 were known before the design.
  local unknown = { table.unpack(test.list, 2) }
  local p = number.probability(statistics.permutation_test(unknown))
  local answer = not test.corrected and "runs are missing"
    or test.corrected >= families.LEVEL and "cannot tell" or test.mean > 0 and "yes"
    or "no, it is larger"
  return {
    known = ([[
The earlier pair that the design names has the last losses of seed 1, in every digit given. So the
end of one of the six pairs was known beforehand. The %d others alone: %s, p = %s, the smallest p of
so many pairs.]]):format(#unknown, number.signed(statistics.mean(unknown), 4), p),
    answers = { { "On Prefix, is RoPER's lead smaller at the end than at a tenth of the steps?",
      answer, ("change of RoPER − RoPE, in loss: %s, p = %s, without a pair whose end was known "
        .. "%s; not tested: at the end %s, after 24,000 steps %s (pairs: %d)"):format(change[3],
        change[4], p, last[3], number.signed(long.mean, 4), long.n) } },
  }, { ["difference.svg"] = curves.draw({ ["RoPER − RoPE"] = curves.differences(study, "to_6000",
    { "rope", "roper" }) }, "difference of the test losses, nats per token") }
end
