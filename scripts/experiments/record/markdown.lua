--- Numbers and tables of studies as Markdown.
local families = require "families"
local number = require "roper.workbench.study.report.number"
local studies = require "studies"
local statistics = require "roper.tensor.statistics"
local tables = require "roper.base.tables"

local M = {}

--- A table whose first columns are text, as many as `texts`, 1 by default, and whose others are
--- numbers.
---@param head string[]
---@param rows string[][]
---@param texts? integer
---@return string
function M.table(head, rows, texts)
  local lines = {}
  for i, cells in ipairs { head, tables.map(head, function(_, i)
    return i <= (texts or 1) and "---" or "---:"
  end), table.unpack(rows) } do
    lines[i] = "| " .. table.concat(cells, " | ") .. " |"
  end
  return table.concat(lines, "\n")
end

--- "0.91 ± 0.02", the mean of numbers ± its standard error; a dash without any.
---@param list number[]
---@param digits integer
---@return string
function M.mean(list, digits)
  local deviation = statistics.standard_error(list)
  return number.fixed(statistics.mean(list), digits)
    .. (deviation and " ± " .. number.fixed(deviation, digits) or "")
end

--- "+0.078 (+0.038 to +0.109)", a difference with its interval, or without if it has none.
---@param test table from `families.tests`
---@param digits integer
---@return string
function M.difference(test, digits)
  if not test.mean then
    return number.NONE
  end
  return number.signed(test.mean, digits) .. (test.low
    and (" (%s)"):format(number.interval(test.low, test.high, digits, number.signed)) or "")
end

--- The rows of a family of tests: name, pairs, difference with its interval, corrected p.
---@param study Study
---@param family TestFamily
---@return string[][]
function M.tests(study, family)
  return tables.map(families.tests(study, family), function(test)
    local is_significant = test.corrected and test.corrected < families.LEVEL
    return { is_significant and ("**%s**"):format(test.name) or test.name, tostring(test.n),
      M.difference(test, test.test.digits or family.digits or 3),
      number.probability(test.corrected) }
  end)
end

--- The table of all families of a study.
---@param study Study
---@return string
function M.families(study)
  local rows = {}
  for _, family in ipairs(study.plan.families) do
    rows[#rows + 1] = { ("*%s*"):format(family.title), "", "", "" }
    rows = tables.joined(rows, M.tests(study, family))
  end
  return M.table({ "difference", "pairs", "mean (95 % interval)", "p" }, rows)
end

--- A table of tests that have one pair of methods each: the means of both, and their difference.
---@param study Study
---@param titles string[] of both methods
---@return string
function M.pairs(study, titles)
  local rows = {}
  for _, family in ipairs(study.plan.families) do
    for _, test in ipairs(families.tests(study, family)) do
      local digits = test.test.digits
      rows[#rows + 1] = { test.name, M.mean(test.a, digits), M.mean(test.b, digits),
        tostring(test.n), M.difference(test, digits), number.probability(test.corrected) }
    end
  end
  return M.table({ "", titles[1], titles[2], "pairs", "difference (95 % interval)", "p" }, rows)
end

-- What a test can show, in the order in which it is listed.
local KINDS <const> = { "higher", "lower", "cannot tell", "runs are missing" }

--- Lists the tests in which the second method is significantly higher or lower, and the others.
---@param tests table[] from `families.tests`
---@return string such as "higher (a; b), cannot tell (c)"; "lower" if all are lower
function M.answer(tests)
  local found, parts = {}, {}
  for _, test in ipairs(tests) do
    local kind = KINDS[not test.corrected and 4 or test.corrected >= families.LEVEL and 3
      or test.mean < 0 and 2 or 1]
    found[kind] = found[kind] or {}
    table.insert(found[kind], test.name)
  end
  for _, kind in ipairs(KINDS) do
    local list = found[kind]
    parts[#parts + 1] = list and (#list == #tests and kind
      or ("%s (%s)"):format(kind, table.concat(list, "; "))) or nil
  end
  return table.concat(parts, ", ")
end

--- Says how many methods differ from the baseline in each column, and which if they are few.
---@param columns {title: string}[]
---@param signs table[] from `families.signs`
---@return string
function M.differing(columns, signs)
  local parts, missing = {}, false
  for i, one in ipairs(columns) do
    local lists = { [1] = {}, [-1] = {} }
    for _, method in ipairs(tables.keys(signs[i] or {})) do
      table.insert(lists[signs[i][method]], ("`%s`"):format(method))
    end
    local found = {}
    for _, side in ipairs { { 1, "above" }, { -1, "below" } } do
      local list = lists[side[1]]
      found[#found + 1] = list[1] and ("%s %s"):format(#list <= 3 and table.concat(list, ", ")
        or #list, side[2]) or nil
    end
    parts[#parts + 1] = signs[i] and ("%s: %s"):format(one.title, table.concat(found, ", ")
      .. (found[1] and "" or "cannot tell")) or nil
    missing = missing or not signs[i]
  end
  parts[#parts + 1] = missing and (parts[1] and "for the others, " or "") .. "runs are missing"
    or nil
  return table.concat(parts, "; ")
end

--- A table of methods: means ± standard errors, marked with + or − if they are significantly above
--- or below the baseline.
---@param study Study
---@param methods string[] position schemes
---@param columns {title: string, sweeps: string[], measures: string[]}[]
---@param signs? table[] from `families.signs`
---@return string
function M.methods(study, methods, columns, signs)
  local marks <const> = { [1] = " **+**", [-1] = " **−**" }
  return M.table(tables.joined({ "scheme" }, tables.map(columns, function(one)
    return one.title
  end)), tables.map(methods, function(method)
    return tables.joined({ ("`%s`"):format(method) }, tables.map(columns, function(one, i)
      return M.mean(families.means(study, { method }, one), 2)
        .. (signs and signs[i] and marks[signs[i][method]] or "")
    end))
  end))
end

--- The runs that a study has, and from which commits and machines.
---@param study Study
---@return string
function M.status(study)
  local seconds, used, planned = 0, {}, studies.count(study)
  for _, row in ipairs(study.rows) do
    seconds = seconds + row.seconds
    local key = row.machine:match "^[^+]*" .. (row.machine:find("+", 1, true) and "+" or "")
    used[key] = (used[key] or 0) + 1
  end
  local lines = { #study.rows == 0 and ("None of the %d runs is recorded yet."):format(planned)
    or ("%d of %d runs are recorded; they took %.1f hours of one core."):format(#study.rows,
      planned, seconds / 3600) }
  for _, machine in ipairs(study.machines) do
    local whole, begun = used[machine.machine], used[machine.machine .. "+"]
    lines[#lines + 1] = (whole or begun) and ("- %d at commit %s: %s, %s, %s, %s thread each%s")
      :format(whole or 0, machine.commit:sub(1, 8), machine.processor, machine.instructions,
        machine.blas, machine.threads, begun
        and (", and %d begun there and continued at another"):format(begun) or "") or nil
  end
  return table.concat(lines, "\n")
end

return M
