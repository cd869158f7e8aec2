--- Measuring programs. Each is a separate process, with its own memory, threads and environment. It
--- reads the name of a case from a line and answers with a line of JSON.
local core = require "roper.core"
local uv = require "luv"

local M = {}

--- Milliseconds before a case, in which the threads of the previous program stop spinning.
M.pause = 10

local Child = {}
Child.__index = Child

-- The environment with `changes`, without the variable that overrides OpenBLAS's processor.
local function environment(changes)
  local variables = uv.os_environ()
  variables.OPENBLAS_CORETYPE = nil
  for name, value in pairs(changes) do
    variables[name] = value
  end
  local list = {}
  for name, value in pairs(variables) do
    list[#list + 1] = name .. "=" .. value
  end
  return list
end

--- Start a program.
---@param command string[]
---@param changes table? environment variables to set; OPENBLAS_CORETYPE is never passed on
---@return Child
function M.start(command, changes)
  local self = setmetatable({ command = command, stdin = uv.new_pipe(), stdout = uv.new_pipe(),
    received = "" }, Child)
  self.handle, self.pid = uv.spawn(command[1], {
    args = table.move(command, 2, #command, 1, {}),
    stdio = { self.stdin, self.stdout, 2 },
    env = environment(changes or {}),
  }, function()
    self.handle:close()
  end)
  if not self.handle then
    error(("cannot start %s: %s"):format(command[1], self.pid), 0)
  end
  self.stdout:read_start(function(_, data)
    self.received = self.received .. (data or "")
    if not data then
      self.stdout:close()
    end
  end)
  return self
end

--- Start a worker on the cases of `tests/bench/case/KIND.lua`.
---@param kind string
---@param options table? passed to the cases
---@return Child
function M.worker(kind, options)
  return M.start { "./roper", "tests/bench/worker.lua", kind, core.json_encode(options or {}) }
end

--- Run one case.
---@param case string
---@return any its result
function Child:call(case)
  uv.sleep(M.pause)
  self.stdin:write(case .. "\n")
  while not self.received:find("\n", 1, true) do
    if self.stdout:is_closing() then
      error("ended without an answer: " .. table.concat(self.command, " "), 0)
    end
    uv.run "once"
  end
  local line, rest = self.received:match "^(.-)\n(.*)$"
  self.received = rest
  return core.json_decode(line).result
end

--- A function that runs one case.
---@param case string
---@return function
function Child:bind(case)
  return function()
    return self:call(case)
  end
end

--- The peak resident memory.
---@return integer bytes
function Child:peak_bytes()
  local file <close> = assert(io.open(("/proc/%d/status"):format(self.pid)))
  return math.tointeger(file:read("a"):match "VmHWM:%s*(%d+) kB") * 1024
end

--- Page faults so far that needed no disk.
---@return integer
function Child:faults()
  local file <close> = assert(io.open(("/proc/%d/stat"):format(self.pid)))
  return math.tointeger(file:read("a"):match "%) %a %S+ %S+ %S+ %S+ %S+ %S+ (%d+)")
end

--- End the program and wait for its end.
function Child:stop()
  self.stdin:close()
  while not (self.handle:is_closing() and self.stdout:is_closing()) do
    uv.run "once"
  end
  uv.run "nowait" -- releases closed handles
end

return M
