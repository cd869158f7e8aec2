--- Data-parallel training: the processes started by mpirun, the ranks, share every batch. Each rank
--- computes the gradient of its rows. The sum over the ranks is the gradient of the batch, and
--- every rank takes the same step. Only the first rank evaluates, writes files and prints.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local environment = require "roper.system.environment"

local M = {}

-- Bytes of gradients per message: large enough that latency is negligible, small enough that most
-- messages are sent while backward is running.
local BUCKET <const> = 1 << 20

-- Seconds that a failed rank waits for the others to fail too, so that only one reports the error;
-- after Ctrl-C, seconds to wait for the first rank to save a checkpoint.
local PATIENCE <const>, PATIENCE_INTERRUPTED <const> = 5, 10

--- The processes that train together, returned by `roper.ranks`.
---@class Ranks
---@field rank integer of this process, from 0, as in MPI
---@field size integer number of ranks
---@field note? string a warning that there are too few cores, or idle ones
local Ranks = {}
Ranks.__index = Ranks

local joined ---@type Ranks? of this process

-- Starts MPI. By default, all ranks use the number of threads that suits the rank with the fewest
-- cores, because results are only bit-identical with equal numbers of threads.
local function join(count)
  if not core.ranks_join then
    error("mpirun: roper was built without MPI; run make MPI=1 deps all, or start one process", 0)
  end
  local rank, size, cores, idle = core.ranks_join()
  local ranks = setmetatable({ rank = rank, size = size }, Ranks)
  cores = core.ranks_combine("least", cores) + 1e-9
  if count then
    core.threads(count)
  elseif not environment.get "OMP_NUM_THREADS" then
    core.threads(math.max(1, math.floor(cores)))
  end
  local threads = core.threads() == 1 and "1 thread" or core.threads() .. " threads"
  if cores < core.threads() then
    ranks.note = ("%d ranks of %s on %.3g cores each: oversubscribed; fewer ranks would be faster")
      :format(size, threads, cores)
  elseif idle > 0 then
    ranks.note = ("%d ranks of %s, bound by mpirun: %d cores idle; --bind-to none uses them")
      :format(size, threads, idle)
  end
  return ranks
end

--- Returns the processes that mpirun started together with this one, for `train`.
---
--- Errors: started by mpirun, but roper was built without MPI.
---
---     > roper.ranks()
---     nil
---@param threads? integer number of threads of each process; by default OMP_NUM_THREADS, or an
---   equal share of the cores
---@return Ranks? ranks nil if this process is the only one
function M.ranks(threads)
  arguments.check("ranks", "threads", "size?", threads)
  local started = environment.get "OMPI_COMM_WORLD_SIZE" or environment.get "PMIX_RANK" and "?"
  if not joined and started and started ~= "1" then
    joined = join(threads)
  end
  return joined and joined.size > 1 and joined or nil
end

--- Returns true if this process evaluates, writes files and prints: it is the first rank, or there
--- are no ranks.
---@param ranks? Ranks
---@return boolean yes
function M.is_first(ranks)
  return not ranks or ranks.rank == 0
end

--- Waits for the other ranks before the process ends, after success or failure.
---@param failure? Failure of this process
---@return boolean reports true if this rank prints the result or the error
---@return string name of the rank for messages; "" for the first, or without ranks
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

-- Returns the first and last of this rank's rows in a batch of `count`, at least one for each rank.
function Ranks:rows(count)
  return self.rank * count // self.size + 1, (self.rank + 1) * count // self.size
end

-- Calls loss:backward(gradient) and sums the gradients of the parameters over all ranks; they are
-- sent while backward is running. The list of parameters must be the same at each step.
function Ranks:backward(loss, gradient, parameters)
  if self.parameters ~= parameters then
    self.parameters, self.gradients = parameters, core.gradient_sum(parameters, BUCKET)
  end
  self.gradients:backward(loss, gradient)
end

-- Calls f on the first rank, then on the others, which find the files that it wrote.
function Ranks:first_alone(f)
  if self.rank > 0 then
    core.ranks_combine("sum", 0)
    return f()
  end
  local result = f()
  core.ranks_combine("sum", 0)
  return result
end

-- Gives each rank but the first its own random numbers for dropout. They depend only on seed, rank
-- and step, so repeating a step gives the same.
function Ranks:seed(step)
  if self.rank > 0 then
    self.drawn = self.drawn or core.random_state()
    core.random_state(self.drawn ~ self.rank * 0x9E3779B97F4A7C15, step << 32)
  end
end

-- After training, sets the random state of all ranks to that of the first.
function Ranks:draw_alike()
  local seed, counter = core.random_state()
  counter = core.ranks_combine("sum", self.rank == 0 and counter or 0)
  core.random_state(self.drawn or seed, math.tointeger(counter))
  self.drawn = nil
end

-- Raises an error if the models differ between ranks. Different processors or builds may make them
-- diverge, beginning with the last bits.
function Ranks:check(parameters, step)
  local sum = step
  for i, parameter in ipairs(parameters) do
    sum = sum + i * parameter:detach():sum():item()
  end
  sum = sum == sum and sum or math.huge -- unlike NaN, it equals itself
  if core.ranks_combine("least", sum) ~= -core.ranks_combine("least", -sum) then
    error(("train: expected the same model on all %d ranks, found differences at step %d; use the "
      .. "same processors, builds of roper and numbers of threads"):format(self.size, step), 0)
  end
end

return M
