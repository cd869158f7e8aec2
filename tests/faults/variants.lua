-- The ways in which a call fails, and the errors that explain it.

local M = {}

local EINTR <const> = 4

-- By class and name: what `arm` of the library takes after the class and the number of the call.
-- After a failure, Lua and the pool of tensors free what they can and try again.
M.VARIANTS = {
  lua = { once = { 2, 0, false }, long = { 1 << 30, 0, false } },
  roper = { once = { 2, 0, false }, long = { 1 << 30, 0, false } },
  uv = { once = { 1, 0, false } },
  system = { once = { 1, 0, false }, long = { 1 << 30, 0, false },
    interrupted = { 1, EINTR, false }, short = { 1, 0, true } },
}

-- Reasons in messages, in lower case.
local REASONS <const> = {
  memory = { "memory", "problem allocating luv request", "failure to allocate buffer" },
  system = { "input/output error", "i/o error", "no space left", "too many open files",
    "permission denied", "temporarily unavailable", "no locks available", "cannot allocate memory",
    "interrupted system call", "it is truncated" },
}

-- System calls that may fail without an error: closing what was read, looking for what is no longer
-- needed and removing it, locking a temporary file, which no other process then removes, and
-- reading what a worker sends, which its files contain too. Results are compared all the same.
local TOLERATED <const> = { close = true, fstat = true, openat = true, rmdir = true,
  unlink = true, unlinkat = true, readdir = true, flock_temporary = true, read_socket = true }

-- System calls without which a temporary file cannot be removed.
local REMOVES <const> = { rmdir = true, unlink = true, unlinkat = true, opendir = true,
  readdir = true }

--- Lets call number `at` of a class fail.
function M.arm(faults, class, variant, at)
  faults.arm(class, at, table.unpack(M.VARIANTS[class][variant]))
end

--- May a script succeed although this call failed?
---@param class string
---@param variant string
---@param call string
---@param more table<string, boolean>? the script's own
---@return boolean?
function M.tolerates(class, variant, call, more)
  return variant == "interrupted" or variant == "short" or class == "lua"
    or TOLERATED[call] or more and more[call]
end

--- May a temporary file be left, until the next run removes it?
---@param class string
---@param variant string
---@param call string
---@return boolean?
function M.may_leave(class, variant, call)
  return class == "uv" or class == "lua" or variant == "long" or REMOVES[call]
end

--- May memory and descriptors stay in use? luv does not free what it holds when it lacks memory,
--- and cannot close a file without memory.
---@param class string
---@param variant string
---@return boolean
function M.may_hold(class, variant)
  return class == "uv" or class == "lua" and variant == "long"
end

-- Does an error say that there is no module? Lua says so too if its file cannot be opened.
local function is_of_require(message)
  return message:find "module '.-' not found" ~= nil or message:find "found no roper/native" ~= nil
end

--- Does an error message give the reason, and is it not one of Lua about a nil value?
---@param class string
---@param message string
---@return boolean
function M.is_explained(class, message)
  message = message:lower()
  if is_of_require(message) then
    return true
  elseif message:find("attempt to", 1, true) or message:find("assertion failed", 1, true) then
    return false
  end
  for _, reason in ipairs(REASONS[class] or REASONS.memory) do
    if message:find(reason, 1, true) then
      return true
    end
  end
  return false
end

--- The numbers of the calls that fail: all, or one in each of `most` equal parts.
---@param calls integer
---@param most integer
---@param seed integer
---@return integer[]
function M.chosen(calls, most, seed)
  math.randomseed(seed)
  local list, parts = {}, math.min(calls, most)
  for i = 1, parts do
    local low, high = (i - 1) * calls // parts + 1, i * calls // parts
    list[i] = math.random(low, high)
  end
  return list
end

-- By script: the limit of calls that fail for each class and variant, and the classes.
local SCRIPTS <const> = {
  { "sweep", 8, "roper", "system" },
  { "worker", 8, "lua", "roper", "system" },
  { "checkpoint", 24, "lua", "roper", "uv", "system" },
  { "report", 20, "lua", "roper", "uv", "system" },
  { "program", 25, "lua", "roper", "system" },
  { "step", 100, "lua", "roper" },
  { "tokens", 40, "lua", "roper", "uv", "system" },
  { "repl", 100, "lua", "roper", "uv", "system" },
  { "generate", 200, "lua", "roper", "system" },
}

--- The jobs of all scripts, classes and variants.
---@param seed integer
---@param is_wanted fun(job: table): boolean
---@return table[] jobs for `start` of watch.lua
function M.jobs(seed, is_wanted)
  local jobs = {}
  for _, script in ipairs(SCRIPTS) do
    for i = 3, #script do
      local names = {}
      for name in pairs(M.VARIANTS[ script[i] ]) do
        names[#names + 1] = name
      end
      table.sort(names)
      for _, name in ipairs(names) do
        local job = { script = script[1], class = script[i], variant = name, most = script[2],
          seed = seed }
        jobs[#jobs + 1] = is_wanted(job) and job or nil
      end
    end
  end
  return jobs
end

return M
