--- Studies: folders of scripts/experiments with a plan and its recorded runs. ../README.md
--- describes the form.
local experiment = require "roper.workbench.study.experiment"
local files = require "roper.system.file"
local grid = require "roper.workbench.study.experiment.grid"
local position = require "roper.workbench.study.experiment.position"
local rows = require "rows"
local statistics = require "roper.tensor.statistics"
local tables = require "roper.base.tables"

local M = {}

--- The folder of the studies, that of this file's folder.
M.FOLDER = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*/[^/]*$"

---@class StudySweep
---@field name string
---@field experiment string
---@field position string[] the position schemes
---@field seeds string such as "1..10"
---@field fields? table further fields of all its runs
---@field vary? table<string, any[]> fields to lists of values, all combined
---@field choose? {field: string, values: any[], seeds: string, ties: "smaller"?} a field whose
---   value is chosen for each method by the mean loss on other seeds; with `ties`, the smallest
---   value whose loss is within a standard error of the smallest loss
---@field measure? string of the columns `at_1`, `at_2`, ...; "accuracy" by default
---@field needs? string a field without which it is not run, such as the files of a text

---@class Plan
---@field title string
---@field sweeps StudySweep[] in the order in which they run
---@field columns string[] measures of a run: names of results; at_N and beyond_N, the measure of
---   the sweep at N times the trained length, the latter beyond the trained size only; curve
---@field curve? string the field of the metrics in the column `curve`
---@field families? TestFamily[]

-- The seeds in a text such as "1..3,7".
local function seeds_of(text)
  return tables.map(grid.values("seed", text), function(seed)
    return math.tointeger(tonumber(seed))
  end)
end

-- The fields in which the runs of a sweep differ, besides the seed.
local function varied(sweep)
  return tables.keys(sweep.vary or {}, { position = true },
    sweep.choose and { [sweep.choose.field] = true } or nil)
end

-- A value of a field in a row.
local function text_of(value)
  return type(value) == "number" and ("%g"):format(value) or value and tostring(value) or nil
end

-- Returns the planned runs of a sweep with the given values of further fields.
local function trials(plan, sweep, more, seeds)
  local given = { { "seed", seeds_of(seeds) }, { "position", sweep.position } }
  for _, field in ipairs(tables.keys(sweep.vary or {})) do
    given[#given + 1] = { field, sweep.vary[field] }
  end
  for field, values in pairs(more) do
    given[#given + 1] = { field, values }
  end
  return tables.map(grid.product(given), function(values)
    local trial = { sweep = sweep, row = { sweep = sweep.name, seed = values.seed },
      fields = tables.merged(plan.fields, sweep.fields, values) }
    for _, field in ipairs(varied(sweep)) do
      trial.row[field] = text_of(field == "position" and position.as_stored(values.position)
        or values[field])
    end
    return trial
  end)
end

--- Returns the name of the method of a row: its varied fields.
---@param study Study
---@param row table
---@param without? string a field to leave out
---@return string
function M.method(study, row, without)
  local parts = { row.position }
  for _, field in ipairs(study.fields) do
    parts[#parts + 1] = field ~= "position" and field ~= without and row[field]
      and ("%s=%s"):format(field, row[field]) or nil
  end
  return table.concat(parts, " ")
end

local function key_of(study, row)
  return ("%s %s %s"):format(row.sweep, M.method(study, row), row.seed)
end

-- Chooses a value by the losses of each; nil unless all have as many as there are seeds.
local function best_of(losses, choose, count)
  local best, bound
  for _, value in ipairs(choose.values) do
    local list = losses[text_of(value)] or {}
    local mean = #list == count and statistics.mean(list)
    if #list + (losses.diverged[text_of(value)] or 0) < count then
      return nil
    elseif mean and (not bound or mean < bound) then
      best, bound = value, mean
    end
  end
  for _, value in ipairs(best and choose.ties == "smaller" and choose.values or {}) do
    local list = losses[text_of(value)] or {}
    local mean, deviation = statistics.mean(list), statistics.standard_error(list)
    if value < best and #list == count and mean - (deviation or 0) <= bound then
      return value
    end
  end
  return best
end

--- Returns the chosen value of each method of a sweep.
---@param study Study
---@param sweep StudySweep with `choose`
---@return table<string, any> chosen by method; a method without all its runs is missing
function M.chosen(study, sweep)
  local choose, by_method = sweep.choose, {}
  local seeds = seeds_of(choose.seeds)
  local is_choosing, is_method = tables.set(seeds), {}
  for _, trial in ipairs(trials(study.plan, sweep, { [choose.field] = choose.values },
    choose.seeds)) do
    is_method[key_of(study, trial.row)] = true
  end
  for _, row in ipairs(study.rows) do
    if row.sweep == sweep.name and is_choosing[row.seed] and is_method[key_of(study, row)] then
      local method, value = M.method(study, row, choose.field), row[choose.field]
      local losses = by_method[method] or { diverged = {} }
      by_method[method] = losses
      if row.loss then
        losses[value] = losses[value] or {}
        table.insert(losses[value], row.loss)
      else
        losses.diverged[value] = (losses.diverged[value] or 0) + 1
      end
    end
  end
  local chosen = {}
  for method, losses in pairs(by_method) do
    chosen[method] = best_of(losses, choose, #seeds)
  end
  return chosen
end

--- Returns the number of values that some sweeps have chosen, and of those that are the first or
--- the last of their list.
---@param study Study
---@param sweeps StudySweep[] with `choose`
---@return integer all
---@return integer ends
function M.chosen_ends(study, sweeps)
  local all, ends = 0, 0
  for _, sweep in ipairs(sweeps) do
    local values = sweep.choose.values
    for _, value in pairs(M.chosen(study, sweep)) do
      all = all + 1
      ends = ends + ((value == values[1] or value == values[#values]) and 1 or 0)
    end
  end
  return all, ends
end

-- Returns the runs of a sweep that can be planned now.
local function planned(study, sweep)
  local choose = sweep.choose
  if not choose then
    return trials(study.plan, sweep, {}, sweep.seeds)
  end
  local list = trials(study.plan, sweep, { [choose.field] = choose.values }, choose.seeds)
  for _, trial in ipairs(list) do
    trial.chooses = true
  end
  local chosen = M.chosen(study, sweep)
  local compared = trials(study.plan, sweep, { [choose.field] = choose.values }, sweep.seeds)
  for _, trial in ipairs(compared) do
    local best = chosen[M.method(study, trial.row, choose.field)]
    list[#list + 1] = best == trial.fields[choose.field] and trial or nil
  end
  return list
end

--- Returns the runs that have no row, in the order in which they run. Runs whose rate is not chosen
--- yet are not among them.
---@param study Study
---@return table[] trials {sweep, row: the fields of its row, fields: of its experiment, chooses:
---   only its loss is recorded, because it chooses a value} each
function M.missing(study)
  local known, list = {}, {}
  for _, row in ipairs(study.rows) do
    known[key_of(study, row)] = true
  end
  for _, sweep in ipairs(study.plan.sweeps) do
    for _, trial in ipairs(planned(study, sweep)) do
      list[#list + 1] = not known[key_of(study, trial.row)] and trial or nil
    end
  end
  return list
end

--- Returns the number of runs that the plan has.
---@param study Study
---@return integer
function M.count(study)
  local count = 0
  for _, sweep in ipairs(study.plan.sweeps) do
    local methods = #trials(study.plan, sweep, {}, "1")
    local choose = sweep.choose
    count = count + methods * #seeds_of(sweep.seeds) + (choose
      and methods * #choose.values * #seeds_of(choose.seeds) or 0)
  end
  return count
end

-- Returns the rows that are compared: those at a chosen value, on the seeds of the comparison.
local function compared(study)
  local wanted = {}
  for _, sweep in ipairs(study.plan.sweeps) do
    for _, trial in ipairs(planned(study, sweep)) do
      wanted[key_of(study, trial.row)] = not trial.chooses or nil
    end
  end
  return tables.map(study.rows, function(row) return wanted[key_of(study, row)] and row or nil end)
end

-- Turns the texts of a row into numbers. A run that ended without reaching 90 % counts as slower:
-- `steps_to_90` is then the number of its steps, and `censored` is true.
local function typed(study, row)
  row.seed = math.tointeger(tonumber(row.seed))
  for _, column in ipairs(study.plan.columns) do
    if column == "curve" then
      row.curve = row.curve and rows.points(row.curve)
    else
      row[column] = tonumber(row[column])
    end
  end
  row.seconds = tonumber(row.seconds)
  row.finished = (row.loss or row.at_1) ~= nil
  local sweep = row.finished and not row.steps_to_90
    and tables.set(study.plan.columns).steps_to_90 and study.sweep_of[row.sweep]
  if sweep and experiment.has_problems { experiment = sweep.experiment } then
    row.censored = true
    row.steps_to_90 = experiment.configure(sweep.experiment,
      tables.merged(study.plan.fields, sweep.fields)).steps
  end
  return row
end

---@class Study
---@field name string
---@field folder string
---@field plan Plan
---@field fields string[] the fields in which runs differ, besides the seed
---@field rows table[] all recorded runs: texts of fields, numbers of measures
---@field compared table[] the rows without those that only choose a value
---@field machines table[] rows of machines.csv
---@field incomplete table<string, true> the sweeps that lack runs

--- Reads a study.
---
--- Errors: the folder has no plan; a table is damaged.
---@param folder string its name, or a path
---@return Study study
function M.read(folder)
  folder = folder:find "/" and folder or ("%s/%s"):format(M.FOLDER, folder)
  if not files.stat(folder .. "/plan.lua") then
    error(("expected the folder of a study with a plan.lua, got %s"):format(folder), 0)
  end
  local plan = dofile(folder .. "/plan.lua")
  local fields = tables.keys(table.unpack(tables.map(plan.sweeps, function(sweep)
    return tables.set(varied(sweep))
  end)))
  local study = { name = folder:match "[^/]+$", folder = folder, plan = plan, fields = fields,
    sweep_of = {}, machines = rows.read(folder .. "/machines.csv") }
  for _, sweep in ipairs(plan.sweeps) do
    study.sweep_of[sweep.name] = sweep
  end
  local recorded = rows.read(folder .. "/runs.csv")
  study.rows = tables.map(recorded, function(row) return typed(study, row) end)
  study.compared, study.incomplete = compared(study), {}
  for _, trial in ipairs(M.missing(study)) do
    study.incomplete[trial.sweep.name] = true
  end
  return study
end

--- Writes the tables of a study, its rows in the order of the plan.
---@param study Study
function M.write(study)
  local order, columns = {}, tables.joined({ "sweep" }, study.fields, { "seed", "machine",
    "seconds" }, study.plan.columns)
  for i, sweep in ipairs(study.plan.sweeps) do
    order[sweep.name] = order[sweep.name] or i
  end
  local function place(row)
    return ("%04d %s %06d"):format(order[row.sweep], M.method(study, row), row.seed)
  end
  local list = table.move(study.rows, 1, #study.rows, 1, {})
  table.sort(list, function(a, b) return place(a) < place(b) end)
  rows.write(study.folder .. "/runs.csv", columns, tables.map(list, function(row)
    return tables.merged(row, { curve = row.curve and rows.curve(row.curve),
      seconds = math.floor(row.seconds + 0.5), steps_to_90 = row.censored and "" or nil })
  end))
  rows.write(study.folder .. "/machines.csv", rows.MACHINE, study.machines)
end

--- The names of all studies.
---@return string[]
function M.list()
  return tables.map(files.names(M.FOLDER), function(name)
    local is_folder = not name:find("%.")
    return is_folder and files.stat(("%s/%s/plan.lua"):format(M.FOLDER, name)) and name or nil
  end)
end

return M
