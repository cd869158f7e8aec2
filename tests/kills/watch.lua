-- Runs a program and kills it before one of its calls that change files; see watch.c.

local process = require("tests.process")

local M = {}

---@class Watched
---@field names string[] of the calls that change files below the folder, in order
---@field killed string? the call at which a process was killed, and its path
---@field status integer of the command
---@field left integer processes that had not ended long after the command
---@field output string of the command, with its errors

local PROGRAM <const> = "build/kills/watch"

--- Why programs cannot be watched here; nil if they can. Compiles the watcher.
---@return string?
function M.missing()
  local status, _, errors = process.run({ "sh", "-c", ("mkdir -p build/kills && cc -std=gnu11 -O1 "
    .. "-o %s.$$ tests/kills/watch.c && mv %s.$$ %s"):format(PROGRAM, PROGRAM, PROGRAM) })
  assert(status == 0, errors)
  status = process.run({ PROGRAM, "/", "-", "0", "all", "true" })
  return status ~= 0 and "the kernel does not support notifications of system calls (seccomp)"
    or nil
end

--- Run a command to its end, or until it is killed.
---@param command string[]
---@param options table folder: whose changes count; call = 0: number of the call before which to
---   kill, or "@" and microseconds; whom = "all": "caller", "other", "command" or "all"; disk: an
---   empty folder for what was flushed; changes: of the environment
---@return Watched
function M.run(command, options)
  local words = { PROGRAM, options.folder, options.disk or "-", tostring(options.call or 0),
    options.whom or "all", table.unpack(command) }
  local status, output, errors = process.run(words, nil, options.changes)
  assert(status == 0, errors)
  local names = {}
  for name in output:gmatch("([^\n]*)\n") do
    names[#names + 1] = name
  end
  local count, killed, result, left = names[#names]:match("^(%d+)\t(.-)\t(%d+)\t(%d+)$")
  names[#names] = nil
  assert(#names == math.tointeger(count))
  return { names = names, killed = killed ~= "-" and killed or nil, output = errors,
    status = math.tointeger(result), left = math.tointeger(left) }
end

return M
