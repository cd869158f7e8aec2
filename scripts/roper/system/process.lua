--- This process, and other programs: started in the background, or run to their end.
local core = require "roper.core"
local files = require "roper.system.file"
local uv = require "luv"

local M = {}

-- Milliseconds between checks of a program and of Ctrl-C.
local POLL <const> = 2

-- Bytes of standard error that are kept for the error message.
local KEPT <const> = 2000

--- Can other programs be started? Not in a page.
M.starts_programs = true

--- Raises an error in a page, which starts no programs. Here, it does nothing.
---@param _ string what would start programs
function M.need(_) end

--- Raises an error in a page if several processes are asked for. Here, it does nothing.
---@param _? integer the number of processes
function M.need_jobs(_) end

--- Is a program installed?
---@param name string
---@return boolean
function M.has(name)
  return os.execute(("command -v %s >/dev/null 2>&1"):format(name)) == true
end

--- Runs a command of the shell, which uses this process's standard streams.
---@param command string
---@return boolean? ok
---@return "exit"|"signal" how
---@return integer status exit status or signal
M.shell = os.execute

--- Runs a command of the shell and returns what it writes to standard output.
---@param command string
---@return string output
---@return boolean? ok, string how, integer status as for `shell`
function M.output(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "a"
  return text, pipe:close()
end

--- The id of this process.
---@return integer id
function M.id()
  return math.tointeger(uv.os_getpid())
end

--- The start of a process of this machine, in clock ticks since boot. It distinguishes processes
--- that had the same id one after another, until the machine is restarted.
---
--- Errors: the system has no /proc.
---@param pid integer
---@return integer? start nil if there is no such process
function M.start_of(pid)
  local text = files.read(("/proc/%d/stat"):format(pid))
  local fields = text and text:match "^.*%)%s+(.*)$"
  if not text and not files.read "/proc/self/stat" then
    error("cannot read /proc/self/stat, which shows if the owner of a run is alive; mount /proc", 0)
  elseif not fields or fields:match "^[ZX]" then
    return nil
  end
  return tonumber(fields:match("^" .. ("%S+ "):rep(19) .. "(%d+)"))
end

--- The command that runs Lua code in a process of its own, by the interpreter of this process.
---
--- Errors: the interpreter cannot be found.
---@param arguments string[] as for lua5.4
---@return string[] command
function M.lua(arguments)
  -- Only roper's own program, which contains Lua, has luv already; its arguments are roper's.
  local words = package.preload.luv and { "--lua", table.unpack(arguments) } or arguments
  return { assert(uv.exepath()), table.unpack(words) }
end

--- Starts a program in a process group of its own, since Ctrl-C must not reach it directly. Do not
--- call this from a luv callback.
---
--- Errors: a program that is missing or cannot be started.
---@param running table the function fills it with handle, pid, status and signal; errors: the end
---   of its standard error; open: number of open handles
---@param name string
---@param options table arguments; package: Debian package that has the program, for the message;
---   folder: working directory; environment: list of NAME=value; input: text for standard input;
---   listen: called with data from standard output; ended: called when all handles are closed
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
    uv.run "nowait" -- luv crashes at exit if the closed handles were never processed
    error(code == "ENOENT" and options.package
      and ("cannot find the program %s; install it (in Debian: apt-get install %s)"):format(name,
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
    -- A program that ends before it has read its input must not end this one by SIGPIPE.
    local broken_pipe = uv.new_signal()
    broken_pipe:start("sigpipe", function() end)
    input:write(options.input, function()
      input:close()
      broken_pipe:close()
    end)
  end
end

-- Waits until a program has ended. Ctrl-C is handled while it sleeps.
local function wait(running)
  while running.open > 0 do
    core.interrupt_defer(uv.run, "nowait")
    uv.sleep(POLL)
  end
end

--- Runs a program and waits for its end. Ctrl-C kills it.
---
--- Errors: a program that is missing, fails or is killed; the message has its standard error.
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
      uv.kill(-running.pid, "sigkill") -- its process group
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
