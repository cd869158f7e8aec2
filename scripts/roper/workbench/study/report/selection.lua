--- Chooses the best value of a field, such as the learning rate, for each method of a sweep. The
--- values are compared on some of the seeds, and the methods at their best values on the others,
--- because a choice and a comparison on the same runs favour the method with the luckiest runs.
local statistics = require "roper.tensor.statistics"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

-- The share of the seeds on which the values are compared, rounded up to whole seeds, if all seeds
-- have all values.
local SHARE <const> = 1 / 3

---@class SelectionValue
---@field value any of the field; false if it is not set
---@field loss? number mean over the choosing seeds; nil unless all of these runs finished
---@field finished integer runs on the choosing seeds
---@field diverged integer
---@field missing integer runs that have not ended, failed, or are not in the sweep

---@class SelectionMethod
---@field method string name without the field
---@field values SelectionValue[] sorted
---@field best? SelectionValue with the smallest loss; nil if no value has one
---@field edge? "smallest"|"largest" if the best of several numbers is at an end

---@class Selection
---@field field string
---@field choosing integer[] seeds on which the values are compared
---@field comparing integer[] seeds on which methods are compared; empty if the sweep has one seed
---@field methods SelectionMethod[]

-- Returns the method of a trial without the field.
local function base_of(trial, field)
  local value = trial.config[field]
  local part = value and (" %s=%s"):format(field, value)
  local first, last = trial.method:find(part or "\0", 1, true)
  return first and trial.method:sub(1, first - 1) .. trial.method:sub(last + 1) or trial.method
end

-- The experiment and seed of a trial; all values need the same ones.
local function key_of(trial)
  return ("%s %s"):format(trial.config.experiment, trial.seed)
end

-- Returns the seeds of a sweep, divided into those that choose and those that compare. The seeds
-- that choose are the given ones; else, if only some seeds have trials of one method with several
-- values, these; else, the first ones.
local function divided(sweep, field, given)
  local has_several, value_at = {}, {}
  for _, trial in ipairs(sweep.trials) do
    local key = ("%s %s"):format(key_of(trial), base_of(trial, field))
    local value = trial.config[field] or false
    has_several[trial.seed] = has_several[trial.seed]
      or value_at[key] ~= nil and value_at[key] ~= value
    value_at[key] = value
  end
  local seeds, choosing, comparing = tables.keys(has_several), {}, {}
  local chooses = given and tables.set(given) or has_several
  for _, seed in ipairs(seeds) do
    table.insert(chooses[seed] and choosing or comparing, seed)
  end
  if given or choosing[1] and comparing[1] then
    return choosing, comparing
  end
  local count = math.ceil(SHARE * #seeds - 1e-9)
  return table.move(seeds, 1, count, 1, {}), table.move(seeds, count + 1, #seeds, 1, {})
end

-- Returns the statistics of a value over its trials; `keys` are those that each value needs.
local function value_of(value, trials, keys)
  local found = { value = value, finished = 0, diverged = 0, missing = 0 }
  local losses, known = {}, {}
  for _, trial in ipairs(trials) do
    known[key_of(trial)] = true
    local status = trial.run.status
    local name = (status == "finished" or status == "diverged") and status or "missing"
    found[name] = found[name] + 1
    losses[#losses + 1] = status == "finished" and trial.run.result.loss or nil
  end
  for key in pairs(keys) do
    found.missing = found.missing + (known[key] and 0 or 1)
  end
  if #losses == tables.count(keys) and #losses == #trials then
    found.loss = statistics.mean(losses)
  end
  return found
end

--- Returns true if a value of a field precedes another: numbers by size, others as text.
---@param a any
---@param b any
---@return boolean
function M.is_before(a, b)
  if type(a) == "number" and type(b) == "number" then
    return a < b
  end
  return tostring(a) < tostring(b)
end

-- Chooses among the trials of a method.
local function choose(method, trials, field)
  local by_value, keys, values, best = {}, {}, {}, nil
  for _, trial in ipairs(trials) do
    local value = trial.config[field] or false
    by_value[value] = by_value[value] or {}
    table.insert(by_value[value], trial)
    keys[key_of(trial)] = true
  end
  for value, list in pairs(by_value) do
    values[#values + 1] = value_of(value, list, keys)
  end
  table.sort(values, function(a, b)
    return M.is_before(a.value, b.value)
  end)
  for _, one in ipairs(values) do
    best = one.loss and (not best or one.loss < best.loss) and one or best
  end
  local is_number = best and type(best.value) == "number" and #values > 1
  return { method = method, values = values, best = best, edge = is_number
    and (best == values[1] and "smallest" or best == values[#values] and "largest") or nil }
end

--- Chooses the best value of a field for each method, by the loss on the choosing seeds.
---
--- Errors: the trials do not differ in this field.
---@param sweep Sweep
---@param field string
---@param seeds? integer[] those on which the values are compared; by default those with several
---   values of a method if the others have one, else the first third
---@return Selection selection
function M.of(sweep, field, seeds)
  local fields = tables.map(sweep.varied, function(name)
    return name ~= "position" and name or nil
  end)
  if not tables.set(fields)[field] then
    error(("select: expected a field in which trials differ, got %q%s"):format(field,
      fields[1] and suggest.hint(field, fields, "there are")
      or ("; run a sweep over it, such as %s=1e-3,3e-3"):format(field)), 0)
  end
  local choosing, comparing = divided(sweep, field, seeds)
  local is_choosing, by_method, order = tables.set(choosing), {}, {}
  for _, trial in ipairs(sweep.trials) do
    local method = base_of(trial, field)
    if not by_method[method] then
      by_method[method], order[#order + 1] = {}, method
    end
    table.insert(by_method[method], is_choosing[trial.seed] and trial or nil)
  end
  return { field = field, choosing = choosing, comparing = comparing,
    methods = tables.map(order, function(method)
      return choose(method, by_method[method], field)
    end) }
end

--- Returns a sweep with the trials of the best values on the comparing seeds. Its methods are those
--- of the selection that have a best value.
---@param sweep Sweep
---@param selection Selection
---@return Sweep? reduced nil if nothing can be compared: one seed, or no best value
function M.apply(sweep, selection)
  local best, methods, trials = {}, {}, {}
  for _, entry in ipairs(selection.methods) do
    best[entry.method] = entry.best
    methods[#methods + 1] = entry.best and entry.method
  end
  local is_comparing = tables.set(selection.comparing)
  for _, trial in ipairs(sweep.trials) do
    local method = base_of(trial, selection.field)
    local chosen = best[method]
    if chosen and is_comparing[trial.seed]
      and (trial.config[selection.field] or false) == chosen.value then
      trials[#trials + 1] = tables.merged(trial, { method = method })
    end
  end
  return trials[1] and tables.merged(sweep, { methods = methods, trials = trials,
    varied = tables.map(sweep.varied, function(name)
      return name ~= selection.field and name or nil
    end) }) or nil
end

return M
