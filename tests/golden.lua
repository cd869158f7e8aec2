-- Values that an independent implementation computed: fixtures/operations.py.

local core = require("roper.core")

local M = {}

local all

--- The values whose name begins with `name .. "."`, the rest of the name as key.
---@param name string
---@return table<string, userdata>
function M.values(name)
  all = all or core.load_safetensors("tests/fixtures/operations.safetensors")
  local values = {}
  for key, tensor in pairs(all) do
    if key:sub(1, #name + 1) == name .. "." then
      values[key:sub(#name + 2)] = tensor
    end
  end
  assert(next(values), name)
  return values
end

--- Run a test on the values as they are, in float64, and on all of them in float32.
---@param name string
---@param test fun(values: table<string, userdata>, tolerance: number)
function M.each(name, test)
  local values, single = M.values(name), {}
  for key, tensor in pairs(values) do
    single[key] = tensor:dtype() == "float64" and tensor:to("float32") or tensor
  end
  test(values, 1e-12)
  test(single, 1e-5)
end

return M
