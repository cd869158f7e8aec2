-- Texts of the study "Position schemes side by side", from its runs.
local markdown = require "markdown"
local families = require "families"
local tables = require "roper.base.tables"

local TITLES <const> = { copy = "Copy", recall = "Recall", substring_index = "Index",
  substring_prefix = "Prefix" }

return function(study)
  local columns, seeds = {}, {}
  for _, sweep in ipairs(study.plan.sweeps) do
    for _, one in ipairs { { "× 1", "at_1" }, { "beyond, × 2", "beyond_2" } } do
      columns[#columns + 1] = { title = ("%s %s"):format(TITLES[sweep.name], one[1]),
        sweeps = { sweep.name }, measures = { one[2] } }
    end
    seeds[#seeds + 1] = ("%s %d"):format(TITLES[sweep.name], tables.count(families.values(study,
      sweep.name, "rope", { "at_1" })))
  end
  local signs = families.signs(study, study.plan.schemes, columns, "rope")
  local seeds_of_all = ("p < 0.05 over 11 seeds of each task, corrected for %d schemes, not for "
    .. "tasks and measures"):format(#study.plan.schemes - 1)
  return {
    schemes = markdown.methods(study, study.plan.schemes, columns, signs),
    answers = { { "Which position schemes differ from RoPE on four tasks?",
      markdown.differing(columns, signs), next(study.incomplete)
        and "seeds so far: " .. table.concat(seeds, ", ") or seeds_of_all } },
  }, {}
end
