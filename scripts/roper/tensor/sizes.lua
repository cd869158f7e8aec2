--- Metatable of lists of sizes, such as x:shape(): printing, concatenation and comparison.
local core = require "roper.core"

local sizes = core.shape_metatable

local function text(value)
  if getmetatable(value) ~= sizes then
    return value
  end
  return "{" .. table.concat(value, ", ") .. "}"
end

sizes.__tostring = text

function sizes.__concat(a, b)
  return text(a) .. text(b)
end

function sizes.__eq(a, b)
  if #a ~= #b then
    return false
  end
  for i = 1, #a do
    if a[i] ~= b[i] then
      return false
    end
  end
  return true
end
