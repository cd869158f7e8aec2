--- Other programs, run to their end.
local core = require "roper.core"
local uv = require "luv"

local M = {}

-- Milliseconds between two looks at a program and for Ctrl-C.
local LOOK <const> = 2

-- Bytes that are kept of what a program says of its failure.
local KEPT <const> = 2000

-- Start a program in a process group of its own, so that Ctrl-C reaches it through us alone.
local function start(running, name, arguments, options)
  local errors = uv.new_pipe()
  local function closed(handle)
    handle:close()
    running.open = running.open - 1
  end
  local handle, pid, code = uv.spawn(name, { args = arguments, cwd = options.folder,
    detached = true, stdio = { nil, nil, errors } }, function(status, signal)
    running.status, running.signal = status, signal
    closed(running.handle)
  end)
  if not handle then
    errors:close()
    error(code == "ENOENT"
      and ("cannot find the program %s; please install it: apt-get install %s"):format(name,
        options.package)
      or ("cannot start %s: %s"):format(name, pid), 0)
  end
  running.handle, running.pid, running.open = handle, pid, 2
  errors:read_start(function(_, data)
    if data then
      running.errors = (running.errors .. data):sub(-KEPT)
    else
      closed(errors)
    end
  end)
end

-- Wait until a program has ended; Ctrl-C comes between two looks.
local function wait(running)
  while running.open > 0 do
    core.interrupt_defer(uv.run, "nowait")
    uv.sleep(LOOK)
  end
end

--- Run a program to its end. Ctrl-C ends it.
---
--- Errors: a program that is missing, that fails, or is killed, with what it said.
---@param name string
---@param arguments string[]
---@param options {package: string, folder?: string} the Debian package to install where the program
---   is missing; the folder to run it in
function M.run(name, arguments, options)
  local running = { errors = "", open = 0 }
  local ok, problem = pcall(function()
    core.interrupt_defer(start, running, name, arguments, options)
    wait(running)
  end)
  if not ok then
    if running.handle and not running.handle:is_closing() then
      uv.kill(-running.pid, "sigkill") -- all of its group
    end
    core.interrupt_defer(wait, running)
    error(problem, 0)
  end
  if running.signal ~= 0 or running.status ~= 0 then
    error(("%s %s: %s"):format(name, running.signal ~= 0
      and ("was killed by signal %d"):format(running.signal)
      or ("failed with status %d"):format(running.status),
      running.errors:match "^%s*(.-)%s*$"), 0)
  end
end

return M
