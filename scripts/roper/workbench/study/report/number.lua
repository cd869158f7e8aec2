--- Numbers of the report as text, with a minus sign, and a dash for missing values.
local core = require "roper.core"

local M = {}

local LEVEL <const> = 0.05 -- of significance

M.NONE = "–"

--- Returns true for a finite number. Metrics contain null for NaN and infinity.
function M.is_finite(value)
  return type(value) == "number" and value == value and math.abs(value) ~= math.huge
end

--- A number with some digits after the decimal point.
---@param value any
---@param digits integer
---@return string text a dash if it is not a finite number
function M.fixed(value, digits)
  if not M.is_finite(value) then
    return M.NONE
  end
  local text = ("%%.%df"):format(digits):format(value)
  return text:find "[1-9]" and (text:gsub("^-", "−")) or (text:gsub("^-", ""))
end

--- A number with its sign, for differences.
function M.signed(value, digits)
  local text = M.fixed(value, digits)
  return text:find "^[1-9]" and "+" .. text or text:find "^0.*[1-9]" and "+" .. text or text
end

--- The statistics of a method in a table: "98.3 ± 9.8", or "> 500 (4/10)" for steps that some runs
--- did not reach.
---@param found table from `Measure:summarize`
---@param digits integer
---@return string
function M.summary(found, digits)
  if found.reached then
    return found.n > 0 and ("%s (%d/%d)"):format(M.median(found), found.reached, found.n) or M.NONE
  end
  local error = M.is_finite(found.error) and " ± " .. M.fixed(found.error, digits) or ""
  return M.fixed(found.mean, digits) .. error
end

--- The median of censored steps.
---@param found table from `statistics.censored`
---@return string
function M.median(found)
  return found.median and M.fixed(found.median, 0)
    or found.above and ("> %d"):format(found.limit) or "undetermined"
end

--- Returns the smallest number of digits with which no end of an interval other than 0 is rounded
--- to 0, because an interval that excludes 0 must show it.
---@param low number
---@param high number
---@param digits integer minimum
---@return integer
function M.digits(low, high, digits)
  for _, bound in ipairs { low, high } do
    if bound ~= 0 and math.abs(bound) < 0.5 * 10.0 ^ -digits then
      digits = math.ceil(-math.log(math.abs(bound), 10))
    end
  end
  return digits
end

--- An interval, "low to high".
---@param low number?
---@param high number?
---@param digits integer
---@param form function? `fixed` by default
---@return string
function M.interval(low, high, digits, form)
  if not M.is_finite(low) or not M.is_finite(high) then
    return M.NONE
  end
  form, digits = form or M.fixed, M.digits(low, high, digits)
  return form(low, digits) .. " to " .. form(high, digits)
end

--- Formats the p of a test with three digits, or with more if they are needed to show on which side
--- of 0.05 it is.
---@param p number?
---@return string
function M.probability(p)
  if not M.is_finite(p) then
    return M.NONE
  end
  for digits = 3, 15 do
    local text = M.fixed(p, digits)
    if (tonumber(text) < LEVEL) == (p < LEVEL) then
      return p < 0.001 and "< 0.001" or text
    end
  end
  return M.NONE
end

--- A setting of a run as text.
---@param value any
---@return string text a dash if it is not set
function M.setting(value)
  if value == nil or value == false or value == core.json_null then
    return M.NONE
  end
  return type(value) == "table" and core.json_encode(value) or tostring(value)
end

return M
