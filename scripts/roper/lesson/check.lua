--- Every claim of every lesson, for a machine: in the Test Anything Protocol.
local code = require "roper.base.code"
local printable = require "roper.base.printable"
local report = require "roper.identity.report"
local steps = require "roper.lesson.step"

local M = {}

-- What is claimed in a step, as {text, holds}; a step that fails to run claims that it runs.
local function outcomes(step, scope)
  local ok, result = code.call(steps.run, step, scope)
  if not ok then
    if result.interrupted then
      error("interrupted", 0)
    end
    return { { "runs", false, result.message } }
  end
  local list = {}
  for _, claim in ipairs(result.claims) do
    list[#list + 1] = { claim.text, claim.holds, "here " .. claim.value }
  end
  local found = result.identity
  if found then
    list[#list + 1] = { report.equation(found.sides), found.is_small and found.exact.holds,
      tostring(found) }
    for _, wrong in ipairs(found.wrong) do
      list[#list + 1] = { "not " .. report.equation(wrong.sides), wrong.is_refuted,
        "not refuted" }
    end
  end
  return list
end

--- Check lessons and print a line for each claim.
---@param lessons table[]
---@return boolean holds everything
function M.run(lessons)
  local count, failed = 0, 0
  for _, lesson in ipairs(lessons) do
    local scope = steps.scope()
    for number, step in ipairs(lesson.steps) do
      for _, outcome in ipairs(outcomes(step, scope)) do
        local text, holds, detail = table.unpack(outcome)
        count = count + 1
        io.stdout:write(("%s %d - %s %d: %s\n"):format(holds and "ok" or "not ok", count,
          lesson.name, number, (text:gsub("%s+", " "))))
        if not holds then
          failed = failed + 1
          io.stdout:write("# ", (printable.text(detail):gsub("\n", "\n# ")), "\n")
        end
      end
      io.stdout:flush()
    end
  end
  io.stdout:write(("1..%d\n"):format(count))
  if failed > 0 then
    io.stdout:write(("# %d of %d claims fail\n"):format(failed, count))
  end
  return failed == 0
end

return M
