-- Runs programs for specs, to their end or in a pseudo-terminal.

local busted = require("busted")
local uv = require("luv")

local M = {}

--- Milliseconds until a program counts as stuck, also if many others run.
M.PATIENCE = 300000

-- Writing to a program that has ended must not end this process.
local broken_pipe = uv.new_signal()
broken_pipe:start("sigpipe", function() end)
broken_pipe:unref()

-- The environment of this process with changes; false removes a variable.
local function environment(changes)
  local list = {}
  for name, value in pairs(uv.os_environ()) do
    if changes[name] == nil then
      list[#list + 1] = name .. "=" .. value
    end
  end
  for name, value in pairs(changes) do
    if value then
      list[#list + 1] = name .. "=" .. value
    end
  end
  return list
end

local living = {} -- programs that have not ended, as keys

--- Start a program. It is killed if it is still running when its test ends.
---@param command string[]
---@param stdio table? as for luv; nothing by default
---@param changes table? as for `run`
---@return table process handle, pid, and status once it has ended; open: handles that are open
function M.spawn(command, stdio, changes)
  local process = { open = 1 }
  process.handle, process.pid = uv.spawn(command[1], {
    args = table.move(command, 2, #command, 1, {}),
    stdio = stdio or {},
    env = environment(changes or {}),
  }, function(status, signal)
    process.status = signal ~= 0 and 128 + signal or status
    process.open = process.open - 1
    process.handle:close()
    living[process] = nil
  end)
  if not process.handle then
    uv.run("nowait") -- luv crashes at exit if the handle was not released
    error(("cannot start %s: %s"):format(command[1], process.pid))
  end
  living[process] = true
  return process
end

-- Start a program; returns a table whose fields fill while the loop runs.
local function start(command, changes)
  local stdin, stdout, stderr = uv.new_pipe(), uv.new_pipe(), uv.new_pipe()
  local process = M.spawn(command, { stdin, stdout, stderr }, changes)
  process.stdin, process.output, process.errors, process.open = stdin, "", "", 3
  for pipe, field in pairs({ [stdout] = "output", [stderr] = "errors" }) do
    pipe:read_start(function(_, data)
      process[field] = process[field] .. (data or "")
      if not data then
        process.open = process.open - 1
        pipe:close()
      end
    end)
  end
  return process
end

-- Runs the loop until the condition is true; returns false if that takes too long.
local function wait(condition)
  local timer, is_late = uv.new_timer(), false
  uv.update_time()
  timer:start(M.PATIENCE, 0, function() is_late = true end)
  while not condition() and not is_late do
    uv.run("once")
  end
  timer:close()
  uv.run("nowait") -- luv crashes at exit if a handle is still closing
  return not is_late
end

--- Run a program to its end.
---@param command string[]
---@param input string?
---@param changes table? environment variables to set, or to remove if false
---@return integer status 128 + n after signal n
---@return string output
---@return string errors
function M.run(command, input, changes)
  local process = start(command, changes or {})
  process.stdin:write(input or "")
  process.stdin:shutdown(function() process.stdin:close() end)
  if not wait(function() return process.open == 0 end) then
    process.handle:kill("sigkill")
    error("still running: " .. table.concat(command, " ") .. "\n" .. process.output)
  end
  return process.status, process.output, process.errors
end

--- The reason to skip a test of some programs; nil if all are installed.
---@param ... string
---@return string?
function M.missing(...)
  for _, program in ipairs({ ... }) do
    if M.run({ "sh", "-c", "PATH=$PATH:/usr/sbin command -v " .. program }) ~= 0 then
      return program .. " is not installed"
    end
  end
  return nil
end

-- A failed assertion leaves its program running. Scripts that busted does not run have no tests.
if busted.subscribe then
  busted.subscribe({ "test", "end" }, function()
    for process in pairs(living) do
      process.handle:kill("sigkill")
      if process.stdin and not process.stdin:is_closing() then
        process.stdin:close()
      end
      wait(function() return process.open == 0 end)
    end
    return nil, true
  end)
end

local Screen = {}
Screen.__index = Screen

--- Start a program in a pseudo-terminal.
---@param command string a shell command
---@param changes table? as for `run`
---@return table screen with the methods `expect`, `type` and `leave`
function M.open(command, changes)
  -- Without the trap, Ctrl-C for the program would also end some shells.
  local process = start({ "script", "--quiet", "--return", "--flush", "--command",
    "trap : INT; " .. command, "/dev/null" }, changes or {})
  return setmetatable({ process = process, text = "", read = 0, seen = 0 }, Screen)
end

-- The output sent to the terminal, without control sequences.
function Screen:plain()
  local rest = self.process.output:sub(self.read + 1):gsub("\27%[?[%d;?]*$", "") -- half of one
  if rest ~= "" then
    self.read = self.read + #rest
    self.text = self.text .. rest:gsub("\27%[[%d;?]*%a", ""):gsub("\r", "")
  end
  return self.text
end

--- Wait until a text appears after the text that the last call found.
---@param text string
---@return string passed the output before it
function Screen:expect(text)
  local first, last
  local function is_there()
    first, last = self:plain():find(text, self.seen + 1, true)
    return first ~= nil or self.process.open == 0
  end
  if not wait(is_there) or not first then
    error(("expected %q, got %q"):format(text, self.text:sub(self.seen + 1)), 2)
  end
  local passed = self.text:sub(self.seen + 1, first - 1)
  self.seen = last
  return passed
end

--- Type a text.
---@param text string
function Screen:type(text)
  self.process.stdin:write(text)
end

--- Wait for the end of the program.
---@return integer status
function Screen:leave()
  if not wait(function() return self.process.status ~= nil end) then
    self.process.handle:kill("sigkill")
    error("still running; the screen: " .. self:plain(), 2)
  end
  self.process.stdin:close()
  wait(function() return self.process.open == 0 end)
  return self.process.status
end

return M
