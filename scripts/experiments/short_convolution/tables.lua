-- Texts and the figure of the study "Turned values and a short convolution", from its runs.
local by_length = require "by_length"
local families = require "families"
local markdown = require "markdown"
local number = require "roper.workbench.study.report.number"
local statistics = require "roper.tensor.statistics"
local studies = require "studies"
local tables = require "roper.base.tables"

local TITLES <const> = { recall = "Recall", copy = "Copy", prefix = "Prefix",
  selective_copy = "Selective copy", s3 = "S3", a5 = "A5" }

local ORDINALS <const> = { "first", "second", "third", "fourth" }

-- The methods of the pairs with one width of the convolution: the first ones, or the second.
local function side(study, width, which)
  return tables.map(study.plan.turned(width), function(pair) return pair[which] end)
end

-- Accuracy against length, without and with the convolution: with turned values and output, and
-- without.
local function figure(study, names)
  local lines = {}
  for _, one in ipairs { { "0", "no convolution" }, { "4", "convolution of width 4" } } do
    for i = 1, 2 do
      lines[#lines + 1] = { label = one[2], dashed = i == 1, methods = side(study, one[1], i) }
    end
  end
  return by_length.draw(study, names, lines, "accuracy, mean of schemes and tasks")
end

-- The four tests on some of the tasks only.
local function tests_on(study, names, correction)
  local family = study.plan.families[1]
  return families.tests(study, tables.merged(family, { correction = correction,
    tests = tables.map(family.tests, function(test)
      return tables.merged(test, { sweeps = names })
    end) }))
end

-- "+0.078 (+0.038 to +0.109), p = 0.023"; without p if it was not tested.
local function tested(test)
  return markdown.difference(test, 3)
    .. (test.corrected and ", p = " .. number.probability(test.corrected) or "")
end

-- The tests that have another answer without one of the tasks, each with that task.
local function depending_on_a_task(study, names, tests)
  local list = {}
  for _, name in ipairs(names) do
    local others = tables.map(names, function(other)
      return other ~= name and other or nil
    end)
    for i, test in ipairs(tests[1].corrected and tests_on(study, others, "holm") or {}) do
      local answer = markdown.answer { test }
      list[#list + 1] = answer ~= markdown.answer { tests[i] } and { task = TITLES[name],
        which = ORDINALS[i], answer = answer, effect = tested(test) } or nil
    end
  end
  return list
end

-- A column for each of the four differences: of all tasks, with interval and p; beyond the trained
-- size; and of each task with its standard error.
local function differences(study, names, tests)
  local function row(title, list, text_of)
    return tables.joined({ title }, tables.map(list, text_of))
  end
  local rows = { row("all tasks", tests, tested),
    row("beyond the trained size, not tested", families.tests(study, study.plan.families[2]),
      tested) }
  for _, name in ipairs(names) do
    rows[#rows + 1] = row(TITLES[name], tests_on(study, { name }, "none"), function(test)
      return number.signed(test.mean, 3) .. (test.mean and " ± "
        .. number.fixed(statistics.standard_error(test.list), 3) or "")
    end)
  end
  return markdown.table(row("", tests, function(test) return test.name end), rows)
end

-- A row for each scheme: "0.67 → 1.00", the mean accuracies without and with the convolution.
local function schemes(study, columns)
  local rows = {}
  for _, position in ipairs(study.plan.sweeps[1].position) do
    local function mean(width, column)
      return number.fixed(statistics.mean(families.means(study,
        { { position = position, short_convolution = width } }, column)), 2)
    end
    rows[#rows + 1] = tables.joined({ ("`%s`"):format(position) },
      tables.map(columns, function(one)
        return ("%s → %s"):format(mean("0", one), mean("4", one))
      end))
  end
  return markdown.table(tables.joined({ "scheme" }, tables.map(columns, function(one)
    return one.title
  end)), rows)
end

-- The accuracies of all runs of some methods on a task at the trained length.
local function accuracies(study, task, methods)
  local list = {}
  for _, method in ipairs(methods) do
    list = tables.joined(list, families.means(study, { method },
      { sweeps = { task }, measures = { "at_1" } }))
  end
  return list
end

-- How many choices the rule for ties has changed.
local function changed_by_ties(study)
  local count = 0
  for _, sweep in ipairs(study.plan.sweeps) do
    local smallest = studies.chosen(study, tables.merged(sweep,
      { choose = tables.merged(sweep.choose, { ties = false }) }))
    for method, value in pairs(studies.chosen(study, sweep)) do
      count = count + (value ~= smallest[method] and 1 or 0)
    end
  end
  return count
end

-- Says how many of some accuracies are below 0.9.
local function low(list)
  return ("%d of %d"):format(#tables.map(list, function(value)
    return value < 0.9 and value or nil
  end), #list)
end

local function checks(study, depending)
  local all, ends = studies.chosen_ends(study, study.plan.sweeps)
  local without, turned = side(study, "0", 1), side(study, "0", 2)
  local convolved = tables.joined(side(study, "4", 1), side(study, "4", 2))
  local on_recall = accuracies(study, "recall", convolved)
  local on_a5 = accuracies(study, "a5", tables.joined(without, turned, convolved))
  local others = depending[1] and table.concat(tables.map(depending, function(one)
    return ("%s, the %s difference is %s"):format(one.task, one.which, one.effect)
  end), ";\n  without ") or number.NONE
  return ([[
- **Some answers depend on one task**, computed afterwards: without %s.
- **Recall and A5.** Without the convolution, %s runs on Recall with queries and keys turned have
  an accuracy below 0.9, and %s with values and output turned too. With it, the lowest accuracy is
  %s: nothing is left to gain. On A5, the highest accuracy of all runs is %s: none learned it.
- **Rates.** %d of the %d chosen rates are the smallest or the largest of the four. Ties decided %d;
  one [looks bad](design.md#changes-after-the-first-run): %s runs of `accumulated{rotate=qkvo}`
  with the convolution on S3 are below 0.9. The second and the third difference may be too low.]])
    :format(others, low(accuracies(study, "recall", without)),
      low(accuracies(study, "recall", turned)),
      number.fixed(on_recall[1] and math.min(table.unpack(on_recall)), 3),
      number.fixed(on_a5[1] and math.max(table.unpack(on_a5)), 2), ends, all,
      changed_by_ties(study), low(accuracies(study, "s3", { study.plan.turned "4"[2][2] })))
end

return function(study)
  local family = study.plan.families[1]
  local names = family.tests[1].sweeps
  local columns = tables.map(names, function(name)
    return { title = TITLES[name], sweeps = { name }, measures = { "at_1" } }
  end)
  columns[#columns + 1] = { title = "beyond, all", sweeps = names,
    measures = study.plan.families[2].measures }
  local tests, answers, effects = families.tests(study, family), {}, {}
  for i, test in ipairs(tests) do
    answers[i], effects[i] = markdown.answer { test }, tested(test)
  end
  local is_complete = not next(study.incomplete)
  local depending = depending_on_a_task(study, names, tests)
  local others = tables.map(depending, function(one)
    return ("; without %s, the %s: %s"):format(one.task, one.which, one.answer)
  end)
  return {
    methods = schemes(study, columns),
    differences = differences(study, names, tests),
    checks = checks(study, depending),
    answers = { { "What do turned values give that a short convolution does not?",
      is_complete and ("accuracy without the convolution: %s; with it: %s; the second minus the "
        .. "first: %s; the convolution alone: %s"):format(table.unpack(answers))
        .. table.concat(others) .. (others[1] and " (computed afterwards)" or "") or answers[1],
      is_complete and table.concat(effects, "; ") or number.NONE } },
  }, { ["convolution.svg"] = figure(study, names) }
end
