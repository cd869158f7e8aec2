-- Runs the fuzzers, two processes at a time:
--     lua5.4 tests/fuzz/main.lua SEED [KIND [COUNT [REPEATS]]]
-- Without a kind, all of them as `make check-fuzz`. Each repeat uses the next seed.

local uv = require("luv")

package.path = "./?.lua;" .. package.path
local watch = require("tests.fuzz.watch")

-- The input of a CI run by kind: its number for each seed, seeds, and milliseconds until Ctrl-C.
local SIZES <const> = {
  { "calls", 100000, 10, 100 },
  { "texts", 15000, 2 },
  { "programs", 40000, 2, 5000 },
  { "lines", 10000, 2 },
  { "readers", 250000, 1 },
}

local first, chosen = math.tointeger(arg[1]) or os.time(), arg[2]
local failed = false

local function report(text, problem)
  print(text .. (problem and ": " .. problem or ""))
  failed = failed or problem ~= nil
end

-- Report a finding with the command that repeats it.
local function find(kind, seed, problem, number, line)
  local child = ("lua5.4 tests/fuzz/child.lua %s %d %s %s"):format(kind, seed, number, number)
  report(("%s, seed %d"):format(kind, seed), ("%s\n  input %s: %s\n  repeat: %s"):format(problem,
    number, line, child))
end

local function run(kind, seed, count, impatience, done)
  watch.start(kind, seed, count, { impatience = impatience }, function(result)
    local seen = {}
    for _, finding in ipairs(result.findings) do
      local text = finding.problem:gsub("%d+", ""):gsub("%b()", ""):sub(1, 100)
      if not seen[text] then
        seen[text] = true
        find(kind, seed, finding.problem, finding.number, finding.line)
      end
    end
    if result.problem then
      find(kind, seed, result.problem, result.number, result.line)
    end
    report(("%s, seed %d: %s inputs; %d were ended by Ctrl-C; %d problems"):format(kind, seed,
      result.number, result.interrupts, #result.findings))
    done()
  end)
end

-- Run a target of libFuzzer, which adds its own input to a copy of the corpus.
local READ <const> = [[
cd build/fuzz && rm -rf NAME.d && cp -r ../../tests/fuzz/corpus/NAME NAME.d
find ../../tests/fixtures -maxdepth 1 -name '*.NAME' -size -8 -exec cp {} NAME.d ';'
exec ./NAME -seed=SEED -runs=COUNT -max_len=4096 -artifact_prefix=NAME- NAME.d >NAME.log 2>&1]]
local function read(name, seed, count, done)
  local command = READ:gsub("%u%u+", { NAME = name, SEED = seed % 0xFFFFFFFF + 1, COUNT = count })
  uv.spawn("sh", { args = { "-c", command } }, function(status, signal)
    report(("reader of %s, seed %d: %d inputs"):format(name, seed, count),
      (status ~= 0 or signal ~= 0) and ("failed; build/fuzz/%s.log names the input, which belongs "
      .. "in tests/fuzz/corpus/%s"):format(name, name) or nil)
    done()
  end)
end

local jobs = {}
for _, size in ipairs(SIZES) do
  local kind, count, repeats, impatience = table.unpack(size)
  if not chosen or chosen == kind then
    count, repeats = math.tointeger(arg[3]) or count, math.tointeger(arg[4]) or repeats
    for seed = first, first + repeats - 1 do
      for _, name in ipairs(kind == "readers" and { "json", "npy", "safetensors", "tokens" }
        or { kind }) do
        jobs[#jobs + 1] = function(done)
          if kind == "readers" then
            read(name, seed, count, done)
          else
            run(kind, seed, count, impatience, done)
          end
        end
      end
    end
  end
end

local function next_job()
  local job = table.remove(jobs, 1)
  if job then
    job(next_job)
  end
end
next_job()
next_job()
uv.run()
os.exit(failed and 1 or 0)
