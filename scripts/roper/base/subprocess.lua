--- Other programs: started in the background, or run to their end.
local core = require "roper.core"
local uv = require "luv"

local M = {}

-- Milliseconds between two looks at a program and for Ctrl-C.
local LOOK <const> = 2

-- Bytes that are kept of what a program says of its failure.
local KEPT <const> = 2000

--- Is a program installed?
---@param name string
---@return boolean
function M.has(name)
  return os.execute(("command -v %s >/dev/null 2>&1"):format(name)) == true
end

--- Start a program in a process group of its own, so that Ctrl-C reaches it through us alone. Not
--- to be called by what luv calls.
---
--- Errors: one that is missing or does not start.
---@param running table gets handle, pid, status and signal; errors: the last that it said on
---   standard error; open: how many of its handles are
---@param name string
---@param options table arguments; package: that of Debian to install where the program is missing;
---   folder: where it runs; environment: list of NAME=value; input: text for standard input;
---   listen: told what it writes on standard output; ended: called when all of it is closed
function M.start(running, name, options)
  local input, output = options.input and uv.new_pipe(), options.listen and uv.new_pipe()
  local errors = uv.new_pipe()
  local function closed(handle)
    handle:close()
    running.open = running.open - 1
    if running.open == 0 and options.ended then
      options.ended()
    end
  end
  local handle, pid, code = uv.spawn(name, { args = options.arguments, cwd = options.folder,
    env = options.environment, detached = true, stdio = { input, output, errors } },
    function(status, signal)
      running.status, running.signal = status, signal
      closed(running.handle)
    end)
  if not handle then
    for _, pipe in pairs { input, output, errors } do
      pipe:close()
    end
    uv.run "nowait" -- luv crashes at the end of a process that never let it forget the handles
    error(code == "ENOENT" and options.package
      and ("cannot find the program %s; please install it: apt-get install %s"):format(name,
        options.package)
      or ("cannot start %s: %s"):format(name, pid), 0)
  end
  running.handle, running.pid, running.errors, running.open = handle, pid, "", 1
  local function read(pipe, take)
    running.open = running.open + 1
    pipe:read_start(function(_, data)
      if data then
        take(data)
      else
        closed(pipe)
      end
    end)
  end
  read(errors, function(data)
    running.errors = (running.errors .. data):sub(-KEPT)
  end)
  if output then
    read(output, options.listen)
  end
  if input then
    input:write(options.input, function()
      input:close()
    end)
  end
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
---@param options {package: string, folder?: string} as for `start`
function M.run(name, arguments, options)
  local running = { open = 0 }
  local ok, problem = pcall(function()
    core.interrupt_defer(M.start, running, name, { arguments = arguments,
      package = options.package, folder = options.folder })
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
