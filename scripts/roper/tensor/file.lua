--- Reads tensors from files for other functions: errors do not name a place in the library.
local core = require "roper.core"

local M = {}

local function results(ok, value, ...)
  if not ok then
    error(value, 0)
  end
  return value, ...
end

--- Reads a file as `roper.load_safetensors` does.
---@param path string
---@return table<string, tensor> tensors
---@return table<string, string> metadata
function M.load_safetensors(path)
  return results(pcall(core.load_safetensors, path))
end

--- Reads a file of NumPy or safetensors.
---@param path string
---@return tensor|table<string, tensor> value
---@return table? metadata of a safetensors file
function M.load(path)
  return results(pcall(core.load, path))
end

return M
