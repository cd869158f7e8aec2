-- Runs the lines of the grammar in a separate process and supervises it: a slow line is sent
-- Ctrl-C; a process that then still continues is stuck.

local uv = require("luv")

local M = {}

local IMPATIENCE <const> = 300 -- milliseconds
local PATIENCE <const> = 60000 -- until a line that Ctrl-C does not end counts as stuck
local ADDRESS_SPACE <const> = 6000000 -- kibibytes, the limit of the process

---@class Watched
---@field problem string? how the process ended, nil if it ran all lines
---@field number integer of the last line that it began
---@field line string that line
---@field interrupts integer number of lines that Ctrl-C ended

--- Run random lines, in a folder that is removed afterwards.
---@param seed integer
---@param count integer
---@param child? string the script that runs them; for tests of this file
---@param impatience? integer milliseconds until Ctrl-C, and again
---@return Watched
function M.run(seed, count, child, impatience)
  local root, folder = uv.cwd(), assert(uv.fs_mkdtemp(uv.os_tmpdir() .. "/roper-XXXXXX"))
  local command = ("ulimit -v %d; exec lua5.4 '%s' %d %d"):format(ADDRESS_SPACE,
    child or root .. "/tests/fuzz/child.lua", seed, count)
  local result = { number = 0, line = "", interrupts = 0 }
  local stdout, stderr, timer = uv.new_pipe(), uv.new_pipe(), uv.new_timer()
  local rest, errors, is_done, open = "", "", false, 3
  uv.update_time() -- the clock of the loop stops while the loop does not run
  local began, pressed = uv.now(), nil
  local process
  local function close(handle)
    handle:close()
    open = open - 1
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
    for line in rest:gmatch("([^\n]*)\n") do
      is_done = line == "done"
      if not is_done then
        result.number, result.line = line:match("^(%d+)\t(.*)$")
      end
    end
    rest = rest:match("[^\n]*$")
  end)
  stderr:read_start(function(_, data)
    errors = errors .. (data or "")
    if not data then
      close(stderr)
    end
  end)
  impatience = impatience or IMPATIENCE
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
  repeat
    uv.run("once")
  until open == 0
  timer:close()
  uv.run("nowait")
  os.execute(("rm -rf '%s'"):format(folder)) -- files that the lines saved
  return result
end

return M
