-- Prints the table of all ended runs; results.lua describes it.
--
--     ./roper scripts/experiments/along_the_way/save.lua FOLDER [DESIGN] > results.csv
local files = require "roper.system.file"
local results = require "results"
local sweeps = require "roper.workbench.study.sweep"
local tables = require "roper.base.tables"

local folder, design_path = ...
if not folder then
  error("save.lua: expected the folder of the runs, got none", 0)
end
files.check_folder("save.lua", folder)
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local design = dofile(design_path or here .. "/design.lua")
print(results.head(design))
for _, task in ipairs(tables.keys(design.tasks)) do
  if files.stat(("%s/%s/sweep.json"):format(folder, task)) then
    for _, line in ipairs(results.lines(design, task, sweeps.read(folder .. "/" .. task))) do
      print(line)
    end
  end
end
