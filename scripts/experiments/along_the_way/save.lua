-- Prints the results of all ended runs as lines of JSON; results.lua describes them.
--
--     ./roper scripts/experiments/along_the_way/save.lua FOLDER > results.jsonl
local files = require "roper.base.file"
local results = require "results"
local sweeps = require "roper.workbench.study.sweep"

local folder = ...
if not folder then
  error("save.lua: expected the folder of the runs, got none", 0)
end
files.check_folder("save.lua", folder)
for _, task in ipairs(files.names(folder)) do
  if files.stat(("%s/%s/sweep.json"):format(folder, task)) then
    for _, line in ipairs(results.lines(task, sweeps.read(folder .. "/" .. task))) do
      print(line)
    end
  end
end
