--- Record of the user's progress and answers in the lessons, a JSON file:
---
---     {"lessons": {"rotation": {"step": 3, "done": true, "answered": ["1.1", "3.2"]}}}
---
--- The key of a user's own lesson is the path of its file. An answer is "STEP.QUESTION".
local clock = require "roper.system.clock"
local core = require "roper.core"
local files = require "roper.system.file"
local paths = require "roper.system.paths"
local schema = require "roper.options.schema"

local M = {}

local WAIT <const>, TRIES <const> = 0.01, 1000 -- seconds between attempts to lock, and how many

--- The key of a lesson in the record.
---@param path string? of its file, if it is not in scripts/lessons
function M.key(lesson, path)
  return path and (files.real(path) or path) or lesson.name
end

local ENTRY <const> = { step = "size", done = "boolean?", answered = { "string" } }

-- The content of a record, or nil if it is not valid.
local function content_of(text)
  local content = files.parse(text)
  local ok = schema.fits(content, { lessons = {} })
  for _, entry in pairs(ok and content.lessons or {}) do
    ok = ok and schema.fits(entry, ENTRY) and entry.answered ~= nil
  end
  return ok and content or nil
end

local function read(path)
  local text = files.read(path)
  return content_of(text or '{"lessons": {}}')
    or error(path .. " is damaged and is not changed; repair or delete it", 0)
end

local function standard_path()
  return paths.state "lessons.json" or error("neither XDG_STATE_HOME nor HOME is set", 0)
end

--- Reads the record.
---@return table<string, table> entries {step, done, answered} by key; empty if there is no
---   record or it cannot be read
---@return string? problem why the record cannot be read
function M.load()
  local ok, content = pcall(function() return read(standard_path()) end)
  return ok and content.lessons or {}, not ok and content or nil
end

-- The lock that a process holds while it changes the record.
local function locked(path)
  for _ = 1, TRIES do
    local lock = core.lock(path .. ".lock")
    if lock then
      return lock
    end
    clock.sleep(WAIT)
  end
  error(("cannot write %s: another process has locked it"):format(path), 0)
end

--- Changes the entry of a lesson. Changes by other processes are kept.
---@param change fun(entry: table) changes {step, done, answered}
---@return string? problem why it was not recorded
function M.update(key, change)
  local ok, problem = pcall(function()
    local path = standard_path()
    files.make(path:match "^(.*)/")
    local _ <close> = locked(path)
    local content = read(path)
    local entry = content.lessons[key] or { step = 1, answered = {} }
    change(entry)
    entry.answered = core.json_array(entry.answered)
    content.lessons[key] = entry
    files.write(path, core.json_encode(content, { indent = 2 }) .. "\n")
  end)
  return not ok and problem or nil
end

return M
