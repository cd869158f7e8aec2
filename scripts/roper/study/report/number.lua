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

--- An interval, "low to high".
---@param low number?
---@param high number?
---@param digits integer
---@param form function? `fixed` by default
---@return string
function M.interval(low, high, digits, form)
  form = form or M.fixed
  return M.is_finite(low) and M.is_finite(high)
    and form(low, digits) .. " to " .. form(high, digits) or M.NONE
end

--- A probability of a test.
---@param p number?
---@return string
function M.probability(p)
  if not M.is_finite(p) then
    return M.NONE
  end
  return p < 0.001 and "< 0.001" or M.fixed(p, 3)
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

M.count = require("roper.base.printable").count

return M
