--- The provenance of a run: records of the versions and machines that worked on it one after
--- another, and from which step on each did.
local tables = require "roper.base.tables"

local M = {}

--- The names of what a record tells of version and machine.
---@param record table
---@return string[] names sorted
function M.names(record)
  local told = tables.merged(record)
  told.started, told.step = nil, nil -- which say nothing of the numbers that come out
  return tables.keys(told)
end

--- The provenance that the content of a run's config.json tells.
---@param about any
---@return table[] records as from `roper.info` `record`, with step: done when each began
function M.of(about)
  local told = type(about) == "table" and (about.provenance
    or about.stints or { about.info }) -- as older files have it
  local list = {}
  for _, record in ipairs(type(told) == "table" and told or {}) do
    if type(record) == "table" then
      record.step = math.tointeger(record.step) or 0
      list[#list + 1] = record
    end
  end
  return list
end

-- What the numbers depend on: the order in which sums are taken, and code of one's own.
local NUMBERS <const> = { "threads", "matmul_precision", "instructions", "blas_core",
  "loaded", "ranks" }

-- Where the last bits may change from one record to the next, as text; nil where they do not.
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
  return parts[1] and ("from step %d on with %s: not bit for bit what one that never stopped gives")
    :format(now.step, table.concat(parts, ", "))
end

-- Do two records agree in all but when they began?
local function is_same(a, b)
  for _, name in ipairs(M.names(tables.merged(a, b))) do
    if a[name] ~= b[name] then
      return false
    end
  end
  return true
end

--- The provenance of a run that this process goes on with.
---@param before table[] the records so far
---@param step integer that it goes on from; what was done past it does not count
---@param ranks? integer how many processes train together
---@return table[] records with a further one where the last was on something else
---@return string? note where the numbers are others than on the last, in their last bits
function M.continue(before, step, ranks)
  local list = tables.map(before, function(record) return record.step < step and record or nil end)
  local own = require("roper.base.info").record()
  own.step, own.ranks = step, ranks
  local last = list[#list]
  if not last or not is_same(last, own) then
    list[#list + 1] = own
  end
  return list, last and change(last, own)
end

--- One thing over all records, as text: "8f304ef then d44e7aa from step 2210".
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
