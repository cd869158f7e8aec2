--- Verdicts of `roper.position.check` on the position schemes of users: computed before the first
--- run with a scheme, kept in the cache by the content of the loaded files, and copied into the
--- folders of runs.
local core = require "roper.core"
local diagnostics = require "roper.text.diagnostics"
local escape = require "roper.base.escape"
local experiment = require "roper.workbench.study.experiment"
local files = require "roper.system.file"
local hash = require "roper.base.hash"
local loaded = require "roper.workbench.study.experiment.loaded"
local paths = require "roper.system.paths"
local position = require "roper.position"
local schema = require "roper.options.schema"
local tables = require "roper.base.tables"
local texts = require "roper.position.text"

local M = {}

--- Name of the file with the verdicts in the folder of a run.
M.FILE = "battery.json"

---@class BatteryVerdict
---@field scheme string its text, such as "near{reach=4}"
---@field ok boolean
---@field failed string[] the names of the failed checks; the error if the scheme cannot be created

local FORM <const> = { scheme = "string", ok = "boolean", failed = "table" }

local memory = {} -- verdicts of this process by key, also if there is no folder for the cache

-- The schemes in a position, one after the other.
local function parts_of(given)
  if type(given) == "table" and (given.parts or given[1]) then
    return tables.joined(table.unpack(tables.map(given.parts or given, parts_of)))
  end
  return { given }
end

-- The schemes of users in a configuration, by their texts.
local function own_schemes(config)
  local found = {}
  for _, part in ipairs(parts_of(experiment.scheme(config))) do
    if not position.is_built_in(type(part) == "table" and part.type or part) then
      found[texts.canonical(part, "battery")] = part
    end
  end
  return found
end

-- The key of a verdict, and its path in the cache; no path if there is no folder for it.
local function place_of(text)
  local key = hash.of(("%s\0%s\0%s"):format(require "roper.base.version", text,
    loaded.now() or ""))
  local folder = paths.user("XDG_CACHE_HOME", ".cache")
  return key, folder and ("%s/roper/battery-%s.json"):format(folder, key) or nil
end

-- The verdict on a scheme, if it is known.
local function known(text)
  local key, path = place_of(text)
  local verdict = memory[key] or path and files.decode(path)
  memory[key] = verdict and schema.fits(verdict, FORM) and verdict or nil
  return memory[key]
end

-- Runs the checks and keeps the verdict.
local function judge(text, scheme)
  local ok, findings = pcall(require("roper.model.battery").check, scheme)
  if not ok and diagnostics.is_transient(findings) then
    error(findings, 0)
  end
  local verdict = { scheme = text, ok = ok and findings.ok,
    failed = core.json_array(ok and findings.failed
      or { diagnostics.without_place(tostring(findings)) }) }
  local key, path = place_of(text)
  memory[key] = verdict
  pcall(function() -- a cache that cannot be written costs only time
    files.make(path:match "^(.*)/")
    files.write(path, core.json_encode(verdict) .. "\n")
  end)
  return verdict
end

--- Checks the schemes of users in configurations, unless their verdicts are known.
---@param configs table[]
---@param say fun(text: string) called with a line for each scheme that fails or is checked now
function M.check(configs, say)
  local done = {}
  for _, config in ipairs(configs) do
    for text, scheme in pairs(own_schemes(config)) do
      local before = done[text] or known(text)
      local verdict = before or judge(text, scheme)
      if not done[text] and not (before and verdict.ok) then
        say(escape.line(M.line(verdict)))
      end
      done[text] = verdict
    end
  end
end

--- Describes a verdict.
---@param verdict BatteryVerdict
---@return string line
function M.line(verdict)
  return verdict.ok and ("%s passes the battery of checks"):format(verdict.scheme)
    or ("%s fails the battery of checks: %s; to see more: roper.position.check %q"):format(
      verdict.scheme, table.concat(verdict.failed, ", "), verdict.scheme)
end

--- Writes the known verdicts on the schemes of a configuration into the folder of a run.
---@param folder string
---@param config table
function M.keep(folder, config)
  local list = {}
  local schemes = own_schemes(config)
  for _, text in ipairs(tables.keys(schemes)) do
    list[#list + 1] = known(text)
  end
  if list[1] then
    files.write(("%s/%s"):format(folder, M.FILE), core.json_encode(core.json_array(list),
      { indent = 2 }) .. "\n")
  end
end

--- Reads the verdicts in the folder of a run.
---@param folder string
---@return BatteryVerdict[] verdicts empty without the file
function M.of(folder)
  local list = files.decode(("%s/%s"):format(folder, M.FILE))
  return tables.map(type(list) == "table" and list or {}, function(verdict)
    return schema.fits(verdict, FORM) and verdict or nil
  end)
end

--- Summarizes verdicts for a table.
---@param verdicts BatteryVerdict[]
---@return string? text such as "passes" or "fails moved by 1, 3 more"; nil without verdicts
function M.summary(verdicts)
  local failed = {}
  for _, verdict in ipairs(verdicts) do
    failed = tables.joined(failed, verdict.failed)
  end
  local more = #failed > 1 and (", %d more"):format(#failed - 1) or ""
  return verdicts[1] and (failed[1] and ("fails %s%s"):format(failed[1], more) or "passes") or nil
end

return M
