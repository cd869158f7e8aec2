--- Data-parallel training: the processes that mpirun started, the ranks, share every batch. Each
--- computes the gradient of its rows; their sum over the ranks is that of the batch, by which every
--- rank makes the same step. The first one alone measures, writes and tells.
local core = require "roper.core"

local M = {}

-- Bytes of gradients sent at a time: many enough that latency is little of it, few enough that most
-- of them are sent while backward goes on.
local BUCKET <const> = 1 << 20

-- Seconds that a rank which failed waits for the others to fail too, so that one tells for all;
-- after Ctrl-C, while the first keeps what was done.
local PATIENCE <const>, PATIENCE_INTERRUPTED <const> = 5, 10

--- The processes that train together. `roper.ranks` gives them.
---@class Ranks
---@field rank integer of this process, from 0, as mpirun counts
---@field size integer how many there are
---@field note? string that they have too few cores, or leave some idle
local Ranks = {}
Ranks.__index = Ranks

local joined ---@type Ranks? of this process

-- Start MPI. All ranks take as many threads as the one with the fewest cores: nothing else promises
-- the same bits on each.
local function join()
  if not core.ranks_join then
    error("mpirun: roper was built without MPI: say make MPI=1 deps all, or start one process", 0)
  end
  local rank, size, cores, idle = core.ranks_join()
  local ranks = setmetatable({ rank = rank, size = size }, Ranks)
  cores = core.ranks_combine("least", cores) + 1e-9
  if not os.getenv "OMP_NUM_THREADS" then
    core.threads(math.max(1, math.floor(cores)))
  end
  local threads = core.threads() == 1 and "1 thread" or core.threads() .. " threads"
  if cores < core.threads() then
    ranks.note = ("%d ranks of %s on %.3g cores each: oversubscribed, which is slower than fewer")
      :format(size, threads, cores)
  elseif idle > 0 then
    ranks.note = ("%d ranks of %s, bound by mpirun: %d cores idle; --bind-to none shares them")
      :format(size, threads, idle)
  end
  return ranks
end

--- The processes that mpirun started together with this one, for `train`.
---
--- Errors: mpirun, where roper was built without MPI.
---
---     > roper.ranks()
---     nil
---@return Ranks? ranks nil where there are no others
function M.ranks()
  local started = os.getenv "OMPI_COMM_WORLD_SIZE" or os.getenv "PMIX_RANK" and "?"
  if not joined and started and started ~= "1" then
    joined = join()
  end
  return joined and joined.size > 1 and joined or nil
end

--- Is this process, of the ranks where there are any, the one that measures, writes and tells?
---@param ranks? Ranks
---@return boolean yes
function M.is_first(ranks)
  return not ranks or ranks.rank == 0
end

--- Wait for the others before the process ends; called once all is done, or failed.
---@param failure? Failure of this process
---@return boolean tells is it this one that tells, of the end or of the failure?
---@return string name of the rank, for messages; "" where it is the first, or alone
function M.leave(failure)
  if not joined then
    return true, ""
  end
  local seconds = not failure and math.huge
    or failure.interrupted and PATIENCE_INTERRUPTED or PATIENCE
  local first = core.ranks_leave(failure ~= nil, seconds) or joined.rank
  local rank, size = joined.rank, joined.size
  joined = nil
  return rank == first % size, rank > 0 and ("rank %d of %d: "):format(rank, size) or ""
end

-- The first and the last of this rank's rows of a batch of `count`, at least as many as ranks.
function Ranks:rows(count)
  return self.rank * count // self.size + 1, (self.rank + 1) * count // self.size
end

-- loss:backward(gradient), after which the parameters, a list that is the same at each step, have
-- the sums of their gradients over all ranks. They are sent while it runs.
function Ranks:backward(loss, gradient, parameters)
  if self.parameters ~= parameters then
    self.parameters, self.gradients = parameters, core.gradient_sum(parameters, BUCKET)
  end
  self.gradients:backward(loss, gradient)
end

-- Call f on the first rank, then on the others, which find what it left in files.
function Ranks:first_alone(f)
  if self.rank > 0 then
    core.ranks_combine("sum", 0)
    return f()
  end
  local result = f()
  core.ranks_combine("sum", 0)
  return result
end

-- Let the ranks but the first draw dropout of their own, the same whenever this step is done.
function Ranks:seed(step)
  if self.rank > 0 then
    self.drawn = self.drawn or core.random_state()
    core.random_state(self.drawn ~ self.rank * 0x9E3779B97F4A7C15, step << 32)
  end
end

-- Let all ranks draw on as the first one does, once they have trained.
function Ranks:draw_alike()
  local seed, counter = core.random_state()
  counter = core.ranks_combine("sum", self.rank == 0 and counter or 0)
  core.random_state(self.drawn or seed, math.tointeger(counter))
  self.drawn = nil
end

-- Refuse models that are no longer, or never were, the same on all ranks: where processors or
-- builds are of different kinds, the last bits may drift apart.
function Ranks:check(parameters, step)
  local sum = step
  for i, parameter in ipairs(parameters) do
    sum = sum + i * parameter:detach():sum():item()
  end
  sum = sum == sum and sum or math.huge -- which is the same as itself
  if core.ranks_combine("least", sum) ~= -core.ranks_combine("least", -sum) then
    error(("train: the %d ranks have different models at step %d; are their processors, their "
      .. "builds of roper and their threads the same?"):format(self.size, step), 0)
  end
end

return M
