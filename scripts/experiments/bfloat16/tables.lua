-- Texts and the figure of the study "Products in bfloat16", from its runs.
local families = require "families"
local markdown = require "markdown"
local plot = require "roper.workbench.plot"
local tables = require "roper.base.tables"

-- The losses of both precisions on Index, a point for each pair of runs; both axes are the same.
local function figure(tests)
  local all = tables.joined(tests[1].a, tests[1].b, tests[2].a, tests[2].b)
  local range = { math.floor(10 * math.min(table.unpack(all))) / 10,
    math.ceil(10 * math.max(table.unpack(all))) / 10 }
  return plot.scatter({ { x = tests[1].a, y = tests[1].b, label = "RoPE" },
    { x = tests[2].a, y = tests[2].b, label = "RoPER" } }, { xrange = range, yrange = range,
    xlabel = "loss in float32", ylabel = "loss in bfloat16", format = "svg" })
end

return function(study)
  local family = study.plan.families[1]
  local tests = families.tests(study, family)
  local rows = markdown.tests(study, family)
  return {
    pairs = markdown.pairs(study, { "float32", "bfloat16" }),
    answers = { { "Does the loss on Index differ with products in bfloat16?",
      markdown.answer(tests),
      ("bfloat16 − float32: RoPE %s, RoPER %s"):format(rows[1][3], rows[2][3]) } },
  }, { ["index.svg"] = figure(tests) }
end
