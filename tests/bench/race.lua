--- Programs timed in turn, round by round. A slow phase of the machine slows all of them, so ratios
--- are more reliable than seconds.
local child = require "tests.bench.child"
local statistics = require "tests.bench.statistics"

local M = {}

local function in_short(samples)
  return { seconds = statistics.median(samples), least = math.min(table.unpack(samples)) }
end

--- Steps of the model.
---@param shape table
---@param threads integer
---@param precision string? of products, float32 by default
---@return table entry of a race
function M.trainer(shape, threads, precision)
  return { program = child.worker("step", { shape = shape, threads = threads,
    precision = precision, positions = { "roper" } }), case = "roper", steps = shape.steps }
end

--- Products of square matrices.
---@param size integer
---@param threads integer
---@param precision string? float32 by default
---@return table entry of a race
function M.multiplier(size, threads, precision)
  return { program = child.worker("matmul", { size = size, threads = threads,
    precision = precision }), case = "product" }
end

--- Run a case of each program in turn, and end the programs.
---@param entries table[] program: a Child; case: its name; steps: how many it takes, 1 by default;
---   summary: a function of the list of results of the case, which are seconds by default
---@param rounds integer after two rounds that are not counted
---@return table[] for each entry the result of `summary`, by default seconds (their median) and
---   least; with peak_bytes, and faults: page faults a step of the median round
function M.run(entries, rounds)
  local calls, faults, results = {}, {}, {}
  for i, entry in ipairs(entries) do
    local call = entry.program:bind(entry.case)
    faults[i] = {}
    calls[i] = function()
      local before = entry.program:faults()
      local result = call()
      table.insert(faults[i], (entry.program:faults() - before) / (entry.steps or 1))
      return result
    end
  end
  local samples = statistics.interleave(calls, rounds)
  for i, entry in ipairs(entries) do
    results[i] = (entry.summary or in_short)(samples[i])
    results[i].peak_bytes = entry.program:peak_bytes()
    results[i].faults = statistics.median(table.move(faults[i], #faults[i] - rounds + 1,
      #faults[i], 1, {}))
    entry.program:stop()
  end
  return results
end

return M
