--- Measurements, each as a table that can be encoded as JSON. Seconds are medians.
local child = require "tests.bench.child"
local peer = require "tests.bench.peer"
local race = require "tests.bench.race"
local shapes = require "tests.bench.shapes"
local statistics = require "tests.bench.statistics"
local uv = require "luv"

local M = {}

-- Environment variables that can slow the machine down.
local SUSPECTS <const> = { "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS",
  "OMP_THREAD_LIMIT", "OMP_PROC_BIND", "OPENBLAS_L2_SIZE", "GLIBC_TUNABLES", "LD_PRELOAD" }

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

-- The figures of steps in a race, relative to the products in the same race.
local function beside(step, products, shape, threads, size)
  local flops, matmul = shapes.step_flops(shape), 2 * size ^ 3 / products.seconds
  return shapes.with(step, { shape = shape, threads = threads, flops = flops, matmul = matmul,
    fraction = flops / step.seconds / matmul,
    tokens = shape.batch * shape.length / step.seconds })
end

--- The machine, its warnings and its matmul rates.
---@param settings table size: of the matrices; rounds
---@return table machine with threads, warnings, matmul: {size, one, all} in FLOP/s
function M.machine(settings)
  local describe = child.worker "machine"
  local machine = describe:call "describe"
  describe:stop()
  machine.warnings = warnings(machine.threads)
  local rounding = child.worker("machine", { precision = "bfloat16" })
  machine.rounded_instructions = rounding:call("describe").instructions
  rounding:stop()
  local flops, size = 2 * settings.size ^ 3, settings.size
  local one, all, rounded = table.unpack(race.run({ race.multiplier(size, 1),
    race.multiplier(size, machine.threads), race.multiplier(size, machine.threads, "bfloat16") },
    settings.rounds))
  machine.matmul = { size = size, one = flops / one.seconds, all = flops / all.seconds,
    rounded = flops / rounded.seconds }
  return machine
end

-- The peers in a race, each with its name.
local function peers_of(peers, shape, threads, count)
  local entries = peer.start(peers, shape, threads)
  for _, entry in ipairs(entries) do
    local theirs = entry.program:call "count"
    if theirs ~= count then
      error(("expected a peer with %d parameters, got %d"):format(count, theirs), 0)
    end
    entry.case, entry.steps = "step", shape.steps
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

--- Training steps at one shape, in both precisions, in turn with products of matrices in each, the
--- parts in float32, and the peers.
---@param shape table
---@param settings table threads, size, rounds; has_parts; peers: from `peer.find`
---@return table shape, threads, seconds, least, flops, matmul (FLOP/s meanwhile), fraction of it,
---   tokens (a second), peak_bytes, faults (a step);
---   rounded: the same with operands of bfloat16; ratio, of their seconds
---   parts: name, seconds, share, fraction each; the last is the rest;
---   peers: name, seconds, least, ratio (to seconds), rounded_ratio (to those of bfloat16),
---   peak_bytes, faults each; the fastest first
function M.step(shape, settings)
  local threads, size = settings.threads, settings.size
  local ours = race.trainer(shape, threads)
  local entries = { ours, race.multiplier(size, threads),
    race.trainer(shape, threads, "bfloat16"), race.multiplier(size, threads, "bfloat16") }
  if settings.has_parts then
    entries[5] = { program = child.worker("parts", { shape = shape, threads = threads }),
      case = "all", summary = parts_in_short }
  end
  local first_peer = #entries + 1
  local peers = settings.peers or {}
  if #peers > 0 then
    local theirs = peers_of(peers, shape, threads, ours.program:call "count")
    table.move(theirs, 1, #theirs, first_peer, entries)
  end
  local results = race.run(entries, settings.rounds)
  local step = beside(results[1], results[2], shape, threads, size)
  step.rounded = beside(results[3], results[4], shape, threads, size)
  step.rounded.ratio = step.seconds / step.rounded.seconds
  if settings.has_parts then
    step.parts = complete(results[5].parts, step.seconds, step.matmul)
  end
  if #peers > 0 then
    step.peers = {}
    for i = first_peer, #entries do
      local seconds = results[i].seconds
      table.insert(step.peers, shapes.with(results[i], { name = entries[i].name,
        ratio = seconds / step.seconds, rounded_ratio = seconds / step.rounded.seconds }))
    end
    table.sort(step.peers, function(a, b)
      return a.seconds < b.seconds
    end)
  end
  return step
end

-- Seconds of steps with each position scheme in turn, in one process.
local function steps_with(names, shape, settings)
  local worker = child.worker("step", { shape = shape, threads = settings.threads,
    positions = names })
  local calls = {}
  for i, name in ipairs(names) do
    calls[i] = worker:bind(name)
  end
  local samples = statistics.interleave(calls, settings.rounds)
  worker:stop()
  return samples
end

--- The cost of rotation.
---@param shape table
---@param settings table threads, rounds
---@return table shape, none (seconds), rope_over_none, roper_over_rope
function M.positions(shape, settings)
  local none, rope, roper = table.unpack(steps_with({ "none", "rope", "roper" }, shape, settings))
  return { shape = shape, none = statistics.median(none),
    rope_over_none = statistics.ratio(rope, none),
    roper_over_rope = statistics.ratio(roper, rope) }
end

--- The cost of position schemes, relative to RoPE.
---@param shape table
---@param settings table threads, rounds, schemes: their names
---@return table shape, rope (seconds), rows: name and ratio (to RoPE) each
function M.schemes(shape, settings)
  local names = table.move(settings.schemes, 1, #settings.schemes, 2, { "rope" })
  local samples = steps_with(names, shape, settings)
  local rows = {}
  for i, name in ipairs(settings.schemes) do
    rows[i] = { name = name, ratio = statistics.ratio(samples[i + 1], samples[1]) }
  end
  return { shape = shape, rope = statistics.median(samples[1]), rows = rows }
end

--- Linear attention alone, forward and backward, at many lengths, in turn with attention.
---@param shape table
---@param settings table threads, rounds, linear_lengths
---@return table shape, rows: length, linear and softmax (seconds a token) each
function M.linear_attention(shape, settings)
  local lengths = settings.linear_lengths
  local worker = child.worker("linear_attention", { shape = shape, threads = settings.threads,
    lengths = lengths })
  local calls = {}
  for _, length in ipairs(lengths) do
    calls[#calls + 1] = worker:bind("linear_attention " .. length)
    calls[#calls + 1] = worker:bind("attention " .. length)
  end
  local samples = statistics.interleave(calls, settings.rounds)
  worker:stop()
  local rows = {}
  for i, length in ipairs(lengths) do
    local tokens = shape.batch * length
    rows[i] = { length = length, linear = statistics.median(samples[2 * i - 1]) / tokens,
      softmax = statistics.median(samples[2 * i]) / tokens }
  end
  return { shape = shape, rows = rows }
end

-- Calls of both cases of a program at a length, "forward" and "both".
local function pair_of_calls(program, kind)
  return { program:bind("forward " .. kind), program:bind("both " .. kind) }
end

--- Attention alone at many lengths, with several schemes and beside that of PyTorch 2.
---@param shape table
---@param settings table threads, attention_rounds, attention_lengths, positions: the first without
---   rotation and bias; peers: from `peer.find`
---@return table shape, peak_bytes, rows: length, forward and both (seconds with the first scheme),
---   schemes: name and the ratios forward and both to the first, peer: the ratios forward and both
---   of PyTorch, if there is one
function M.attention(shape, settings)
  local lengths, names = settings.attention_lengths, settings.positions
  local ours = child.worker("attention", { shape = shape, threads = settings.threads,
    lengths = lengths, positions = names })
  local theirs = peer.start_attention(settings.peers or {}, { shape = shape, lengths = lengths,
    threads = settings.threads })
  local rows = {}
  for i, length in ipairs(lengths) do
    local calls = {}
    for j, name in ipairs(names) do
      table.move(pair_of_calls(ours, name .. " " .. length), 1, 2, 2 * j - 1, calls)
    end
    if theirs then
      table.move(pair_of_calls(theirs, tostring(length)), 1, 2, #calls + 1, calls)
    end
    local samples = statistics.interleave(calls, settings.attention_rounds, 1)
    local function ratios(j)
      return { forward = statistics.ratio(samples[2 * j - 1], samples[1]),
        both = statistics.ratio(samples[2 * j], samples[2]) }
    end
    rows[i] = { length = length, forward = statistics.median(samples[1]),
      both = statistics.median(samples[2]), schemes = {}, peer = theirs and ratios(#names + 1) }
    for j = 2, #names do
      rows[i].schemes[j - 1] = shapes.with(ratios(j), { name = names[j] })
    end
  end
  local peak = ours:peak_bytes()
  ours:stop()
  if theirs then
    theirs:stop()
  end
  return { shape = shape, rows = rows, peak_bytes = peak }
end

--- Forward passes of attention with RoPE, causal and not, in both precisions, in turn with those of
--- PyTorch 2, which also rotates queries and keys.
---@param shape table
---@param settings table threads, size, attention_rounds, forward_lengths; peers: from `peer.find`
---@return table shape, rows: length, causal, precision, seconds, flops (a second), fraction of the
---   matmul rate meanwhile, peer: its seconds relative to ours, if there is one in this precision
function M.attention_forward(shape, settings)
  local rows = {}
  for _, length in ipairs(settings.forward_lengths) do
    for _, causal in ipairs { true, false } do
      local entries = {}
      for _, precision in ipairs { "float32", "bfloat16" } do
        local row = { length = length, causal = causal, precision = precision }
        local options = { shape = shape, lengths = { length }, positions = { "rope" },
          rotated = true, causal = causal, precision = precision, threads = settings.threads }
        entries[#entries + 1] = { program = child.worker("attention", options),
          case = "forward rope " .. length, row = row }
        entries[#entries + 1] = race.multiplier(settings.size, settings.threads, precision)
        entries[#entries].row, entries[#entries].is_product = row, true
        local theirs = peer.start_attention(settings.peers or {}, options)
        entries[#entries + 1] = theirs and { program = theirs, case = "forward " .. length,
          row = row, is_peer = true }
        rows[#rows + 1] = row
      end
      for i, found in ipairs(race.run(entries, settings.attention_rounds)) do
        local row = entries[i].row
        if entries[i].is_peer then
          row.peer = found.seconds / row.seconds
        elseif entries[i].is_product then
          row.fraction = row.flops / (2 * settings.size ^ 3 / found.seconds)
        else
          row.seconds = found.seconds
          row.flops = (causal and 2 or 4) * length ^ 2 * shape.d_model * shape.batch / found.seconds
        end
      end
    end
  end
  return { shape = shape, rows = rows }
end

--- Answers to addition problems, with the cache of keys and values and without.
---@param shape table
---@param settings table threads, problems, sampling_rounds
---@return table problems, tokens (in all), cached and full (tokens a second), ratio
function M.sampling(shape, settings)
  local worker = child.worker("sampling", { shape = shape, threads = settings.threads,
    problems = settings.problems })
  local samples = statistics.interleave({ worker:bind "cached", worker:bind "full" },
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

--- Generation with a cache, by size and batch, beside `transformers`, and the bandwidth of memory.
---@param _ table
---@param settings table threads, generation_shapes, generation_batches, generation_tokens,
---   generation_rounds, bandwidth_bytes; peers: from `peer.find`
---@return table[] shape, parameters, batch, tokens (a second), bandwidth (bytes a second),
---   fraction: of the bandwidth, for reading all parameters once for each token of a row;
---   bfloat16: how many times as fast with weights in bfloat16;
---   peer: the ratio of the seconds of transformers, if there is one
function M.generation(_, settings)
  local rows, threads, count = {}, settings.threads, settings.generation_tokens
  for _, shape in ipairs(settings.generation_shapes) do
    for _, batch in ipairs(settings.generation_batches) do
      local function generator(dtype)
        return { case = dtype, program = child.worker("generation", { shape = shape, batch = batch,
          tokens = count, threads = threads }) }
      end
      local entries = { generator "float32", generator "bfloat16",
        { case = "read", program = child.worker("bandwidth", { threads = threads,
          bytes = settings.bandwidth_bytes }) } }
      local theirs = peer.start_generation(settings.peers or {}, shape, batch, count, threads)
      if theirs then
        entries[4] = { case = "generate", program = theirs }
      end
      local parameters = entries[1].program:call "count"
      local ours, halves, read, other = table.unpack(race.run(entries, settings.generation_rounds))
      local bandwidth = settings.bandwidth_bytes / read.seconds
      table.insert(rows, { shape = shape, parameters = parameters, batch = batch,
        tokens = batch * count / ours.seconds, bandwidth = bandwidth,
        fraction = 4 * parameters * count / ours.seconds / bandwidth,
        bfloat16 = ours.seconds / halves.seconds, peer = other and other.seconds / ours.seconds })
    end
  end
  return rows
end

-- Steps at several shapes and numbers of threads, all in one race.
local function compare(by, cases, settings)
  local entries, rows = {}, {}
  for i, case in ipairs(cases) do
    entries[2 * i - 1] = race.trainer(case.shape, case.threads)
    entries[2 * i] = race.multiplier(settings.size, case.threads)
  end
  local results = race.run(entries, settings.rounds)
  for i, case in ipairs(cases) do
    rows[i] = beside(results[2 * i - 1], results[2 * i], case.shape, case.threads, settings.size)
    rows[i].by = by
  end
  return rows
end

--- Steps of one model at several lengths, batches and numbers of threads.
---@param shape table
---@param settings table threads, size, rounds; lengths, tokens (a step), batches
---@return table[] by ("length", "batch", "threads") and the fields of `step`
function M.scaling(shape, settings)
  local by_length, by_batch, by_threads = {}, {}, {}
  for i, length in ipairs(settings.lengths) do
    by_length[i] = { threads = settings.threads,
      shape = shapes.with(shape, { length = length, batch = settings.tokens // length }) }
  end
  for i, batch in ipairs(settings.batches) do
    by_batch[i] = { threads = settings.threads, shape = shapes.with(shape, { batch = batch }) }
  end
  for threads = 1, settings.threads do
    by_threads[threads] = { threads = threads, shape = shape }
  end
  local rows = compare("length", by_length, settings)
  table.move(compare("batch", by_batch, settings), 1, #by_batch, #rows + 1, rows)
  table.move(compare("threads", by_threads, settings), 1, #by_threads, #rows + 1, rows)
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
