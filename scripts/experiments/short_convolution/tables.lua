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

-- A column for each of the four differences: of all tasks and without Recall, with interval and p;
-- beyond the trained size; and of each task with its standard error.
local function differences(study, names)
  local function row(title, tests, text_of)
    return tables.joined({ title }, tables.map(tests, text_of))
  end
  local tests = families.tests(study, study.plan.families[1])
  local others = tests_on(study, tables.map(names, function(name)
    return name ~= "recall" and name or nil
  end), "holm")
  local rows = { row("all tasks", tests, tested),
    row("beyond the trained size, not tested", families.tests(study, study.plan.families[2]),
      tested),
    row("all but Recall, computed afterwards", others, tested) }
  for _, name in ipairs(names) do
    rows[#rows + 1] = row(TITLES[name], tests_on(study, { name }, "none"), function(test)
      return number.signed(test.mean, 3) .. (test.mean and " ± "
        .. number.fixed(statistics.standard_error(test.list), 3) or "")
    end)
  end
  return markdown.table(row("", tests, function(test) return test.name end), rows)
end

-- A row for each scheme: "0.67 → 1.00", the mean accuracies without and with the convolution.
local function methods(study, columns)
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

local function checks(study)
  local all, ends = studies.chosen_ends(study, study.plan.sweeps)
  local convolved = accuracies(study, "recall", tables.joined(side(study, "4", 1),
    side(study, "4", 2)))
  return ([[
- **Recall.** Without the convolution, %s runs with queries and keys turned have an accuracy
  below 0.9, and %s with values and output turned too. With it, the lowest of all runs is %s:
  turned values cannot add to that, whether or not the convolution replaces them.
- **Rates.** %d of the %d chosen rates are the smallest or the largest of the four. The rule for
  ties decided %d. One of these looks like a bad choice: on S3, %s runs of
  `accumulated{rotate=qkvo}` with the convolution are below 0.9. The second and the third
  difference may be too low for it ([why](design.md#changes-after-the-first-run)).]]):format(
    low(accuracies(study, "recall", side(study, "0", 1))),
    low(accuracies(study, "recall", side(study, "0", 2))),
    number.fixed(convolved[1] and math.min(table.unpack(convolved)), 3), ends, all,
    changed_by_ties(study),
    low(accuracies(study, "s3", { study.plan.turned "4"[2][2] })))
end

return function(study)
  local family = study.plan.families[1]
  local names = family.tests[1].sweeps
  local columns = tables.map(names, function(name)
    return { title = TITLES[name], sweeps = { name }, measures = { "at_1" } }
  end)
  columns[#columns + 1] = { title = "beyond, all", sweeps = names,
    measures = study.plan.families[2].measures }
  local answers, effects = {}, {}
  for i, test in ipairs(families.tests(study, family)) do
    answers[i], effects[i] = markdown.answer { test }, tested(test)
  end
  local is_complete = not next(study.incomplete)
  return {
    methods = methods(study, columns),
    differences = differences(study, names),
    checks = checks(study),
    answers = { { "What do turned values give that a short convolution does not?",
      is_complete and ("accuracy without the convolution: %s; with it: %s; the second minus the "
        .. "first: %s; the convolution alone: %s"):format(table.unpack(answers)) or answers[1],
      is_complete and table.concat(effects, "; ") or number.NONE } },
  }, { ["convolution.svg"] = figure(study, names) }
end
