-- Runs a script repeatedly, each time with another failing call:
-- LD_PRELOAD=LIBRARY lua5.4 tests/faults/child.lua LIBRARY SCRIPT CLASS VARIANT FOLDER FIRST MOST
--   SEED [ONE]
-- SCRIPT: a name in scripts.lua, or a Lua file that returns such a table. FIRST: the number of the
-- first call that fails. MOST: limit of calls that fail; if the script has more, a random sample of
-- them. ONE: the only call that fails. Prints "count N", then "at N" before each run, "wrong N CALL
-- MESSAGE" for each fault that is not handled, and "done".

local root = arg[0]:match "^(.*)tests/faults/" or ""
package.path = ("%s?.lua;%sscripts/?.lua;%sscripts/?/init.lua"):format(root, root, root)
package.cpath = root .. "build/?.so;" .. package.cpath

local library, name, class, variant, folder = table.unpack(arg, 1, 5)
local first, most = math.tointeger(arg[6]), math.tointeger(arg[7])
local seed, one = math.tointeger(arg[8]), math.tointeger(arg[9])

local loaded = assert(package.loadlib(library, "luaopen_faults"))()
local core = require "roper.core"
local files = require "roper.system.file"
local script = require("tests.faults.scripts")[name] or dofile(name)
local faults = script.faults or loaded
local variants = require "tests.faults.variants"

local function say(...)
  io.stdout:write(table.concat({ ... }, "\t"), "\n")
  io.stdout:flush()
end

local function collect()
  collectgarbage()
  collectgarbage()
  core.memory_trim() -- without idle blocks, each allocation of a tensor is one of the system's
end

-- What must be the same after a run as before it: the accounted bytes and the open files.
local function held()
  collect()
  local memory = core.memory()
  return ("%d bytes in %d blocks, %d open files"):format(memory.live, memory.blocks,
    #files.names "/proc/self/fd")
end

local context = script.prepare(folder)

-- Without a fault, always the same.
local function undisturbed()
  script.reset(context)
  return script.run(context)
end

-- The number of calls of the script.
local function count()
  script.reset(context)
  collect()
  faults.arm(class, -1, 0, 0, false)
  local ok, result = pcall(script.run, context)
  local calls = faults.disarm()
  return calls, assert(ok and result, result)
end

-- Lines about what is wrong after a call fails.
local function problems_of(at, wanted, before)
  local problems = {}
  local function add(form, ...)
    problems[#problems + 1] = form:format(...)
  end
  script.reset(context)
  collect()
  variants.arm(faults, class, variant, at)
  local ok, result = pcall(script.run, context)
  local _, struck = faults.disarm()
  if not struck then
    return {}, "none"
  end
  local is_tolerated = variants.tolerates(class, variant, struck, script.tolerates)
  if not ok and not variants.is_explained(class, tostring(result)) then
    add("the error does not name the fault: %s", tostring(result))
  elseif ok and result ~= wanted and not (script.explains and variants.is_explained(class, result))
  then
    add("no error, but the result is %s", tostring(result):sub(1, 200))
  elseif ok and result == wanted and not is_tolerated then
    add "no error"
  end
  local may_leave = variants.may_leave(class, variant, struck)
  local function check()
    local is_good, damage = pcall(script.check, context, may_leave)
    if not is_good then
      add("damaged: %s", tostring(damage))
    end
  end
  check()
  if script.repeats then
    local is_usable, again = pcall(script.run, context)
    if not is_usable or again ~= wanted then
      add("run again, it gives %s", tostring(again):sub(1, 200))
    end
    check()
  end
  local is_usable, again = pcall(undisturbed)
  if not is_usable or again ~= wanted then
    add("afterwards it gives %s", tostring(again):sub(1, 200))
  end
  result, again = nil, nil -- luacheck: ignore
  local after = held()
  if after ~= before and not variants.may_hold(class, variant) then
    add("holds %s, held %s", after, before)
  end
  return problems, struck
end

local calls, wanted = count()
say("count", calls)
assert(undisturbed() == wanted, "two runs differ")

-- Bytes in use outside of Lua's own objects.
local function in_use()
  collect()
  return loaded.in_use() - collectgarbage "count" * 1024
end

local before, used = held(), in_use()
local runs = 0
for _, at in ipairs(one and { one } or variants.chosen(calls, most, seed)) do
  if at >= first then
    runs = runs + 1
    say("at", at)
    local problems, struck = problems_of(at, wanted, before)
    for _, problem in ipairs(problems) do
      say("wrong", at, struck, (problem:gsub("[\n\t]+", " ")))
    end
    before = #problems > 0 and held() or before
  end
end
local grown = in_use() - used
if grown > 64 * runs + (1 << 18) and not variants.may_hold(class, variant) then
  say("wrong", 0, "malloc", ("%d bytes more in use after %d runs"):format(grown, runs))
end
say "done"
