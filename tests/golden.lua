-- Golden values of operations, from the independent implementations in fixtures/operations.py,
-- everyday.py and time_axis.py.

local core = require("roper.core")

local M = {}

local files = {} -- their values

--- The values whose name begins with `name .. "."`, by the rest of the name.
---@param name string
---@param file string? "operations" by default
---@return table<string, userdata>
function M.values(name, file)
  file = file or "operations"
  files[file] = files[file] or core.load_safetensors("tests/fixtures/" .. file .. ".safetensors")
  local values = {}
  for key, tensor in pairs(files[file]) do
    if key:sub(1, #name + 1) == name .. "." then
      values[key:sub(#name + 2)] = tensor
    end
  end
  assert(next(values), name)
  return values
end

--- Run a test on the values in float64, and converted to float32.
---@param name string
---@param test fun(values: table<string, userdata>, tolerance: number)
---@param file string? "operations" by default
function M.each(name, test, file)
  local values, single = M.values(name, file), {}
  for key, tensor in pairs(values) do
    single[key] = tensor:dtype() == "float64" and tensor:to("float32") or tensor
  end
  test(values, 1e-12)
  test(single, 1e-5)
end

return M
