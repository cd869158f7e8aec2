-- ./roper tests/bench/worker.lua KIND OPTIONS: creates the cases of tests/bench/case/KIND.lua with
-- the JSON OPTIONS, then runs the case that each line of standard input names. The fields `threads`
-- and `precision` set the number of threads and the precision of products.
package.path = package.path .. ";" .. arg[0]:match "^(.-)tests/bench/[^/]*$" .. "?.lua"

local core = require "roper.core"

local options = core.json_decode(arg[2])
if options.threads then
  core.threads(options.threads)
end
if options.precision then
  core.matmul_precision(options.precision)
end
local cases = require("tests.bench.case." .. arg[1])(options)
for name in io.lines() do
  io.write(core.json_encode { result = cases[name]() }, "\n")
  io.flush()
end
