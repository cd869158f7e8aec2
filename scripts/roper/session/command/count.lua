--- Options of commands that take a whole number from 1 on.
local M = {}

--- A converter for argparse.
---@param option string its name, for the message
---@return fun(text: string): integer? convert its result is nil and a message for anything else
function M.of(option)
  return function(text)
    local count = math.tointeger(tonumber(text))
    if count and count >= 1 then
      return count
    end
    return nil, ("%s takes a whole number from 1 on, got '%s'"):format(option, text)
  end
end

return M
