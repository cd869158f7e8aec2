--- Who works on a run. The leases of a run are numbered files in its folder; the newest counts.
---
--- A lease begins as a file that did not exist, which any file system gives to one process alone,
--- so that any number of workers share a sweep without a coordinator. It is not removed while it is
--- the newest: a run is taken over by creating the next number, which two can not do either. Its
--- owner alone writes to it.
local core = require "roper.core"
local files = require "roper.base.file"
local uv = require "luv"

local M = {}

--- Seconds without a heartbeat after which the owner on another machine counts as dead. The clocks
--- of machines that share a folder must agree better than that.
M.LOST = 600

-- Seconds between heartbeats.
local BEAT <const> = 20

-- Seconds that a machine must be up before it takes what another boot of it held.
local SETTLED <const> = 120

-- The largest number of a lease; nobody comes near it.
local LARGEST <const> = 999999999

-- Seconds of a clock that nobody sets.
local function monotonic()
  return uv.hrtime() * 1e-9
end

local Lease = {}
Lease.__index = Lease

-- When a process of this machine began, in clock ticks since it was started; nil where none has
-- that id. Ids are used again, and so is the pair after a restart.
local function start_of(pid)
  local text = files.read(("/proc/%d/stat"):format(pid))
  local fields = text and text:match "^.*%)%s+(.*)$"
  if not fields or fields:match "^[ZX]" then
    return nil
  end
  return tonumber(fields:match("^" .. ("%S+ "):rep(19) .. "(%d+)"))
end

--- This process, so that any other can tell whether it lives.
---@return table host, machine, boot, namespace, pid, start
function M.owner()
  local function line(path)
    return (files.read(path) or ""):match "^[^\n]*"
  end
  local pid = math.tointeger(uv.os_getpid())
  return { host = uv.os_gethostname(), machine = line "/etc/machine-id",
    boot = line "/proc/sys/kernel/random/boot_id",
    namespace = uv.fs_readlink "/proc/self/ns/pid" or "", pid = pid, start = start_of(pid) }
end

-- Does the owner of a lease live? Where its process can be seen, that tells; elsewhere its
-- heartbeat. Another boot of the same machine is over, or it is a copy with the same name and id,
-- which would have shown a heartbeat since this machine started.
local function is_alive(owner, path)
  local here, lost = M.owner(), M.LOST
  if owner.host == here.host and owner.machine == here.machine then
    if owner.boot ~= here.boot then
      lost = math.min(lost, math.max(SETTLED, uv.uptime()))
    elseif owner.namespace == here.namespace then
      return owner.start ~= nil and start_of(owner.pid) == owner.start
    end
  end
  local stat = files.stat(path)
  return stat ~= nil and math.abs(os.time() - stat.mtime.sec) < lost -- a clock may have been set
end

local function path_of(folder, number)
  return ("%s/lease-%04d.json"):format(folder, number)
end

-- The leases in a folder: path by number. Older versions called them claims.
local function all(folder)
  local paths = {}
  for _, name in ipairs(files.names(folder)) do
    local number = tonumber(name:match "^lease%-(%d+)%.json$" or name:match "^claim%-(%d+)%.json$")
    if number and number <= LARGEST then
      paths[number] = folder .. "/" .. name
    end
  end
  return paths
end

-- The number of the newest lease in a folder, 0 where there is none, and its path.
local function newest(folder)
  local paths, largest = all(folder), 0
  for number in pairs(paths) do
    largest = math.max(largest, number)
  end
  return largest, paths[largest]
end

-- What a lease says; nil for what no process of ours writes.
local function parse(text)
  local content = text and files.parse(text)
  local owner = content and content.owner
  return type(owner) == "table" and math.type(owner.pid) == "integer" and content or nil
end

--- The newest lease on a run.
---@param folder string of the run
---@return table number (0 where there is none); state: "free", "running" or "failed"; owner;
---   message of what failed; problem: why it cannot be read, and counts as running
---@return string? path
function M.read(folder)
  local number, path = newest(folder)
  if number == 0 then
    return { number = 0, state = "free" }
  end
  local text, problem = files.peek(path)
  if problem then
    return { number = number, state = "running", problem = problem }
  end
  local content = parse(text)
  if not content then
    return { number = number, state = "free" }
  end
  local state = content.state
  if state == "running" and not is_alive(content.owner, path) then
    if files.peek(path) ~= text then -- what it wrote before it ended is what counts
      return M.read(folder)
    end
    state = "free"
  elseif state ~= "running" and state ~= "failed" then
    state = "free"
  end
  return { number = number, state = state, owner = content.owner,
    message = type(content.message) == "string" and content.message or nil }, path
end

-- What a lease says, as text.
local function text_of(owner, state, message)
  return core.json_encode({ state = state, message = message, owner = owner }, { indent = 2 })
    .. "\n"
end

--- Take a run that is free.
---@param folder string of the run, there already
---@param is_wanted? function looks once more, after the lease before was read: who finishes the run
---   meanwhile has a lease of the same number
---@return Lease? lease nil where somebody else has it, it failed, or is not wanted
---@return table found the lease before, as from `read`
function M.take(folder, is_wanted)
  local found = M.read(folder)
  if found.state ~= "free" or is_wanted and not is_wanted() then
    return nil, found
  elseif found.number == LARGEST then
    error(("%s: no lease can follow %s"):format(folder, path_of(folder, LARGEST)), 0)
  end
  local self = setmetatable({ folder = folder, number = found.number + 1,
    owner = M.owner(), beaten = monotonic() }, Lease)
  self.path = path_of(folder, self.number)
  if not files.create(self.path, text_of(self.owner, "running")) then
    return nil, found
  elseif newest(folder) ~= self.number then
    uv.fs_unlink(self.path) -- of the number that was free, a later owner has removed the lease
    return nil, found
  end
  return self, found
end

--- Show others now and then that the owner lives; an error where the run was taken over by somebody
--- who thought it did not.
function Lease:beat()
  if monotonic() - self.beaten >= BEAT then
    self:check()
    uv.fs_utime(self.path, os.time(), os.time())
    self.beaten = monotonic()
  end
end

--- An error unless the lease still holds.
function Lease:check()
  if newest(self.folder) ~= self.number then
    error(("%s: another worker has taken over; this one was silent for too long"):format(
      self.folder), 0)
  end
end

--- Remove the leases before this one, where nobody asks who worked.
function Lease:forget_others()
  for number, path in pairs(all(self.folder)) do
    if number < self.number then
      uv.fs_unlink(path)
    end
  end
end

--- Give the run back: "released" as free to take, "finished", or "failed" with a message.
---@param state string
---@param message string?
function Lease:leave(state, message)
  files.write(self.path, text_of(self.owner, state, message))
end

--- Remove what a killed owner left unfinished in the folder of a run, unless somebody works on it.
---@param folder string of the run
function M.clean(folder)
  if M.read(folder).state ~= "running" then
    files.clean(folder)
  end
end

--- Let a failed run be taken again.
---@param folder string of the run
function M.retry(folder)
  local found, path = M.read(folder)
  if found.state == "failed" then
    files.write(path, text_of(found.owner, "released", found.message))
  end
end

--- Say that a run failed whose owner died of it.
---@param folder string of the run
---@param pid integer of the owner, on this machine
---@param message string
function M.mark_failed(folder, pid, message)
  local found, path = M.read(folder)
  if found.state == "free" and found.owner and found.owner.pid == pid then
    files.write(path, text_of(found.owner, "failed", message))
  end
end

return M
