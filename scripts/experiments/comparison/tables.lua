-- Texts and the figure of the study "Position schemes side by side", from its runs.
local by_length = require "by_length"
local families = require "families"
local markdown = require "markdown"
local tables = require "roper.base.tables"

local TITLES <const> = { copy = "Copy", recall = "Recall", substring_index = "Index",
  substring_prefix = "Prefix" }

-- Accuracy against length: RoPE, and the schemes that are above it in at least two columns.
local function figure(study, signs)
  local lines = tables.map(study.plan.schemes, function(scheme)
    local above = 0
    for _, column in ipairs(signs) do
      above = above + (column and column[scheme] == 1 and 1 or 0)
    end
    return (scheme == "rope" or above > 1) and { label = scheme, methods = { scheme } } or nil
  end)
  return by_length.draw(study, tables.map(study.plan.sweeps, function(sweep)
    return sweep.name
  end), lines, "accuracy, mean of four tasks")
end

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
  }, { ["lengths.svg"] = figure(study, signs) }
end
