-- Runs jobs of child.lua in processes of their own.

local uv = require("luv")

local M = {}

--- Compiles the library that lets calls fail.
---@param path string
function M.build(path)
  assert(os.execute(("cc -O1 -shared -fPIC $(pkg-config --cflags lua5.4) -o '%s' "
    .. "tests/faults/faults.c -ldl"):format(path)))
end

-- The environment of a job.
local function environment(library, folder)
  local list = { "OMP_NUM_THREADS=1", "XDG_CACHE_HOME=" .. folder .. "/cache",
    "LD_PRELOAD=" .. library }
  for name, value in pairs(uv.os_environ()) do
    if not ("OMP_NUM_THREADS XDG_CACHE_HOME LD_PRELOAD"):find(name, 1, true) then
      list[#list + 1] = name .. "=" .. value
    end
  end
  return list
end

-- Adds a line of output to a result.
local function note(result, line)
  local kind, rest = line:match("^(%l+)\t?(.*)$")
  if kind == "count" then
    result.calls = math.tointeger(tonumber(rest))
  elseif kind == "at" then
    result.at, result.runs = math.tointeger(tonumber(rest)), result.runs + 1
  elseif kind == "wrong" then
    local at, call, problem = rest:match("^(%d+)\t(%S+)\t(.*)$")
    table.insert(result.wrong, { at = math.tointeger(tonumber(at)), call = call,
      problem = problem })
  elseif kind == "done" then
    result.is_done = true
  else
    result.other = line
  end
end

-- Kills a job that does not end.
local PATIENCE <const> = 300000

-- Runs a job from a call on; if its process dies, continues after the call that failed then.
local function run(job, library, result, first, done)
  local folder = assert(uv.fs_mkdtemp(uv.os_tmpdir() .. "/roper-XXXXXX"))
  local output = assert(uv.fs_open(folder .. "/log", "w+", 384))
  local timer, handle = uv.new_timer(), nil
  result.is_done, result.at = false, nil
  local function ended(status, signal)
    handle:close()
    timer:close()
    for line in uv.fs_read(output, uv.fs_fstat(output).size, 0):gmatch("[^\n]+") do
      note(result, line)
    end
    uv.fs_close(output)
    os.execute(("rm -rf '%s'"):format(folder))
    if result.is_done then
      return done(result)
    end
    table.insert(result.wrong, { at = result.at or 0, call = "", problem =
      ("the process ended by %s %d: %s"):format(signal ~= 0 and "signal" or "status",
        signal ~= 0 and signal or status, result.other or "") })
    if not result.at or job.one then
      return done(result)
    end
    run(job, library, result, result.at + 1, done)
  end
  handle = assert(uv.spawn("lua5.4", { args = { "tests/faults/child.lua", library, job.script,
    job.class, job.variant, folder, tostring(first), tostring(job.most), tostring(job.seed),
    job.one and tostring(job.one) }, env = environment(library, folder),
    stdio = { nil, output, output } }, ended))
  timer:start(PATIENCE, 0, function() handle:kill("sigkill") end)
end

--- Starts a job. Call uv.run to run it.
---@param library string from `build`
---@param job table script, class, variant; most: limit of calls that fail; seed; one: the only call
---@param done fun(result: table) called with calls: their number; runs; wrong: list of {at, call,
---   problem}
function M.start(library, job, done)
  run(job, library, { job = job, runs = 0, wrong = {} }, 1, done)
end

return M
