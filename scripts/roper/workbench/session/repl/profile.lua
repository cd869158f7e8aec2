--- Where time goes: how often each function ran and how long, alone and with those that it called.
-- What runs in a coroutine counts for the function that resumed it.
local diagnostics = require "roper.base.diagnostics"
local uv = require "luv"

local M = {}

local HOOKED <const> = 4 -- its level, seen from Profile:entry, below event and the hook

---@class FunctionTime of a function; closures of one place count as one
---@field name string
---@field calls integer
---@field own number seconds in itself
---@field total number seconds, with those that it called

local Profile = {}
Profile.__index = Profile

-- The entry of the function that the hook is called for.
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

-- A function was left now.
function Profile:leave(now)
  local frame = table.remove(self.stack)
  local entry = frame.entry
  entry.depth = entry.depth - 1
  if entry.depth == 0 then
    entry.total = entry.total + now - frame.from
  end
  return frame
end

-- What Lua calls where a function begins or ends.
function Profile:event(kind)
  local now, stack = uv.hrtime() * 1e-9, self.stack
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
      frame = self:leave(now) -- also those that an error left
    until frame.entry == entry
    while frame.is_tail and stack[1] do
      frame = self:leave(now) -- that which it took the place of
    end
  end
  self.since = uv.hrtime() * 1e-9
end

--- Run a function and measure those that it calls.
---@param action function
---@param attempt fun(f: function) calls f, whatever comes of it
---@return FunctionTime[] times those that took longest in themselves first
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
    if entry.calls > 0 and entry.called ~= debug.sethook then
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
