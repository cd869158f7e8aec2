--- Profiler: the number of calls and the time of each function, with and without its callees.
-- Time in a coroutine counts for the function that resumed it.
local arity = require "roper.options.arity"
local diagnostics = require "roper.text.diagnostics"
local clock = require "roper.system.clock"

local M = {}

local HOOKED <const> = 4 -- stack level of the hooked function in Profile:entry

---@class FunctionTime time of a function; closures with the same source are one function
---@field name string
---@field calls integer
---@field own number seconds without callees
---@field total number seconds with callees

local Profile = {}
Profile.__index = Profile

function Profile:entry()
  local where = debug.getinfo(HOOKED, "Sf")
  local called = where.func
  local place = where.what == "C" and called or where.source .. where.linedefined
  local entry = self.entries[place]
  if not entry then
    local name = debug.getinfo(HOOKED, "n").name or "function"
    local file = where.short_src:match "[^/]*$"
    entry = { called = called, own = 0, total = 0, calls = 0, depth = 0,
      name = where.what == "main" and file or where.what == "C" and name .. " in C"
        or ("%s %s:%d"):format(name, file, where.linedefined) }
    self.entries[place] = entry
  end
  return entry
end

-- Pops a frame at time `now`, and returns it.
function Profile:leave(now)
  local frame = table.remove(self.stack)
  local entry = frame.entry
  entry.depth = entry.depth - 1
  if entry.depth == 0 then
    entry.total = entry.total + now - frame.from
  end
  return frame
end

function Profile:event(kind)
  local now, stack = clock.seconds(), self.stack
  local top = stack[#stack]
  if top then
    top.entry.own = top.entry.own + now - self.since
  end
  local entry = self:entry()
  if kind ~= "return" then
    entry.calls, entry.depth = entry.calls + 1, entry.depth + 1
    stack[#stack + 1] = { entry = entry, from = now, is_tail = kind == "tail call" }
  elseif entry.depth > 0 then
    local frame
    repeat
      frame = self:leave(now) -- an error may have unwound several
    until frame.entry == entry
    while frame.is_tail and stack[1] do
      frame = self:leave(now) -- the frame replaced by a tail call
    end
  end
  self.since = clock.seconds()
end

--- Profiles a function.
---@param action function
---@param attempt fun(f: function) calls f and handles its errors
---@return FunctionTime[] times in descending order of `own`
function M.measure(action, attempt)
  local profile = setmetatable({ entries = {}, stack = {}, since = 0 }, Profile)
  attempt(function()
    debug.sethook(function(kind)
      profile:event(kind)
    end, "cr")
    action()
  end)
  debug.sethook()
  while profile.stack[1] do
    profile:leave(profile.since)
  end
  local times = {}
  for _, entry in pairs(profile.entries) do
    if entry.calls > 0 and entry.called ~= debug.sethook
      and arity.original(entry.called) == entry.called then
      entry.name = diagnostics.help_name(entry.called) or entry.name
      times[#times + 1] = entry
    end
  end
  table.sort(times, function(a, b)
    return a.own > b.own
  end)
  return times
end

return M
