-- Computes all numbers and figures of the studies from their recorded runs, and writes them into
-- the pages; with `check`, compares them instead, and fails if one differs.
--
--     ./roper scripts/experiments/record/results.lua [check]
local files = require "roper.system.file"
local pages = require "pages"

local mode = ...
if mode and mode ~= "check" then
  error(("results.lua: expected check or no argument, got %s"):format(mode), 0)
end
local problems = {}
for path, text in pairs(require("computed").files()) do
  local was = files.read(path) or ""
  if mode == "check" then
    problems[#problems + 1] = pages.difference(path, was, text)
  elseif was ~= text then
    files.write(path, text)
    print(path .. ": written")
  end
end
if #problems > 0 then
  table.sort(problems)
  error("this does not follow from the recorded runs; to write what does, run make results:\n"
    .. table.concat(problems, "\n"), 0)
end
