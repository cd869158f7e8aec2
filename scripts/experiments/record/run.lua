-- Trains the runs of a study that have no row yet, and adds their rows; run it again to continue.
--
--     nice ./roper scripts/experiments/record/run.lua STUDY [JOBS [FIELD=VALUE...]]
--
-- STUDY is the name of a folder of scripts/experiments, or its path. JOBS is the number of runs at
-- a time, 2 by default, with one thread each. Further fields are those that the plan cannot know,
-- such as files=TEXT; without them, the sweeps that need them are left out. The runs of a seed are
-- trained together, then their rows are written: commit them at any time. Folders of runs are in
-- runs/STUDY. Uncommitted changes of code are refused, because a row names its commit. A seed whose
-- other runs are from other code, another processor or another BLAS is left out.
local experiment = require "roper.workbench.study.experiment"
local files = require "roper.system.file"
local measures = require "roper.workbench.study.run.measures"
local plans = require "roper.workbench.study.sweep.plan"
local process = require "roper.system.process"
local provenance = require "roper.training.provenance"
local rows = require "rows"
local runs = require "roper.workbench.study.run.runs"
local studies = require "studies"
local sweeps = require "roper.workbench.study.sweep"
local tables = require "roper.base.tables"

local name, jobs = ...
if not name then
  error("run.lua: expected a study, one of " .. table.concat(studies.list(), ", ")
    .. "; got none", 0)
end
local given = {}
for _, text in ipairs { select(3, ...) } do
  local field, value = text:match "^([%w_]+)=(.*)$"
  if not field then
    error(("run.lua: expected FIELD=VALUE, got %s"):format(text), 0)
  end
  given[field] = value
end

local is_recorded = given.uncommitted ~= "yes"
given.uncommitted = nil

-- What influences results, for git.
local CODE <const> = "core tasks bindings Makefile scripts/roper "
  .. "':(glob)scripts/experiments/*.lua' ':(glob)scripts/experiments/*/plan.lua'"

local function git(command)
  return (process.output("cd '" .. studies.FOLDER:gsub("'", "'\\''")
    .. "/../..' && git --no-optional-locks " .. command))
end

-- Raises an error if code has changed since the last commit.
local function check_committed()
  local changes = git("status --porcelain --untracked-files=no -- " .. CODE)
  if changes ~= "" and is_recorded then
    error("run.lua: expected a work tree without changes of code, since rows name their commit; "
      .. "commit them, or pass uncommitted=yes for runs that are not recorded:\n" .. changes, 0)
  end
end

-- Do two commits have the same code? If git does not know one of them, no.
local function is_same_code(a, b)
  return a == b or a:find "^%x+$" and b:find "^%x+$"
    and git(("diff --quiet %s %s -- %s 2>/dev/null && echo same"):format(a, b, CODE)) ~= ""
end

-- Returns the row of machines.csv for a record of provenance, without its key.
local function machine_of(record)
  local fields, row = tables.merged(record, { commit = (record.commit or "unknown")
    :gsub("%-dirty$", "") }), {}
  for _, column in ipairs(rows.MACHINE) do
    row[column] = column ~= "machine" and tostring(fields[column]) or nil
  end
  return row
end

-- Are these columns of two machines the same?
local function is_same(a, b, columns)
  for _, column in ipairs(columns) do
    if column ~= "machine" and a[column] ~= b[column] then
      return false
    end
  end
  return true
end

-- Returns the keys of the machines of a run, "1" or, if it was continued elsewhere, "1+2".
local function machines_of(study, run)
  return table.concat(tables.map(run.provenance, function(record)
    local machine = machine_of(record)
    for _, known in ipairs(study.machines) do
      if is_same(known, machine, rows.MACHINE) then
        return known.machine
      end
    end
    machine.machine = tostring(#study.machines + 1)
    study.machines[#study.machines + 1] = machine
    return machine.machine
  end), "+")
end

-- Returns the runs in a folder that are in a batch, each with its place in the batch.
local function known_runs(folder, batch)
  local list = {}
  for _, trial in ipairs(files.stat(folder) and sweeps.read(folder).trials or {}) do
    for _, planned in ipairs(batch) do
      if runs.same(trial.config, planned.config) then
        list[#list + 1] = { trial = trial, planned = planned }
      end
    end
  end
  return list
end

-- Columns in which the runs of a seed are the same. Instructions differ with the precision of
-- products, and threads from those of this process.
local SAME <const> = { "processor", "blas" }

-- Methods are compared within a seed: returns an error if runs of the batch's seed are from other
-- code, another processor or another BLAS.
local function mismatch(study, folder, batch)
  local here, seed, earlier = machine_of(provenance.here()), batch[1].row.seed, {}
  for _, row in ipairs(study.rows) do
    for key in (row.sweep == batch[1].sweep.name and row.seed == seed and row.machine or "")
      :gmatch "[^+]+" do
      for _, machine in ipairs(study.machines) do
        earlier[#earlier + 1] = machine.machine == key and machine or nil
      end
    end
  end
  for _, known in ipairs(known_runs(folder, batch)) do
    table.move(tables.map(known.trial.run.provenance, machine_of), 1,
      #known.trial.run.provenance, #earlier + 1, earlier)
  end
  for _, machine in ipairs(earlier) do
    if not (is_same(here, machine, SAME) and is_same_code(here.commit, machine.commit)) then
      local function text(one)
        return ("commit %s, %s, %s"):format(one.commit, one.processor, one.blas)
      end
      return ("run.lua: seed %d of %s: expected the code, processor and BLAS of its other runs "
        .. "(%s); got %s; use the same again, or remove the rows of this seed and their folders in "
        .. "%s"):format(seed, batch[1].sweep.name, text(machine), text(here), folder)
    end
  end
end

-- Returns the value of a column of a run.
local function value_of(column, sweep, trial, by_name, plan)
  local kind, times = column:match "^(%a+)_(%d+)$"
  local measure, run = column, trial.run
  if column == "curve" then
    return tables.map(run.metrics, function(entry)
      local value = entry[sweep.curve or plan.curve]
      return value and { entry.step, value }
    end)
  elseif kind == "at" or kind == "beyond" then
    measure = (sweep.measure or "accuracy") .. (kind == "beyond" and "_beyond" or "")
      .. (times ~= "1" and "_" .. times or "")
  elseif column == "steps_to_90" then
    return run.result.steps_to_90
  end
  return by_name[measure] and (by_name[measure]:value(run)) or run.result[measure]
end

-- Adds the rows of the ended runs of a folder that have none. Returns their number.
local function record(study, folder, batch)
  local sweep, count = batch[1].sweep, 0
  for _, known in ipairs(known_runs(folder, batch)) do
    local trial, planned = known.trial, known.planned
    if trial.run.result then
      local by_name, row = {}, tables.merged(planned.row)
      for _, measure in ipairs(measures.of { trial }) do
        by_name[measure.name] = measure
      end
      for _, column in ipairs(trial.run.status == "finished" and study.plan.columns or {}) do
        if column == "loss" or not planned.chooses then
          row[column] = value_of(column, sweep, trial, by_name, study.plan)
        end
      end
      row.machine, row.seconds = machines_of(study, trial.run), trial.run.result.seconds or 0
      study.rows[#study.rows + 1], count = row, count + 1
    end
  end
  if count > 0 then
    studies.write(study)
  end
  return count
end

-- Returns the missing runs of the first sweep and seed that are not in `failed`.
local function next_batch(study, failed)
  local batch = {}
  for _, trial in ipairs(studies.missing(study)) do
    local first = batch[1]
    local fits = not first or first.sweep == trial.sweep and first.row.seed == trial.row.seed
    local can_run = not trial.sweep.needs or given[trial.sweep.needs]
    if fits and can_run and not failed[tables.text(trial.row)] then
      batch[#batch + 1] = trial
    end
  end
  for _, trial in ipairs(batch) do
    trial.config = experiment.configure(trial.sweep.experiment, tables.merged(trial.fields,
      trial.sweep.needs and { [trial.sweep.needs] = given[trial.sweep.needs] }))
  end
  return batch
end

local failed, mismatches = {}, {}
while true do
  check_committed()
  local study = studies.read(name) -- also rows that others have added
  local batch = next_batch(study, failed)
  if #batch == 0 then
    break
  end
  local folder = ("runs/%s/%s"):format(study.name, batch[1].sweep.name)
  local problem = mismatch(study, folder, batch)
  mismatches[#mismatches + 1] = problem
  if not problem then
    plans.add(folder, tables.map(batch, function(trial) return trial.config end))
    local ok, message = pcall(sweeps.run, { what = folder, threads = 1,
      jobs = math.tointeger(tonumber(jobs)) or 2 })
    record(study, folder, batch)
    if not ok then
      error(message, 0)
    end
  end
  for _, trial in ipairs(batch) do
    failed[tables.text(trial.row)] = true -- if it has no row now, it failed or was left out
  end
end
local study = studies.read(name)
io.stderr:write(("%s: %d of %d runs are recorded\n"):format(study.name, #study.rows,
  studies.count(study)))
if mismatches[1] then
  error(table.concat(mismatches, "\n"), 0)
end
