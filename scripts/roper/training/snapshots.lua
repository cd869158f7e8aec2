--- Snapshots: the weights at chosen steps of a run, kept in its folder.
local files = require "roper.system.file"

local M = {}

local FORM <const>, PATTERN <const> = "%s/snapshot-%d.safetensors", "^snapshot%-(%d+)%.safetensors$"

--- Returns the path of a snapshot.
---@param folder string of the run
---@param step integer
---@return string path
function M.path(folder, step)
  return FORM:format(folder, step)
end

--- Returns the steps of the snapshots in the folder of a run.
---@param folder string
---@return integer[] steps sorted
function M.steps(folder)
  local steps = {}
  for _, name in ipairs(files.names(folder)) do
    steps[#steps + 1] = math.tointeger(tonumber(name:match(PATTERN)))
  end
  table.sort(steps)
  return steps
end

--- Raises an error unless a value is a list of steps.
---@param steps any
---@param level integer of the error
function M.check(steps, level)
  local count = 0
  for _, step in pairs(steps) do
    count = count + 1
    if math.type(step) ~= "integer" or step < 0 or steps[count] == nil then
      error(("train: snapshots: expected a list of non-negative integers, got %s"):format(
        tostring(step)), level + 1)
    end
  end
end

--- Saves the weights if a snapshot of the current step is due. At the start of a resumed run, this
--- writes the snapshot of a step that was interrupted after its update.
---@param session table from `roper.training.open`
function M.save(session)
  local o, step = session.options, session.state.step
  for _, due in ipairs(session.metrics and o.snapshots or {}) do
    if due == step then
      require("roper.model.checkpoint").save_model(M.path(o.run, step), o.model)
      return
    end
  end
end

--- Returns a note about the steps of which a resumed run has no snapshot because they are past.
---@param session table
---@return string? note
function M.missing(session)
  local o, past = session.options, {}
  for _, due in ipairs(o.snapshots or {}) do
    if due < session.state.step and not files.stat(M.path(o.run, due)) then
      past[#past + 1] = tostring(due)
    end
  end
  return past[1] and ("no snapshot of step %s: training resumes from step %d"):format(
    table.concat(past, ", "), session.state.step)
end

--- Renames the snapshots of a run that starts again from step 0.
---@param folder string
function M.put_aside(folder)
  for _, step in ipairs(M.steps(folder)) do
    local path = M.path(folder, step)
    assert(os.rename(path, path .. ".old"))
  end
end

return M
