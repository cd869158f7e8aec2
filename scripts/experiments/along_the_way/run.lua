-- Runs the comparison that README.md in this folder specifies; run it again to continue.
--
--     nice ./roper scripts/experiments/along_the_way/run.lua FOLDER [TEXT [DESIGN [JOBS]]]
--
-- Each task has a sweep in FOLDER. TEXT is the file of the language model, which is left out if
-- TEXT is missing or empty. DESIGN is a Lua file like design.lua, the default if it is missing or
-- empty. JOBS is the number of runs at a time, 2 by default.
local experiment = require "roper.workbench.study.experiment"
local position = require "roper.workbench.study.experiment.position"
local selections = require "roper.workbench.study.report.selection"
local sweeps = require "roper.workbench.study.sweep"
local tables = require "roper.base.tables"

local folder, text, design_path, jobs = ...
if not folder then
  error("run.lua: expected a folder for the runs, got none", 0)
end
local has_text = text and text ~= ""
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local has_design = design_path and design_path ~= ""
local design = dofile(has_design and design_path or here .. "/design.lua")

-- Returns the fields of all runs of a task.
local function fields_of(task)
  return tables.merged(design.fields, not task.is_text and design.problems or { files = text },
    task.fields)
end

-- Adds trials of a method to the sweep of a task.
local function add(name, method, rates, seeds)
  local task = design.tasks[name]
  sweeps.prepare(task.experiment, tables.merged(fields_of(task),
    { position = { method }, rate = rates, seed = seeds }), folder .. "/" .. name)
end

-- Runs the unfinished trials of a task.
local function train(name)
  return (sweeps.run { what = folder .. "/" .. name, threads = 1,
    jobs = math.tointeger(tonumber(jobs)) or 2 })
end

-- Chooses the rate of each method, then runs the other seeds at the chosen rates.
local function run(name, stage)
  for _, method in ipairs(stage.methods) do
    add(name, method, design.rates, stage.choosing)
  end
  local best = {}
  for _, entry in ipairs(selections.of(train(name), "rate", stage.choosing).methods) do
    best[entry.method] = entry.best
  end
  for _, method in ipairs(stage.methods) do
    local chosen = best[position.as_stored(method)]
    if chosen then
      add(name, method, { chosen.value }, stage.comparing)
    else
      io.stderr:write(("%s: %s: no rate has all its runs; the method is not compared\n"):format(
        name, method))
    end
  end
  train(name)
end

-- Calls f for each task of each stage.
local function each(f)
  for _, stage in ipairs(design.stages) do
    for _, name in ipairs(stage.tasks) do
      if has_text or not design.tasks[name].is_text then
        f(name, stage)
      end
    end
  end
end

each(function(name, stage) -- raises an error before the first run if a name or field is wrong
  local task = design.tasks[name]
  for _, method in ipairs(stage.methods) do
    experiment.configure(task.experiment, tables.merged(fields_of(task),
      { position = method }))
  end
end)
each(run)
