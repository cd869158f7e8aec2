-- Prints the tables of the comparison in Markdown, from a table of runs, by default results.csv.
--
--     ./roper scripts/experiments/along_the_way/tables.lua [RESULTS [DESIGN]]
local comparison = require "comparison"
local position = require "roper.workbench.study.experiment.position"
local results = require "results"
local statistics = require "roper.tensor.statistics"
local tables = require "roper.base.tables"

local path, design_path = ...
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local design = dofile(design_path or here .. "/design.lua")
local sweeps = results.read(design, path or here .. "/results.csv")

local function say(form, ...)
  print(form:format(...))
end

local function row(cells)
  print("| " .. table.concat(cells, " | ") .. " |")
end

-- Prints a table whose first column is text and whose other columns are numbers.
local function print_table(head, rows)
  row(head)
  row(tables.map(head, function(_, i) return i == 1 and "---" or "---:" end))
  for _, cells in ipairs(rows) do
    row(cells)
  end
  print ""
end

local function signed(number, digits)
  local text = ("%." .. digits .. "f"):format(math.abs(number))
  return (tonumber(text) == 0 and "" or number < 0 and "−" or "+") .. text
end

-- "0.91 ± 0.02", "0.91" of a single number, "-" without any.
local function summary(numbers, digits, sign)
  local mean, deviation = statistics.mean(numbers), statistics.standard_error(numbers)
  if not mean then
    return "-"
  end
  local form = ("%%.%df"):format(digits)
  local text = sign and signed(mean, digits) or form:format(mean)
  return deviation and ("%s ± " .. form):format(text, deviation) or text
end

local function code(method)
  return "`" .. position.as_stored(method) .. "`"
end

local function pair_name(pair)
  return code(pair[2]) .. " − " .. code(pair[1])
end

-- The methods of all stages with a task, and the tasks of all stages.
local function order_of(of, list)
  local found, seen = {}, {}
  for _, stage in ipairs(design.stages) do
    for _, name in ipairs(of(stage) and stage[list] or {}) do
      found[#found + 1] = not seen[name] and name or nil
      seen[name] = true
    end
  end
  return found
end

-- The methods or choosing seeds of the stages with a task.
local function of_task(task, list)
  return order_of(function(stage) return tables.set(stage.tasks)[task] end, list)
end

local runs, selected, lost, seconds = {}, {}, {}, 0
local tasks = tables.map(order_of(function() return true end, "tasks"), function(name)
  return sweeps[name] and name
end)
for _, name in ipairs(tasks) do
  local sweep = sweeps[name]
  runs[name], selected[name], lost[name] = comparison.read(sweep, of_task(name, "choosing"))
  for _, trial in ipairs(sweep.trials) do
    seconds = seconds + (trial.run.status == "finished" and trial.run.result.seconds or 0)
  end
end

local LENGTHS <const> = tables.joined({ 1 }, design.times)

local function by_seed(task, method)
  local found = runs[task][position.as_stored(method)] or {}
  return tables.map(tables.keys(found), function(seed) return found[seed] end)
end

-- The table of a task: the measure at each length.
local function print_lengths(name)
  local is_text = design.tasks[name].is_text
  local measure, digits = is_text and "loss" or "accuracy", is_text and 3 or 2
  local function values(method, list)
    return tables.map(by_seed(name, method), function(run)
      return comparison.value(run, measure, list)
    end)
  end
  local rows = tables.map(of_task(name, "methods"), function(method)
    local all = by_seed(name, method)
    local cells = tables.map(LENGTHS, function(times)
      return summary(values(method, { times }), digits)
    end)
    local reach = statistics.median(tables.map(all, function(run)
      return comparison.reach(run, LENGTHS)
    end))
    return tables.joined({ code(method) }, cells, not is_text
      and { summary(values(method, LENGTHS), digits), reach and ("%g"):format(reach) or "-" } or {},
      { tostring(#all) })
  end)
  say("**%s**, %s\n", name, measure)
  print_table(tables.joined({ "method" }, tables.map(LENGTHS, function(times)
    return ("× %g"):format(times)
  end), not is_text and { "mean", "reach" } or {}, { "runs" }), rows)
  for _, trial in ipairs(lost[name]) do
    say("- `%s`, seed %d: %s", trial.method, trial.seed, trial.run.status)
  end
end

-- The table of the tests of a question, then that of its cells.
local function print_question(number, question)
  local tests, cells = comparison.tests(question, runs)
  say("### %d. %s\n", number, question.title)
  say("Mean accuracy over %s times the trained length; p and intervals corrected for %d tests.\n",
    table.concat(question.times, ", "), #tests)
  print_table({ "difference", "pairs", "mean", "95 % interval", "p" }, tables.map(tests,
    function(test)
      local name = test.kind == "pair" and pair_name(question.pairs[test.name])
        or test.kind == "all" and "all" or test.name
      return { test.p and test.p < comparison.LEVEL and ("**%s**"):format(name) or name,
        tostring(test.n), test.mean and signed(test.mean, 3) or "-",
        test.low and ("%s to %s"):format(signed(test.low, 3), signed(test.high, 3)) or "-",
        test.p and ("%.3f"):format(test.p) or "-" }
    end))
  print_table(tables.joined({ "by task, without a test" }, question.tasks),
    tables.map(question.pairs, function(pair, i)
      return tables.joined({ pair_name(pair) }, tables.map(question.tasks, function(task)
        local cell = cells[i][task]
        return summary(tables.map(tables.keys(cell), function(seed) return cell[seed] end), 3, true)
      end))
    end))
end

say("## Chosen rates\n")
local methods = order_of(function() return true end, "methods")
print_table(tables.joined({ "method" }, tasks), tables.map(methods, function(method)
  return tables.joined({ code(method) }, tables.map(tasks, function(name)
    for _, entry in ipairs(selected[name].methods) do
      if entry.method == position.as_stored(method) then
        return entry.best and ("%g"):format(entry.best.value)
          .. (entry.edge and (" (%s)"):format(entry.edge) or "") or "none"
      end
    end
    return "-"
  end))
end))
say("## Questions\n")
for i, question in ipairs(design.questions) do
  print_question(i, question)
end
say("## By length\n")
for _, name in ipairs(tasks) do
  print_lengths(name)
end
say("All runs together took %.1f hours of one core.", seconds / 3600)
