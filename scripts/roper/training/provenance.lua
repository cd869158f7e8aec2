--- Provenance of a run: a record of version and machine for each part of its training, with the
--- step at which that part began.
local core = require "roper.core"
local environment = require "roper.system.environment"
local info = require "roper.system.info"
local load_option = require "roper.options.load_option"
local tables = require "roper.base.tables"

local M = {}

--- Facts about this process that are stored with a run. Its results and timings depend on them.
---@return table facts version, commit, host, processor, blas, instructions, threads, started;
---   loaded: files run by --load, with their hashes
function M.here()
  local facts = core.machine()
  facts.version, facts.commit = require "roper.base.version", info.commit()
  facts.loaded = load_option.text()
  facts.host, facts.started = environment.host(), os.date "!%Y-%m-%dT%H:%M:%SZ"
  return facts
end

--- Returns the names of the fields of a record that describe version and machine.
---@param record table
---@return string[] names sorted
function M.names(record)
  local fields = tables.merged(record)
  fields.started, fields.step = nil, nil -- these do not influence results
  return tables.keys(fields)
end

--- Returns the provenance in the content of a run's config.json.
---@param about any
---@return table[] records from `here`, with `step`: steps done when the part began
function M.of(about)
  local records = type(about) == "table" and about.provenance
  local list = {}
  for _, record in ipairs(type(records) == "table" and records or {}) do
    if type(record) == "table" then
      record.step = math.tointeger(record.step) or 0
      list[#list + 1] = record
    end
  end
  return list
end

-- Fields that can influence results: through the order of summation, precision, or loaded code.
local NUMBERS <const> = { "threads", "matmul_precision", "instructions", "blas",
  "loaded", "ranks" }

-- Returns a note if results may change in their last bits from one record to the next, or nil.
local function change(before, now)
  local parts = {}
  for _, name in ipairs(NUMBERS) do
    local was, is = before[name], now[name]
    if name == "ranks" then
      was, is = was or 1, is or 1
    end
    if was ~= nil and was ~= is then
      parts[#parts + 1] = ("%s %s instead of %s"):format(name, is or "nothing", tostring(was))
    end
  end
  return parts[1] and ("from step %d on with %s: results may differ in the last bits from those of "
    .. "an uninterrupted run"):format(now.step, table.concat(parts, ", "))
end

-- Returns true if two records differ at most in when they started.
local function is_same(a, b)
  for _, name in ipairs(M.names(tables.merged(a, b))) do
    if a[name] ~= b[name] then
      return false
    end
  end
  return true
end

--- Returns the provenance of a run that this process continues.
---@param before table[] the records so far
---@param step integer at which it continues; records that begin at or after it are dropped
---@param ranks? integer number of processes that train together
---@return table[] records with a new one if version or machine differ from those of the last
---@return string? note if results may differ in the last bits from those on the last machine
function M.continue(before, step, ranks)
  local list = tables.map(before, function(record) return record.step < step and record or nil end)
  local own = M.here()
  own.step, own.ranks = step, ranks
  local last = list[#list]
  if not last or not is_same(last, own) then
    list[#list + 1] = own
  end
  return list, last and change(last, own)
end

--- Formats one field over all records: "8f304ef then d44e7aa from step 2210".
---@param records table[]
---@param name string such as "commit"
---@return string
function M.text(records, name)
  local parts, last = {}, nil
  for i, record in ipairs(records) do
    local value = tostring(record[name] or "-")
    if value ~= last then
      parts[#parts + 1] = i == 1 and value or ("%s from step %d"):format(value, record.step)
    end
    last = value
  end
  return #parts > 0 and table.concat(parts, " then ") or "-"
end

return M
