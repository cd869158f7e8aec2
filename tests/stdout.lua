-- What a function writes to standard output or error.

local M = {}

-- Call f with `name` of io replaced by a table that collects what is written.
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

--- Call f; what it wrote to standard output, then what it returned.
---@param f function
---@return string
---@return any ...
function M.capture(f, ...)
  return capture("stdout", f, ...)
end

--- The same for standard error.
---@param f function
---@return string
---@return any ...
function M.capture_errors(f, ...)
  return capture("stderr", f, ...)
end

--- Call f; what it wrote to standard output, to standard error, then what it returned.
---@param f function
---@return string
---@return string
---@return any ...
function M.capture_both(f, ...)
  return capture("stdout", capture, "stderr", f, ...)
end

return M
