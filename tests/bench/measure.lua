--- What is measured, each as a table that JSON can hold. Seconds are medians.
local child = require "tests.bench.child"
local peer = require "tests.bench.peer"
local shapes = require "tests.bench.shapes"
local statistics = require "tests.bench.statistics"
local uv = require "luv"

local M = {}

-- Variables that can hold the machine back.
local SUSPECTS <const> = { "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS",
  "OMP_THREAD_LIMIT", "OMP_PROC_BIND", "OPENBLAS_L2_SIZE", "GLIBC_TUNABLES", "LD_PRELOAD" }

local function call(program, case)
  return function()
    return program:call(case)
  end
end

local function warnings(threads)
  local list = {}
  local core_type = os.getenv "OPENBLAS_CORETYPE"
  if core_type then
    list[1] = ("OPENBLAS_CORETYPE=%s is set; all figures are without it"):format(core_type)
  end
  for _, name in ipairs(SUSPECTS) do
    local value = os.getenv(name)
    if value then
      list[#list + 1] = ("%s=%s is set and may hold the machine back"):format(name, value)
    end
  end
  local load = uv.loadavg()
  if load > 0.25 * threads then
    list[#list + 1] = ("other programs run: the load average is %.1f"):format(load)
  end
  return list
end

-- Seconds of many rounds.
local function in_short(samples)
  return { seconds = statistics.median(samples), least = math.min(table.unpack(samples)) }
end

-- The parts of a step in many rounds.
local function parts_in_short(samples)
  local parts = samples[1]
  for i, part in ipairs(parts) do
    local seconds = {}
    for round, sample in ipairs(samples) do
      seconds[round] = sample[i].seconds
    end
    part.seconds = statistics.median(seconds)
  end
  return { parts = parts }
end

-- Run a case of each program in turn, and end the programs. For each, what `summary` makes of all
-- rounds (in_short by default), with peak_bytes and faults: pages a round that had to be mapped in
-- after a warm-up.
local function race(entries, rounds)
  local calls, faults, results = {}, {}, {}
  for i, entry in ipairs(entries) do
    calls[i] = call(entry.program, entry.case)
  end
  statistics.interleave(calls, 0, 2)
  for i, entry in ipairs(entries) do
    faults[i] = entry.program:faults()
  end
  local samples = statistics.interleave(calls, rounds, 0)
  for i, entry in ipairs(entries) do
    results[i] = (entry.summary or in_short)(samples[i])
    results[i].peak_bytes = entry.program:peak_bytes()
    results[i].faults = (entry.program:faults() - faults[i]) / rounds
    entry.program:stop()
  end
  return results
end

-- A program that multiplies matrices on some threads, for a race.
local function multiplier(size, threads)
  return { program = child.worker("matmul", { size = size, threads = threads }), case = "product" }
end

--- The machine, its warnings and its matmul rates.
---@param settings table size: of the matrices; rounds
---@return table machine with threads, warnings, matmul: {size, one, all} in FLOP/s
function M.machine(settings)
  local describe = child.worker "machine"
  local machine = describe:call "describe"
  describe:stop()
  machine.warnings = warnings(machine.threads)
  local flops = 2 * settings.size ^ 3
  local results = race({ multiplier(settings.size, 1), multiplier(settings.size, machine.threads) },
    settings.rounds)
  machine.matmul = { size = settings.size, one = flops / results[1].seconds,
    all = flops / results[2].seconds }
  return machine
end

-- The peers in a race, each with its name.
local function peers_of(shape, threads, count)
  local entries = peer.start(shape, threads)
  for _, entry in ipairs(entries) do
    local theirs = entry.program:call "count"
    if theirs ~= count then
      error(("expected a peer with %d parameters, got %d"):format(count, theirs), 0)
    end
    entry.case = "step"
  end
  return entries
end

-- Shares of a step, the fractions of the matmul rate that products reach, and the rest.
local function complete(parts, seconds, matmul)
  local rest = seconds
  for _, part in ipairs(parts) do
    part.fraction = part.flops and part.flops / part.seconds / matmul
    rest = rest - part.seconds
  end
  parts[#parts + 1] = { name = "rest", seconds = rest }
  for _, part in ipairs(parts) do
    part.share = part.seconds / seconds
  end
  return parts
end

--- Training steps at one shape, in turn with products of matrices, the parts and the peers.
---@param shape table
---@param settings table threads, size, rounds; has_parts, has_peer
---@return table shape, threads, seconds, least, flops, matmul (FLOP/s meanwhile), fraction of it,
---   tokens (a second), peak_bytes, faults (a step);
---   parts: name, seconds, share, fraction each; the last is the rest;
---   peers: malloc, seconds, least, ratio, peak_bytes, faults each
function M.step(shape, settings)
  local threads = settings.threads
  local ours = child.worker("step", { shape = shape, threads = threads, positions = { "roper" } })
  local entries = { { program = ours, case = "roper" }, multiplier(settings.size, threads) }
  if settings.has_parts then
    entries[#entries + 1] = { program = child.worker("parts", { shape = shape, threads = threads }),
      case = "all", summary = parts_in_short }
  end
  local peers = settings.has_peer and peers_of(shape, threads, ours:call "count") or {}
  table.move(peers, 1, #peers, #entries + 1, entries)
  local results = race(entries, settings.rounds)
  local step, flops = results[1], shapes.step_flops(shape)
  local matmul = 2 * settings.size ^ 3 / results[2].seconds
  local parts = settings.has_parts and complete(results[3].parts, step.seconds, matmul) or nil
  for i, entry in ipairs(peers) do
    local result = results[#results - #peers + i]
    peers[i] = shapes.with(result, { malloc = entry.malloc,
      ratio = result.seconds / step.seconds })
  end
  return shapes.with(step, { shape = shape, threads = threads, flops = flops, matmul = matmul,
    fraction = flops / step.seconds / matmul, parts = parts, peers = peers[1] and peers,
    tokens = shape.batch * shape.length / step.seconds })
end

--- What rotation costs: steps with each position scheme in turn, in one process.
---@param shape table
---@param settings table threads, rounds
---@return table shape, none (seconds), rope_over_none, roper_over_rope
function M.positions(shape, settings)
  local names = { "none", "rope", "roper" }
  local worker = child.worker("step", { shape = shape, threads = settings.threads,
    positions = names })
  local calls = {}
  for i, name in ipairs(names) do
    calls[i] = call(worker, name)
  end
  local none, rope, roper = table.unpack(statistics.interleave(calls, settings.rounds))
  worker:stop()
  return { shape = shape, none = statistics.median(none),
    rope_over_none = statistics.ratio(rope, none),
    roper_over_rope = statistics.ratio(roper, rope) }
end

--- Answers to addition problems, with the cache of keys and values and without.
---@param shape table
---@param settings table threads, problems, sampling_rounds
---@return table problems, tokens (in all), cached and full (tokens a second), ratio
function M.sampling(shape, settings)
  local worker = child.worker("sampling", { shape = shape, threads = settings.threads,
    problems = settings.problems })
  local samples = statistics.interleave({ call(worker, "cached"), call(worker, "full") },
    settings.sampling_rounds, 0)
  worker:stop()
  local rates = {}
  for i, kind in ipairs(samples) do
    rates[i] = {}
    for round, sample in ipairs(kind) do
      rates[i][round] = sample.tokens / sample.seconds
    end
  end
  return { problems = settings.problems, tokens = samples[1][1].tokens,
    cached = statistics.median(rates[1]), full = statistics.median(rates[2]),
    ratio = statistics.ratio(rates[1], rates[2]) }
end

--- Steps of one model at many lengths, batches and numbers of threads.
---@param shape table
---@param settings table threads, size, rounds; lengths, tokens (a step), batches
---@return table[] by ("length", "batch", "threads") and what `step` returns
function M.scaling(shape, settings)
  local rows = {}
  local function add(by, changes, threads)
    local row = M.step(shapes.with(shape, changes), { threads = threads, size = settings.size,
      rounds = settings.rounds })
    row.by = by
    rows[#rows + 1] = row
  end
  for _, length in ipairs(settings.lengths) do
    add("length", { length = length, batch = settings.tokens // length }, settings.threads)
  end
  for _, batch in ipairs(settings.batches) do
    add("batch", { batch = batch }, settings.threads)
  end
  for threads = 1, settings.threads do
    add("threads", {}, threads)
  end
  return rows
end

--- Train the same steps in two processes and compare the parameters bit for bit.
---@param shape table
---@param settings table most_threads, steps
---@return table shape, threads, steps, bytes, identical
function M.check(shape, settings)
  local folder = assert(uv.fs_mkdtemp(uv.os_tmpdir() .. "/roper-XXXXXX"))
  local texts = {}
  for i = 1, 2 do
    local path = folder .. "/model.safetensors"
    local worker = child.worker("training", { shape = shape, threads = settings.most_threads,
      steps = settings.steps, position = "roper", path = path })
    worker:call "save"
    worker:stop()
    local file <close> = assert(io.open(path, "rb"))
    texts[i] = file:read "a"
    uv.fs_unlink(path)
  end
  uv.fs_rmdir(folder)
  return { shape = shape, threads = settings.most_threads, steps = settings.steps,
    bytes = #texts[1], identical = texts[1] == texts[2] }
end

return M
