-- Lets calls of scripts fail, and runs commands in environments that lack something:
-- lua5.4 tests/faults/main.lua [SEED [SCRIPT [CLASS VARIANT AT]]]
-- SCRIPT: a name in scripts.lua, or "limits" for the environments. With AT, only this call fails.

local uv = require("luv")

package.path = "./?.lua;" .. package.path
local variants = require("tests.faults.variants")
local watch = require("tests.faults.watch")

io.stdout:setvbuf("line")
local seed = math.tointeger(tonumber(arg[1] or os.time()))
local script, class, variant, at = arg[2], arg[3], arg[4], math.tointeger(tonumber(arg[5] or ""))

local folder = assert(uv.fs_mkdtemp(uv.os_tmpdir() .. "/roper-XXXXXX"))
local library = folder .. "/faults.so"
watch.build(library)

-- The slow jobs first.
local queue = variants.jobs(seed, function(job)
  return (not script or job.script == script) and (not class or job.class == class)
    and (not variant or job.variant == variant)
end)
local runs, faults = 0, 0

local function start()
  local job = table.remove(queue, 1)
  if not job then
    return
  end
  job.one = at
  local began = uv.hrtime()
  watch.start(library, job, function(result)
    runs, faults = runs + result.runs, faults + #result.wrong
    print(("%6.1f s  %-10s %-6s %-11s %6s calls, %4d failed, %d wrong"):format(
      (uv.hrtime() - began) / 1e9, job.script, job.class, job.variant, result.calls or "?",
      result.runs, #result.wrong))
    for _, wrong in ipairs(result.wrong) do
      print(("    call %d, %s: %s"):format(wrong.at, wrong.call, wrong.problem))
      print(("    lua5.4 tests/faults/main.lua %d %s %s %s %d"):format(seed, job.script, job.class,
        job.variant, wrong.at))
    end
    start()
  end)
end

print("seed " .. seed)
for _ = 1, uv.available_parallelism() do
  start()
end
uv.run()
if not script or script == "limits" then
  local began = uv.hrtime()
  local count = require("tests.faults.limits").run_all(folder, function(text)
    faults = faults + 1
    print("    " .. text)
  end)
  runs = runs + count
  print(("%6.1f s  limits: %d commands"):format((uv.hrtime() - began) / 1e9, count))
end
os.execute(("rm -rf '%s'"):format(folder))
print(("%d runs with a failing call, %d wrong"):format(runs, faults))
os.exit(runs > 0 and faults == 0)
