--- The folder of a training run: config.json, metrics.jsonl and checkpoint.safetensors.
local core = require "roper.core"
local is_first = require("roper.training.ranks").is_first

local M = {}

-- Restores the best value, the state of early stopping and the seconds so far from the metrics,
-- which contain null for numbers that were not finite.
local function remember(session, entries)
  local o, state = session.options, session.state
  for _, entry in ipairs(entries) do
    session.is_stopped = session.stopping and session.stopping:update(entry)
    local value, past = entry[o.best], entry.seconds
    state.best = type(value) == "number" and math.min(state.best, value) or state.best
    state.seconds = type(past) == "number" and past or state.seconds
  end
end

-- Renames the metrics of a run that was interrupted before its first checkpoint and now starts from
-- step 0. Returns a note about it, or nil if there are no metrics.
local function put_aside(path)
  local entries = require("roper.training.metrics").read(path)
  if #entries == 0 then
    return nil
  end
  assert(os.rename(path, path .. ".old"))
  return ("the previous %d steps have no checkpoint: training starts from step 0; their metrics "
    .. "are kept in metrics.jsonl.old"):format(entries[#entries].step)
end

--- Creates the folder of a run or resumes from it: loads the checkpoint, opens the metrics, writes
--- config.json. Without a checkpoint, training starts from step 0. If the checkpoint is refused,
--- the folder does not change.
---@param session table from `roper.training.open`
function M.enter(session)
  local o, state = session.options, session.state
  local files, provenance = require "roper.system.file", require "roper.training.provenance"
  require("roper.model.hooks").refuse(o.model, "train")
  if is_first(o.ranks) then
    files.make(o.run)
    files.clean(o.run)
  end
  local checkpoint = o.run .. "/checkpoint.safetensors"
  local has_checkpoint = files.stat(checkpoint) ~= nil
  if has_checkpoint then
    if not o.resume then
      error(("train: %s has a checkpoint; resume it (resume = true) or choose another folder")
        :format(o.run), 4)
    end
    require("roper.model.checkpoint").load_training(checkpoint, state)
  end
  if not is_first(o.ranks) then
    return
  end
  local config = require("roper.base.tables").merged({ steps = o.steps }, state.config,
    o.settings)
  local path = o.run .. "/config.json"
  local before = provenance.of(files.decode(path))
  -- With pending losses, the entry of this step is incomplete; it is written again.
  local logged = state.count > 0 and state.step - 1 or state.step
  if not has_checkpoint then
    table.insert(session.notes, put_aside(o.run .. "/metrics.jsonl"))
    require("roper.training.snapshots").put_aside(o.run)
  end
  table.insert(session.notes, require("roper.training.snapshots").missing(session))
  local metrics, entries = require("roper.training.metrics").open(o.run .. "/metrics.jsonl", logged)
  remember(session, entries)
  local records, note = provenance.continue(before, state.step, o.ranks and o.ranks.size)
  files.write(path, core.json_encode({ config = config, provenance = records }, { indent = 2 })
    .. "\n")
  session.checkpoint, session.metrics = checkpoint, metrics
  table.insert(session.notes, note)
end

--- Returns the states of the random generators used by a step and an evaluation.
function M.generators(task)
  return { task = { task:random() }, core = { core.random_state() } }
end

--- Writes a checkpoint after flushing the metrics that it counts as written to disk.
function M.save(session)
  session.metrics.sync()
  require("roper.model.checkpoint").save_training(session.checkpoint, session.state)
end

--- Saves a checkpoint between two steps, with the generators as they were before the interrupted
--- step or evaluation.
function M.keep(session)
  local state = session.state
  state.task:set_random(table.unpack(state.generators.task))
  core.random_state(table.unpack(state.generators.core))
  M.save(session)
end

return M
