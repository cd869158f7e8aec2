--- Metrics of a run: a JSON Lines file with one object per line, appended and flushed.
local core = require "roper.core"
local files = require "roper.system.file"
local schema = require "roper.options.schema"

local M = {}

--- Reads a file of metrics. An incomplete last line, from a run that was killed, is ignored. So is
--- everything after a NUL byte: a power cut leaves zeros in place of data that were not flushed.
---
--- Errors: the file cannot be read; a line is not a JSON object with a step.
---@param path string
---@return table[] the objects, in order; empty if there is no file
function M.read(path)
  local list = {}
  local number = 0
  for line in (files.read(path) or ""):match("^[^\0]*"):gmatch "([^\n]*)\n" do
    number = number + 1
    local object = files.parse(line)
    if schema.fits(object, { step = "integer" }) then
      list[#list + 1] = object
    elseif line ~= "" then
      error(("%s:%d: expected a JSON object with a step, got %s"):format(path, number, line), 0)
    end
  end
  return list
end

--- Opens a file of metrics for appending. First removes the lines after `step`: their steps come
--- after the checkpoint from which the run resumes, so they run again.
---@param path string
---@param step integer
---@return table writer with `write(object)`, `sync()`, which flushes to disk, and `close()`
---@return table[] kept the objects up to that step
function M.open(path, step)
  local kept, lines = {}, {}
  for _, object in ipairs(M.read(path)) do
    if object.step <= step then
      kept[#kept + 1] = object
      lines[#lines + 1] = core.json_encode(object) .. "\n"
    end
  end
  files.write(path, table.concat(lines))
  local file = assert(io.open(path, "ab"))
  return {
    write = function(object)
      assert(file:write(core.json_encode(object), "\n"))
      assert(file:flush())
    end,
    sync = function()
      files.sync(path)
    end,
    close = function()
      file:close()
    end,
  }, kept
end

return M
