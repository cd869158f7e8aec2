-- Equations with a planted fault: one sign, function, part or name is exchanged. A check that
-- accepts these would prove nothing.
local M = {}

local EXCHANGED <const> = { cos = "sin", sin = "cos", rotate = "unrotate", unrotate = "rotate",
  ["+"] = "-", ["-"] = "+", ["[1]"] = "[2]", ["[2]"] = "[1]" }

-- The next name, sign or part from an index on.
local function next_token(text, from)
  local first, last = text:find("[%a_][%w_]*", from)
  for _, pattern in ipairs { "[+-]", "%[[12]%]" } do
    local a, b = text:find(pattern, from)
    if a and (not first or a < first) then
      first, last = a, b
    end
  end
  return first, last
end

-- The replacement for each name: the next of the same kind.
local function neighbours(variables)
  local next_of = {}
  for i, v in ipairs(variables) do
    for step = 1, #variables - 1 do
      local other = variables[(i + step - 1) % #variables + 1]
      if other.kind == v.kind and other.is_many == v.is_many then
        next_of[v.name] = other.name
        break
      end
    end
  end
  return next_of
end

--- All equations with one exchange. Some remain true: cos(m - n) is cos(n - m).
---@param equation string
---@param variables {name: string, kind: string, is_many: boolean}[]
---@return string[]
function M.of(equation, variables)
  local exchanged = setmetatable(neighbours(variables), { __index = EXCHANGED })
  local mutants, from = {}, 1
  while true do
    local first, last = next_token(equation, from)
    if not first then
      return mutants
    end
    local other = exchanged[equation:sub(first, last)]
    if other == "+" and not equation:sub(1, first - 1):find "[%w_%])]%s*$" then
      other = "" -- a sign, not a difference
    end
    if other then
      mutants[#mutants + 1] = equation:sub(1, first - 1) .. other .. equation:sub(last + 1)
    end
    from = last + 1
  end
end

return M
