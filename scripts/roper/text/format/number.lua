--- Formats numbers.
local M = {}

local ENOUGH <const> = 17 -- significant digits that represent every float64 exactly

--- The shortest decimal that reads back as the same number; floats have a point or an exponent.
---@param x number
---@return string
function M.exact(x)
  if math.type(x) == "integer" or x ~= x or math.abs(x) == math.huge then
    return tostring(x)
  end
  for digits = 1, ENOUGH do
    local text = ("%%.%dg"):format(digits):format(x)
    if tonumber(text) == x then
      return text:find "[.e]" and text or text .. ".0"
    end
  end
end

--- A number with a limit of significant digits, unless rounding would make it look like a whole
--- number.
---@param x number
---@param digits integer
---@return string
function M.brief(x, digits)
  if math.type(x) == "integer" or x == math.floor(x) or x ~= x then
    return tostring(x)
  end
  local text = ("%%.%dg"):format(math.min(digits, ENOUGH)):format(x)
  local is_fraction = text:find("[.]") and not text:find "e[+]"
  return (is_fraction or text:find "e[-]") and text or tostring(x)
end

return M
