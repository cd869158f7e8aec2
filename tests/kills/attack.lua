-- Kills a job again and again, runs the same line again after each kill, and compares its folder
-- with that of a run that was never killed.

local core = require("roper.core")
local files = require("roper.system.file")
local jobs = require("tests.kills.jobs")
local mpi = require("tests.mpi")
local power_cut = require("tests.kills.power_cut")
local tables = require("roper.base.tables")
local uv = require("luv")
local watch = require("tests.kills.watch")

local M = {}

local MOST_KILLS <const> = 6 -- before a job may end

-- Fields that differ from run to run.
local DIFFERING <const> = tables.set { "seconds", "tokens_per_second", "memory", "started" }

local function timeless(value)
  if type(value) ~= "table" then
    return value
  end
  for name, inner in pairs(value) do
    value[name] = not DIFFERING[name] and timeless(inner) or nil
  end
  return value
end

-- What must be the same in two runs of the content of a file.
local function comparable(path, text)
  if path:find("lease%-%d+%.json$") then
    return "a claim" -- that of a killed process counts as free
  elseif path:find("%.jsonl$") then
    return (text:gsub("[^\n]+", function(line)
      return core.json_encode(timeless(assert(core.json_decode(line), line)))
    end))
  elseif path:find("%.json$") then
    local object = assert(core.json_decode(text), path .. " is damaged")
    return core.json_encode(timeless(object))
  elseif path:find("%.html$") then
    return text:match("</html>")
  end
  return text
end

--- The content of a folder that must be the same for all runs, by path.
---@param folder string
---@param prefix? string
---@param found? table
---@return table<string, string>
function M.content(folder, prefix, found)
  prefix, found = prefix or "", found or {}
  for _, name in ipairs(files.names(folder)) do
    local path = folder .. "/" .. name
    local key = prefix .. name:gsub("^lease%-%d+", "lease")
    if files.stat(path).type == "directory" then
      M.content(path, key .. "/", found)
    elseif not name:find("%.old$") then -- kept if a run starts again from step 0
      assert(not found[key], "two of " .. key)
      found[key] = comparable(path, files.read(path))
    end
  end
  return found
end

-- The parts of two texts from shortly before their first difference.
local function difference(a, b)
  local i = 1
  while a:byte(i) == b:byte(i) do
    i = i + 1
  end
  local first = math.max(1, i - 40)
  return ("%q, expected %q"):format(b:sub(first, i + 40), a:sub(first, i + 40))
end

local function check_same(expected, found)
  for _, path in ipairs(tables.keys(expected, found)) do
    if expected[path] ~= found[path] then
      error(path .. (not expected[path] and " is left behind" or not found[path] and " is missing"
        or " differs from an undisturbed run: " .. difference(expected[path], found[path])), 0)
    end
  end
end

-- Raises an error unless all files with their final names can be read.
local function check_whole(folder)
  for _, name in ipairs(files.names(folder)) do
    local path = folder .. "/" .. name
    if files.stat(path).type == "directory" then
      if not name:find("%.work$") then
        check_whole(path)
      end
    elseif name:find("%.json$") then
      assert(core.json_decode(files.read(path)), path .. " is torn")
    elseif name:find("%.safetensors$") or name:find("%.npy$") then
      core.load(path)
    elseif name == "metrics.jsonl" then
      require("roper.training.metrics").read(path)
    end
  end
end

local Place = {}
Place.__index = Place

-- Folders for runs of a job, below `root`.
local function new_place(root, job, changes)
  local self = setmetatable({ job = job, root = root, folder = root .. "/work",
    disk = root .. "/disk", temporary = root .. "/tmp" }, Place)
  self.changes = tables.merged(mpi.ENVIRONMENT, { TMPDIR = self.temporary, OMP_NUM_THREADS = "1",
    OMPI_MCA_btl_vader_backing_directory = self.temporary, HOME = root,
    GIT_DIR = root }, changes) -- a commit during the attack must not change provenance
  self:clear()
  return self
end

function Place:clear()
  for _, folder in ipairs({ self.folder, self.disk, self.temporary }) do
    os.execute(("rm -rf '%s'"):format(folder))
    files.make(folder)
  end
end

function Place:run(options)
  return watch.run(self.job.command(self.folder), tables.merged({ folder = self.folder,
    changes = self.changes }, options))
end

-- Checks the end of a run that was not killed.
function Place:check_end(result)
  assert(result.status == 0, ("status %d: %s"):format(result.status, result.output))
  self.job.check(self.folder, result.output, result.output)
  local left = files.names(self.temporary)
  assert(#left == 0, "left behind in TMPDIR: " .. table.concat(left, ", "))
end

-- The number of a call, half of the time one that is no write, since writes are most of the calls.
local function random_call(names)
  local others = {}
  for i, name in ipairs(names) do
    others[#others + 1] = not name:find("write") and i or nil
  end
  return math.random(2) == 1 and #others > 0 and others[math.random(#others)]
    or math.random(#names)
end

---@class Attack
---@field kills integer
---@field cuts integer of these, simulated power cuts
---@field problem? string

--- Kill a job some times, and then let it end.
---@param place table
---@param expected table content of the folder after an undisturbed run; names, of its calls; time,
---   that it took, in microseconds
---@param seed integer
---@param plan? table[] the kills {call, whom, cut: a mode of power cuts}; by default random
---@return Attack
local function attack(place, expected, seed, plan)
  local result, log, output = { kills = 0, cuts = 0 }, {}, "\n"
  math.randomseed(seed)
  local function kill(number)
    local planned = plan and plan[number] or {}
    local is_cut = planned.cut or not plan and math.random(3) == 1
    local whom = planned.whom or place.job.whom[math.random(#place.job.whom)]
    local call = planned.call or random_call(expected.names)
    if not plan and not place.job.is_launcher and math.random(4) == 1 then
      call = "@" .. math.random(expected.time)
    end
    os.execute(("rm -rf '%s'/*"):format(place.disk))
    local run = place:run({ call = call, whom = is_cut and "all" or whom,
      disk = is_cut and place.disk or nil })
    assert(run.left == 0, ("%d processes did not end"):format(run.left))
    output = output .. run.output
    if not run.killed then
      place:check_end(run)
      return false
    end
    result.kills = result.kills + 1
    local mode = planned.cut or power_cut.MODES[math.random(#power_cut.MODES)]
    log[#log + 1] = ("%s %s at call %s: %s%s"):format(is_cut and "cut" or "kill",
      is_cut and mode or whom, call, run.killed, run.status == 0 and ", ended well" or "")
    if is_cut then
      result.cuts = result.cuts + 1
      power_cut.apply(place.folder, place.disk, mode, math.random)
    end
    -- Nothing removes the temporary files then, nor those of a killed mpirun.
    if whom == "all" or is_cut or place.job.is_launcher and whom == "command" then
      os.execute(("rm -rf '%s'/*"):format(place.temporary))
    end
    check_whole(place.folder)
    place.job.check(place.folder, output, run.output)
    return true
  end
  local ok, problem = pcall(function()
    local number = 1
    local most = plan and #plan or math.random(MOST_KILLS)
    while number <= most and kill(number) do
      number = number + 1
    end
    local run = place:run({})
    place:check_end(run)
    assert(run.left == 0, ("%d processes did not end"):format(run.left))
    check_same(expected.content, M.content(place.folder))
  end)
  if not ok then
    result.problem = ("%s\n  %s"):format(problem, table.concat(log, "\n  "))
  end
  return result
end

--- Prepare attacks on a job: run it undisturbed.
---@param name string
---@param root string a folder for it
---@param changes? table of the environment
---@return fun(seed: integer, plan?: table[]): Attack
---@return string[] names of the calls
function M.on(name, root, changes)
  local place = new_place(root, jobs.all[name], changes)
  local began = uv.hrtime()
  local run = place:run({})
  local expected = { names = run.names, time = (uv.hrtime() - began) // 1000 }
  place:check_end(run)
  expected.content = M.content(place.folder)
  return function(seed, plan)
    place:clear()
    return attack(place, expected, seed, plan)
  end, run.names
end

return M
