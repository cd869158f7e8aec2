--- Progress of a sweep as text: a line for each worker, and one for the whole with the time left.
local progress = require "roper.text.progress"
local tables = require "roper.base.tables"

local M = {}

-- Maximum number of lines for workers.
local MOST_LINES <const> = 12

-- Formats the line of a worker.
local function worker_line(worker)
  local trial = worker.trial
  if not trial then
    return "  (starting)"
  end
  local steps, step = trial.config.steps, worker.step
  local line = ("  %-22s %s %d/%d"):format(trial.label, progress.bar(step / steps, 8), step, steps)
  if step == steps then
    return line .. "  measuring"
  elseif worker.loss then
    line = ("%s  loss %.3f%s"):format(line, worker.loss,
      progress.left((steps - step) / worker.speed))
  end
  return line
end

--- Formats the speed of a sweep.
---@param worked number trials done
---@param seconds number above 0
---@return string
function M.rate(worked, seconds)
  local rate = 3600 * worked / seconds
  return (rate < 10 and "%.1f trials an hour" or "%.0f trials an hour"):format(rate)
end

-- Formats the line of the whole sweep. `part` is the sum of the fractions done of running trials,
-- `worked` the number of trials done since the start.
local function whole_line(supervisor, part, worked, seconds)
  local total, failed = #supervisor.trials, tables.count(supervisor.failed)
  local done = supervisor.finished + part
  local text = ("sweep %s %d of %d finished"):format(progress.bar(done / total, 12),
    supervisor.finished, total)
  for _, count in ipairs { { supervisor.diverged or 0, "diverged" }, { failed, "failed" },
    { supervisor.elsewhere, "running elsewhere" } } do
    if count[1] > 0 then
      text = ("%s, %d %s"):format(text, count[1], count[2])
    end
  end
  if supervisor.stopping then
    return text .. ", stopping"
  elseif worked > 0 then
    local left = seconds / worked * math.max(0, total - done - failed)
    text = left > 0 and ("%s, %s left"):format(text, progress.duration(left)) or text
  end
  return text
end

--- Describes the state of a sweep.
---@param supervisor table with the fields finished, diverged, worked, failed, elsewhere, trials,
---   stopping and workers of a Supervisor
---@param seconds number since its start
---@return string[] lines the last one describes the whole sweep
function M.lines(supervisor, seconds)
  local workers, lines, part, worked = {}, {}, 0, supervisor.worked
  for worker in pairs(supervisor.workers) do
    workers[#workers + 1] = worker
  end
  table.sort(workers, function(a, b) return a.pid < b.pid end)
  for i, worker in ipairs(workers) do
    lines[i] = i <= MOST_LINES and worker_line(worker) or nil
    if worker.trial then
      local steps = worker.trial.config.steps
      part = part + worker.step / steps
      worked = worked + (worker.step - worker.first) / steps
    end
  end
  if #workers > MOST_LINES then
    lines[#lines + 1] = ("  and %d more"):format(#workers - MOST_LINES)
  end
  lines[#lines + 1] = whole_line(supervisor, part, worked, seconds)
  return lines
end

return M
