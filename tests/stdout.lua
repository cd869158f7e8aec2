-- Captures the output of functions.

local M = {}

-- Calls f with io[name] replaced by a table that collects the written text.
local function capture(name, f, ...)
  local stream, parts = io[name], {}
  local fake = { flush = function() end }
  function fake:write(...)
    parts[#parts + 1] = table.concat({ ... })
    return self
  end
  rawset(io, name, fake)
  local results = table.pack(pcall(f, ...))
  rawset(io, name, stream)
  assert(results[1], results[2])
  return table.concat(parts), table.unpack(results, 2, results.n)
end

--- Call f; returns its standard output, then its results.
---@param f function
---@return string
---@return any ...
function M.capture(f, ...)
  return capture("stdout", f, ...)
end

--- Call f; returns its standard error, then its results.
---@param f function
---@return string
---@return any ...
function M.capture_errors(f, ...)
  return capture("stderr", f, ...)
end

--- Call f; returns its standard output, its standard error, then its results.
---@param f function
---@return string
---@return string
---@return any ...
function M.capture_both(f, ...)
  return capture("stdout", capture, "stderr", f, ...)
end

return M
