-- ./roper tests/bench/main.lua [OPTION]...: how fast training and sampling are. See README.md.
package.path = package.path .. ";" .. arg[0]:match "^(.-)tests/bench/[^/]*$" .. "?.lua"

local core = require "roper.core"
local measure = require "tests.bench.measure"
local peer = require "tests.bench.peer"
local report = require "tests.bench.report"
local shapes = require "tests.bench.shapes"
local tables = require "roper.base.tables"

-- Settings: rounds of steps, the size of the matrices for the bound, problems and rounds of
-- sampling, steps of the check of bits; for scaling the lengths, at a fixed number of tokens per
-- step, and the batches; the lengths for linear attention, and for attention with its rounds; for
-- generation the shapes, the batches, the tokens of a row and the rounds, and the bytes that are
-- read for the bandwidth.
local FULL <const> = { rounds = 10, size = 2048, problems = 128, sampling_rounds = 3, steps = 3,
  lengths = { 128, 256, 512, 1024, 2048, 4096, 8192 }, tokens = 8192,
  batches = { 1, 2, 4, 8, 16, 32 }, linear_lengths = { 512, 1024, 2048, 4096, 8192 },
  attention_lengths = { 512, 2048, 8192, 16384 }, attention_rounds = 3,
  forward_lengths = { 2048, 8192, 16384 },
  generation_shapes = { shapes.get "small", shapes.get "big", shapes.get "large" },
  generation_batches = { 1, 16 }, generation_tokens = 64, generation_rounds = 3,
  bandwidth_bytes = 256 << 20 }
-- One thread: waiting for a second is slow if other programs run beside the tests.
local TINY <const> = { threads = 1, rounds = 3, size = 512, problems = 2, sampling_rounds = 1,
  steps = 3, lengths = { 16, 32 }, tokens = 64, batches = { 1, 2 }, linear_lengths = { 32, 64 },
  attention_lengths = { 16, 32 }, attention_rounds = 1, forward_lengths = { 16 },
  generation_shapes = { shapes.get("small", true) }, generation_batches = { 1, 2 },
  generation_tokens = 3, generation_rounds = 1, bandwidth_bytes = 1 << 20 }

-- Schemes that rotate queries and keys or add a bias per distance, then those that multiply vectors
-- per distance with queries, keys or weights.
local SCHEMES <const> = { "xpos", "alibi", "t5", "yarn", "axial", "shaw", "transformer_xl",
  "deberta" }

-- `shape`: its name and changes; `run` measures and `show` returns the text; `settings`: changes of
-- the settings; `extra` measurements run on request, and with --tiny.
local MEASUREMENTS <const> = {
  { name = "comparison", summary = "training at the shape of comparison sweeps",
    shape = { "comparison" }, run = measure.step, show = report.step,
    settings = { has_parts = true, has_peer = true } },
  { name = "comparison_one_thread", summary = "the same on one thread", shape = { "comparison" },
    run = measure.step, show = report.step, settings = { threads = 1, has_peer = true } },
  { name = "small", summary = "training at the small shape", shape = { "small" },
    run = measure.step, show = report.step, settings = { has_parts = true, has_peer = true } },
  { name = "big32", summary = "training at the big shape, batch 32", shape = { "big" },
    run = measure.step, show = report.step, settings = { has_parts = true } },
  { name = "big8", summary = "training at the big shape, batch 8",
    shape = { "big", { batch = 8 } }, run = measure.step, show = report.step,
    settings = { has_parts = true, has_peer = true } },
  { name = "one_thread", summary = "training at the small shape on one thread",
    shape = { "small" }, run = measure.step, show = report.step,
    settings = { has_parts = true, threads = 1 } },
  { name = "positions_small", summary = "what positions cost at the small shape",
    shape = { "small" }, run = measure.positions, show = report.positions },
  { name = "positions_big", summary = "what positions cost at the big shape, batch 8",
    shape = { "big", { batch = 8 } }, run = measure.positions, show = report.positions },
  { name = "schemes", summary = "what other position schemes cost at the small shape",
    shape = { "small" }, run = measure.schemes, show = report.schemes,
    settings = { schemes = SCHEMES } },
  { name = "linear_attention", summary = "linear attention by length, beside attention",
    shape = { "small", { batch = 2 } }, run = measure.linear_attention,
    show = report.linear_attention },
  { name = "attention", summary = "attention by length, with several schemes and beside PyTorch",
    shape = { "big", { batch = 1 } }, run = measure.attention, show = report.attention,
    settings = { positions = { "none", "roper", "alibi", "t5" }, has_peer = true } },
  { name = "attention_forward", summary = "forward passes with RoPE, causal and not, in bfloat16",
    shape = { "big", { batch = 1 } }, run = measure.attention_forward,
    show = report.attention_forward, settings = { has_peer = true } },
  { name = "sampling", summary = "sampling with the big model", shape = { "big" },
    run = measure.sampling, show = report.sampling },
  { name = "generation", summary = "generation by size and batch, and beside transformers",
    shape = { "small" }, run = measure.generation, show = report.generation,
    settings = { has_peer = true } },
  { name = "scaling", summary = "cost per token by length, batch and threads",
    shape = { "small" }, run = measure.scaling, show = report.scaling, extra = true },
  { name = "check", summary = "whether training gives the same bits twice", shape = { "small" },
    run = measure.check, show = report.check, extra = true },
}

local function count(text)
  local number = math.tointeger(text)
  if not number or number < 1 then
    return nil, ("expected a positive integer, got %s"):format(text)
  end
  return number
end

local function arguments()
  local parser = require "argparse"("tests/bench/main.lua",
    "Measure the speed of training and sampling: all of it, or what is named.")
  for _, measurement in ipairs(MEASUREMENTS) do
    parser:flag("--" .. measurement.name:gsub("_", "-"),
      measurement.summary .. (measurement.extra and " (only where named)" or ""))
  end
  parser:flag("--tiny", "everything at a tiny shape: fast, and its figures mean nothing")
  parser:option("--peer", "PyTorch too, yes or no; by default yes if installed, except for tiny")
    :choices { "yes", "no" }
  parser:option("--rounds", "steps for the median, 10 unless it is tiny")
    :convert(count)
  parser:flag("--json", "one JSON object instead of text")
  return parser:parse(arg)
end

local given = arguments()

local function is_wanted(measurement, some_named)
  if some_named then
    return given[measurement.name]
  end
  return given.tiny or not measurement.extra
end

local function wanted()
  local some_named = false
  for _, measurement in ipairs(MEASUREMENTS) do
    some_named = some_named or given[measurement.name]
  end
  local list = {}
  for _, measurement in ipairs(MEASUREMENTS) do
    if is_wanted(measurement, some_named) then
      list[#list + 1] = measurement
    end
  end
  return list
end

local function say(...)
  if not given.json then
    print(...)
    io.stdout:flush()
  end
end

local settings = given.tiny and TINY or FULL
settings.rounds = given.rounds or settings.rounds
if given.tiny then
  require("tests.bench.child").pause = 0
end
local results = { tiny = given.tiny or false, machine = measure.machine(settings) }
settings.most_threads = results.machine.threads
settings.threads = settings.threads or settings.most_threads
say(report.machine(results.machine))

-- The peers that take part, looked up once; their names are a result. PyTorch in bfloat16 is too
-- slow to wait for on processors without such instructions.
local found
local function peers()
  if not found then
    local is_asked = given.peer == "yes" or not given.peer and not given.tiny
    local has_bfloat16 = results.machine.instructions ~= results.machine.rounded_instructions
    found = is_asked and peer.find { "float32", has_bfloat16 and "bfloat16" or nil } or {}
    results.peers = tables.map(found, function(entry) return entry.name end)
    if #found == 0 then
      say("\npeer: " .. (is_asked and "none, PyTorch is not installed" or "none asked for"))
    elseif not has_bfloat16 then
      say "\npeer: not in bfloat16, for which this processor has no instructions"
    end
  end
  return found
end

local steps = {}
for _, measurement in ipairs(wanted()) do
  local name, changes = table.unpack(measurement.shape)
  local shape = shapes.get(name, given.tiny)
  local own = shapes.with(settings, measurement.settings)
  own.peers = own.has_peer and peers()
  local result = measurement.run(given.tiny and shape or shapes.with(shape, changes), own)
  results[measurement.name] = result
  say(("\n%s: %s"):format(measurement.name, measurement.show(result)))
  if measurement.run == measure.step then
    steps[#steps + 1] = { name = measurement.name:gsub("_", " "), step = result }
  end
end
if #steps > 0 then
  say("\n" .. report.steps(steps))
end
if given.json then
  print(core.json_encode(results, { indent = 2 }))
end
if results.check and not results.check.identical then
  error("training gave different bits", 0)
end
