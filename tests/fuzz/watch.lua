-- Runs random input in a separate process and supervises it: a slow input is sent Ctrl-C; a process
-- that then still continues is stuck.

local uv = require("luv")

local M = {}

local IMPATIENCE <const> = 300 -- milliseconds
local PATIENCE <const> = 60000 -- until a line that Ctrl-C does not end counts as stuck
local ADDRESS_SPACE <const> = 6000000 -- kibibytes, the limit of the process

---@class Watched
---@field problem string? how the process ended, nil if it ran all input
---@field number integer of the last input that it began
---@field line string that input
---@field interrupts integer number of inputs that Ctrl-C ended
---@field findings table[] inputs that violated a property: number, line, problem

--- Start to run random input, in a folder that is removed at the end, while luv's loop runs.
---@param kind string as for child.lua
---@param seed integer
---@param count integer
---@param options? table child: the script that runs them, for tests of this file; impatience:
---   milliseconds until Ctrl-C, and again
---@param ended fun(result: Watched) called at the end
function M.start(kind, seed, count, options, ended)
  options = options or {}
  local root, folder = uv.cwd(), assert(uv.fs_mkdtemp(uv.os_tmpdir() .. "/roper-XXXXXX"))
  local command = ("ulimit -v %d; HOME=. exec lua5.4 '%s' %s %d %d"):format(ADDRESS_SPACE,
    options.child or root .. "/tests/fuzz/child.lua", kind, seed, count)
  local result = { number = 0, line = "", interrupts = 0, findings = {} }
  local stdout, stderr, timer = uv.new_pipe(), uv.new_pipe(), uv.new_timer()
  local rest, errors, is_done, open = "", "", false, 3
  uv.update_time() -- the clock of the loop stops while the loop does not run
  local began, pressed = uv.now(), nil
  local process
  local function close(handle)
    handle:close()
    open = open - 1
    if open == 0 then
      timer:close()
      os.execute(("rm -rf '%s'"):format(folder)) -- files that the input saved
      ended(result)
    end
  end
  process = assert(uv.spawn("sh", { args = { "-c", command }, cwd = folder,
      stdio = { nil, stdout, stderr } },
    function(status, signal)
      if signal ~= 0 then
        result.problem = result.problem or "ended by signal " .. signal
      elseif status ~= 0 or not is_done then
        result.problem = ("ended with status %d: %s"):format(status, errors)
      end
      close(process)
    end))
  stdout:read_start(function(_, data)
    if not data then
      return close(stdout)
    end
    began, pressed = uv.now(), nil
    rest = rest .. data
    local at = 1
    for line, after in rest:gmatch("([^\n]*)\n()") do
      local number, text = line:match("^(%w+)\t(.*)$")
      is_done, at = line == "done", after
      if number == "problem" then
        table.insert(result.findings, { number = result.number, line = result.line,
          problem = text })
      elseif not is_done then
        result.number, result.line = number, text
      end
    end
    rest = rest:sub(at)
  end)
  stderr:read_start(function(_, data)
    errors = errors .. (data or "")
    if not data then
      close(stderr)
    end
  end)
  local impatience = options.impatience or IMPATIENCE
  timer:start(impatience, impatience, function()
    if uv.now() - began > PATIENCE then
      result.problem = "stuck"
      process:kill("sigkill")
    elseif result.number ~= 0 and uv.now() - began >= impatience and process:is_active() then
      result.interrupts = result.interrupts + (pressed and 0 or 1)
      pressed = true
      process:kill("sigint")
    end
  end)
end

--- Run random input to its end.
---@param kind string as for `start`
---@param seed integer
---@param count integer
---@param options? table
---@return Watched
function M.run(kind, seed, count, options)
  local result
  M.start(kind, seed, count, options, function(found) result = found end)
  repeat
    uv.run("once")
  until result
  uv.run("nowait")
  return result
end

return M
