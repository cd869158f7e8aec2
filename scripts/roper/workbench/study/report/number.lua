--- Numbers as a reader of the report sees them: a true minus sign, a dash for what is not known.
local core = require "roper.core"

local M = {}

M.NONE = "–"

--- Is it a number that can be drawn and averaged? (The metrics have null for NaN and infinity.)
---@param value any
---@return boolean
function M.is_finite(value)
  return type(value) == "number" and value == value and math.abs(value) ~= math.huge
end

--- A number that is text already, with a true minus sign.
---@param text string
---@return string
function M.shown(text)
  return (text:gsub("^-", "−"))
end

--- Digits after the point that a metric is shown with.
---@param metric table of a summary
---@return integer
function M.digits_of(metric)
  return tonumber(metric.form:match "%.(%d+)f") or 4
end

--- A number with so many digits after the point.
---@param value any
---@param digits integer
---@return string a dash where it is no finite number
function M.fixed(value, digits)
  if not M.is_finite(value) then
    return M.NONE
  end
  local text = ("%%.%df"):format(digits):format(value)
  return text:find "[1-9]" and M.shown(text) or (text:gsub("^-", ""))
end

--- The same with its sign, for differences.
---@param value any
---@param digits integer
---@return string
function M.signed(value, digits)
  local text = M.fixed(value, digits)
  return text:find "^[1-9]" and "+" .. text or text:find "^0.*[1-9]" and "+" .. text or text
end

--- Digits after the point with which neither end of an interval looks like 0, unless it is: an
--- interval that excludes 0 must show it.
---@param low number
---@param high number
---@param digits integer the least
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

--- A probability of a test, with three digits, or as many more as show on which side of a level it
--- is.
---@param p number?
---@param level number? 0.05 by default
---@return string
function M.probability(p, level)
  level = level or 0.05
  if not M.is_finite(p) then
    return M.NONE
  end
  for digits = 3, 15 do
    local text = M.fixed(p, digits)
    if (tonumber(text) < level) == (p < level) then
      return p < 0.001 and "< 0.001" or text
    end
  end
  return M.NONE
end

--- A setting of a run as text.
---@param value any
---@return string a dash where it is not set
function M.setting(value)
  if value == nil or value == false or value == core.json_null then
    return M.NONE
  end
  return type(value) == "table" and core.json_encode(value) or tostring(value)
end

M.count = require("roper.base.escape").count

return M
