-- Runs all specs, or those below some paths: lua5.4 tests/main.lua [--jobs=N] [--busted=COMMAND]
-- [PATH]... Each file runs in its own busted process, by default four more at a time than there are
-- processors, because some files wait for timeouts. COMMAND replaces `busted`; its words are
-- separated by single blanks. The output of files with failed or skipped tests is printed at the
-- end, before a line with the counts.
local uv = require "luv"

io.stdout:setvbuf "line"
-- With more threads, the processes would wait for each other; specs about threads set their number.
uv.os_setenv("OMP_NUM_THREADS", os.getenv "OMP_NUM_THREADS" or "1")
local queue, reports, passed, failed = {}, {}, 0, 0
local jobs, paths, command = uv.available_parallelism() + 4, {}, "busted"
for _, argument in ipairs(arg) do
  local option, value = argument:match "^%-%-(%l+)=(.+)$"
  if option == "jobs" then
    jobs = assert(math.tointeger(tonumber(value)), "--jobs: expected a number")
  elseif option == "busted" then
    command = value
  else
    paths[#paths + 1] = argument
  end
end

-- Counts the tests of a file by its last line; a file without that line is a failure.
local function count(path, status, output)
  local report, successes, failures = output:match "^(.-)(%d+) passed, (%d+) failed\n$"
  if not report or status ~= 0 and failures == "0" then
    failures = 1
  end
  passed, failed = passed + (successes or 0), failed + failures
  if failures ~= "0" or not output:find(" 0 pending ", 1, true) then
    reports[#reports + 1] = ("\n%s ended with status %d\n%s"):format(path, status,
      report or output)
  end
end

-- Runs the last file of the queue, then the next.
local function test()
  local path = table.remove(queue)
  if not path then
    return
  end
  local file, name = assert(uv.fs_mkstemp(uv.os_tmpdir() .. "/roper-XXXXXX"))
  assert(uv.fs_unlink(name))
  local words = {}
  for word in command:gmatch "%S+" do
    words[#words + 1] = word
  end
  local program = table.remove(words, 1)
  words[#words + 1] = path
  local began, process = uv.hrtime(), nil
  process = assert(uv.spawn(program, { args = words, stdio = { nil, file, file } },
    function(status, signal)
      print(("%6.1f s  %s"):format((uv.hrtime() - began) / 1e9, path))
      local output = assert(uv.fs_read(file, uv.fs_fstat(file).size, 0))
      count(path, signal ~= 0 and 128 + signal or status, output)
      uv.fs_close(file)
      process:close()
      test()
    end))
end

local find <close> = io.popen(("find %s -name '*_spec.lua' | LC_ALL=C sort"):format(
  #paths > 0 and table.concat(paths, " ") or "tests"))
for path in find:lines() do
  queue[#queue + 1] = path
end
for _ = 1, jobs do
  test()
end
uv.run()
print(("%s%d passed, %d failed"):format(table.concat(reports), passed, failed))
os.exit(passed > 0 and failed == 0)
