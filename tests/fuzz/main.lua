-- Runs random lines: ./roper tests/fuzz/main.lua [SEED [COUNT [REPEATS]]]
-- Each repeat uses the next seed.

package.path = "./?.lua;" .. package.path
local watch = require("tests.fuzz.watch")

local first, count, repeats = arg[1] or os.time(), arg[2] or 10000, arg[3] or 1
for seed = first // 1, first // 1 + repeats // 1 - 1 do
  local result = watch.run(seed, count // 1)
  print(("seed %d: %s; %d lines were ended by Ctrl-C"):format(seed, result.problem
    and ("%s at line %s: %s"):format(result.problem, result.number, result.line)
    or count .. " lines", result.interrupts))
end
