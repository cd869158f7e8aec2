--- Claims of processes on runs. The claims on a run are numbered files in its folder,
--- lease-0001.json and so on; only the newest is valid.
---
--- A process claims a run by creating the next file. Any file system lets only one process create a
--- file, so workers can share a sweep without a coordinator. The newest file is never removed: a
--- run is taken over by creating the next one. Only the owner of a claim writes to its file.
local clock = require "roper.system.clock"
local core = require "roper.core"
local environment = require "roper.system.environment"
local files = require "roper.system.file"
local process = require "roper.system.process"
local schema = require "roper.options.schema"

local M = {}

--- Seconds without a heartbeat after which an owner on another machine counts as dead. The clocks
--- of machines that share a folder must agree better than that.
M.LOST = 600

-- Seconds between heartbeats.
local HEARTBEAT <const> = 20

-- Seconds that a machine must be up before it takes over claims from before its last boot.
local SETTLED <const> = 120

-- Maximum number of a claim.
local LARGEST <const> = 999999999

local Claim = {}
Claim.__index = Claim

-- Claims of this process that an error has ended: content by path. Their files still say that they
-- are running.
local left = {}

--- Describes this process, so that others can check whether it is alive.
---@return table host, machine, boot, namespace, pid, start
function M.owner()
  local function line(path)
    return (files.read(path) or ""):match "^[^\n]*"
  end
  local pid = process.id()
  return { host = environment.host(), machine = line "/etc/machine-id",
    boot = line "/proc/sys/kernel/random/boot_id",
    namespace = files.target "/proc/self/ns/pid" or "", pid = pid, start = process.start_of(pid) }
end

-- Returns true if the owner of a claim is alive. If its process is not visible here, its heartbeat
-- decides. A claim from another boot of this machine is dead, unless it belongs to a copy
-- of the machine with the same name and id. Such a copy has a heartbeat newer than this boot.
local function is_alive(owner, path)
  local here, lost = M.owner(), M.LOST
  if owner.host == here.host and owner.machine == here.machine then
    if owner.boot ~= here.boot then
      lost = math.min(lost, math.max(SETTLED, clock.uptime()))
    elseif owner.namespace == here.namespace then
      return owner.start ~= nil and process.start_of(owner.pid) == owner.start
    end
  end
  local stat = files.stat(path)
  return stat ~= nil and math.abs(clock.time() - stat.mtime.sec) < lost
end

local function path_of(folder, number)
  return ("%s/lease-%04d.json"):format(folder, number)
end

-- The claims in a folder: path by number.
local function all(folder)
  local paths = {}
  for _, name in ipairs(files.names(folder)) do
    local number = tonumber(name:match "^lease%-(%d+)%.json$")
    if number and number <= LARGEST then
      paths[number] = folder .. "/" .. name
    end
  end
  return paths
end

-- The number of the newest claim in a folder, 0 if there is none, and its path.
local function newest(folder)
  local paths, largest = all(folder), 0
  for number in pairs(paths) do
    largest = math.max(largest, number)
  end
  return largest, paths[largest]
end

--- Reads the newest claim on a run.
---@param folder string of the run
---@return table found number (0 if there is none); state: "free", "running" or "failed"; owner;
---   message: the error of a failed run; problem: why the claim cannot be read, in which case it
---   counts as running
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
  local content = text and files.parse(text)
  if not schema.fits(content, { owner = { pid = "integer" } }) then
    return { number = number, state = "free" }
  end
  local state = content.state
  if state == "running" and (left[path] == text or not is_alive(content.owner, path)) then
    if files.peek(path) ~= text then -- the owner wrote once more before it ended
      return M.read(folder)
    end
    state = "free"
  elseif state ~= "running" and state ~= "failed" then
    state = "free"
  end
  return { number = number, state = state, owner = content.owner,
    message = type(content.message) == "string" and content.message or nil }, path
end

-- The text of a claim.
local function text_of(owner, state, message)
  return core.json_encode({ state = state, message = message, owner = owner }, { indent = 2 })
    .. "\n"
end

--- Claims a free run.
---@param folder string an existing folder of the run
---@param is_wanted? fun(): boolean called after the previous claim is read; returns false to refuse
---   the run, for example because another process has finished it
---@return Claim? claim nil if the run is claimed, failed or refused
---@return table found the previous claim, as from `read`
function M.take(folder, is_wanted)
  local found = M.read(folder)
  if found.state ~= "free" or is_wanted and not is_wanted() then
    return nil, found
  elseif found.number == LARGEST then
    error(("%s: no claim can follow %s"):format(folder, path_of(folder, LARGEST)), 0)
  end
  local self = setmetatable({ folder = folder, number = found.number + 1,
    owner = M.owner(), beaten = clock.seconds() }, Claim)
  self.path, self.text = path_of(folder, self.number), text_of(self.owner, "running")
  left[self.path] = self.text -- if an error follows, a file that was created counts as left
  local is_created = files.create(self.path, self.text)
  local is_newest = is_created and newest(folder) == self.number
  left[self.path] = nil
  if is_created and not is_newest then
    files.remove_file(self.path) -- a later owner has removed the claim that had this number
  end
  return is_newest and self or nil, found
end

--- Updates the heartbeat, at most every 20 seconds.
---
--- Errors: another process has taken over the run.
function Claim:beat()
  if clock.seconds() - self.beaten >= HEARTBEAT then
    self:check()
    files.touch(self.path)
    self.beaten = clock.seconds()
  end
end

--- Raises an error if another process has taken over the run.
function Claim:check()
  if newest(self.folder) ~= self.number then
    error(("%s: another worker has taken over, because this one had no heartbeat for too long")
      :format(self.folder), 0)
  end
end

--- Removes the files of earlier claims.
function Claim:forget_others()
  for number, path in pairs(all(self.folder)) do
    if number < self.number then
      files.remove_file(path)
    end
  end
end

--- Ends the claim. If its file cannot be written, it ends for this process at once, and for others
--- when this process ends.
---@param state "released"|"finished"|"failed" a released run can be claimed again
---@param message string? the error of a failed run
function Claim:leave(state, message)
  left[self.path] = self.text
  files.write(self.path, text_of(self.owner, state, message))
  left[self.path] = nil
end

--- Removes unfinished files of a killed process from the folder of a run that is not running.
function M.clean(folder)
  if M.read(folder).state ~= "running" then
    files.clean(folder)
  end
end

--- Releases a failed run, so that it can be claimed again.
function M.retry(folder)
  local found, path = M.read(folder)
  if found.state == "failed" then
    files.write(path, text_of(found.owner, "released", found.message))
  end
end

--- Marks a run as failed after its owner died.
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
