--- The choice of the best value of a field, such as the rate, for each method: the losses, the
--- seeds that decide, and those on which methods are compared.
local counted = require("roper.base.escape").count
local d = require "roper.text.document"
local is_before = require("roper.workbench.study.report.selection").is_before
local number = require "roper.workbench.study.report.number"
local tables = require "roper.base.tables"

local DIGITS <const> = 4

local function value_text(value)
  return value and tostring(value) or "not set"
end

-- "seed 1", "seeds 1 to 4", "seeds 1, 3, 9".
local function seeds_text(seeds)
  local is_range = #seeds > 2
  for i, seed in ipairs(seeds) do
    is_range = is_range and seed == seeds[1] + i - 1
  end
  return is_range and ("seeds %d to %d"):format(seeds[1], seeds[#seeds])
    or (#seeds == 1 and "seed " or "seeds ") .. table.concat(tables.map(seeds, tostring), ", ")
end

-- "rope 0.003, roper 0.001".
local function best_text(selection)
  return table.concat(tables.map(selection.methods, function(entry)
    return entry.best and ("%s %s"):format(entry.method, value_text(entry.best.value))
  end), ", ")
end

-- The paragraph on which runs decide what.
local function verdict(view)
  local selection = view.selection
  local field, best = selection.field, best_text(selection)
  if #selection.comparing == 0 then
    return ("Cannot tell which method is better at its best %s: all runs have the same seed, so "
      .. "the same runs would choose the %s and compare the methods. Run a sweep with several "
      .. "seeds."):format(field, field)
  elseif best == "" then
    return ("Cannot tell the best %s yet: for no method have all runs on %s finished with one %s.")
      :format(field, seeds_text(selection.choosing), field)
  end
  local choice = ("Best %s by the mean loss on %s: %s."):format(field,
    seeds_text(selection.choosing), best)
  return choice .. (view.is_selected
    and (" All other results are those of these values on %s, which did not take part in the "
      .. "choice."):format(seeds_text(selection.comparing))
    or (" These runs also count in the other results, which compare all values; --select %s "
      .. "compares the methods at their best %s, on %s."):format(field, field,
      seeds_text(selection.comparing)))
end

-- Notes on choices that may be wrong.
local function notes(selection)
  local list = {}
  for _, entry in ipairs(selection.methods) do
    list[#list + 1] = entry.edge and ("%s: %s is the %s %s of the sweep; a %s one may be better")
      :format(entry.method, value_text(entry.best.value), entry.edge, selection.field,
        entry.edge == "largest" and "larger" or "smaller") or nil
    list[#list + 1] = not entry.best and ("%s: no %s has all its runs; the method is not compared")
      :format(entry.method, selection.field) or nil
    local missing = 0
    for _, one in ipairs(entry.values) do
      missing = missing + one.missing
    end
    list[#list + 1] = missing > 0 and entry.best and ("%s: %s missing; values without all their "
      .. "runs are not chosen"):format(entry.method, counted(missing, "run")) or nil
  end
  return list
end

local function cell(one, entry)
  if not one then
    return number.NONE
  elseif one.loss then
    return number.fixed(one.loss, DIGITS) .. (one == entry.best and " *" or "")
  end
  return one.diverged > 0 and ("%d diverged"):format(one.diverged)
    or ("%d missing"):format(one.missing)
end

return function(view)
  local selection = view.selection
  if not selection then
    return nil
  end
  local values, seen = {}, {}
  for _, entry in ipairs(selection.methods) do
    for _, one in ipairs(entry.values) do
      values[#values + 1] = not seen[one.value] and one.value or nil
      seen[one.value] = true
    end
  end
  table.sort(values, is_before)
  local list = notes(selection)
  return {
    d.paragraph(verdict(view), "result"),
    #list > 0 and d.list(list, "-", "notes"),
    d.table { class = "selection", caption = ("Loss by %s, mean over %s; *: smallest"):format(
      selection.field, seeds_text(selection.choosing)),
      head = tables.joined({ "method" }, tables.map(values, value_text)),
      rows = tables.map(selection.methods, function(entry)
        local by_value = {}
        for _, one in ipairs(entry.values) do
          by_value[one.value] = one
        end
        return tables.joined({ entry.method }, tables.map(values, function(value)
          return cell(by_value[value], entry)
        end))
      end) },
  }
end
