local child = require("tests.bench.child")
local core = require("roper.core")
local mpi = require("tests.mpi")
local process = require("tests.process")
local report = require("tests.bench.report")
local scratch = require("tests.scratch")
local shapes = require("tests.bench.shapes")
local statistics = require("tests.bench.statistics")
local tables = require("roper.base.tables")

describe("bench", function()
  -- The benchmark's output at the tiny shape.
  local function bench(...)
    local status, output, errors = process.run({ "./roper", "tests/bench/main.lua", "--tiny", ... })
    assert.equal("", errors)
    assert.equal(0, status)
    return output
  end

  describe("step_flops", function()
    it("counts multiplications and additions of matrix products", function()
      local shape = { d_model = 3, layers = 5, d_ff = 7, length = 4, batch = 2, vocabulary = 11 }
      local products = 5 * (4 * 3 * 3 + 2 * 3 * 7) + 3 * 11 -- a token
      local pairs_seen = 4 * 4 / 2 -- of a causal sequence, by halves
      local attention = 5 * 2 * pairs_seen * (3 + 3) -- scores and sums of values
      assert.equal(3 * 2 * (8 * products + attention), shapes.step_flops(shape))
    end)

    it("agrees with a count by hand at the study's small shape", function()
      assert.equal(3 * (9663676416 + 3221225472 + 94371840),
        shapes.step_flops(shapes.get("small")))
    end)
  end)

  describe("ratio", function()
    it("pairs measurements by round", function()
      assert.equal(2, statistics.ratio({ 2, 40, 600 }, { 1, 20, 200 }))
    end)
  end)

  describe("interleave", function()
    it("alternates round by round and drops the warm-up", function()
      local order = {}
      local function note(name)
        return function()
          order[#order + 1] = name
          return #order
        end
      end
      assert.same({ { 3, 5 }, { 4, 6 } }, statistics.interleave({ note("a"), note("b") }, 2, 1))
      assert.equal("ababab", table.concat(order))
    end)
  end)

  describe("a program", function()
    it("reports a process that ends without an answer", function()
      local program = child.start({ "/bin/true" })
      assert.error_matches(function() program:call("step") end,
        "ended without an answer: /bin/true", 1, true)
    end)

    it("runs without OPENBLAS_CORETYPE", function()
      local program = child.start({ "/bin/sh", "-c",
        [[read line; echo "{\"result\": \"${OPENBLAS_CORETYPE-none} $ADDED\"}"; read line]] },
        { ADDED = "added" })
      assert.equal("none added", program:call(""))
      assert.is_true(program:peak_bytes() > 0)
      assert.is_true(program:faults() > 0)
      program:stop()
    end)
  end)

  it("gives every figure as JSON", function()
    local results = core.json_decode(bench("--json"))
    local function positive(number)
      assert.is_true(number > 0 and number < math.huge)
    end
    positive(results.machine.matmul.one)
    positive(results.machine.matmul.all)
    positive(results.machine.matmul.rounded)
    local before = core.matmul_precision()
    core.matmul_precision("bfloat16")
    assert.equal(core.machine().instructions, results.machine.rounded_instructions)
    core.matmul_precision(before)
    for _, name in ipairs({ "comparison", "small", "big32", "big8", "one_thread" }) do
      local step = results[name]
      positive(step.fraction)
      assert.is_true(step.least <= step.seconds)
      positive(step.rounded.fraction)
      assert.is_true(math.abs(step.rounded.ratio * step.rounded.seconds - step.seconds) < 1e-9)
      for _, field in ipairs({ "seconds", "tokens", "peak_bytes", "flops" }) do
        positive(step[field])
      end
      local share = 0
      for _, part in ipairs(step.parts) do
        share = share + part.share
        if part.fraction then
          positive(part.fraction)
        end
      end
      assert.is_true(math.abs(share - 1) < 1e-9)
    end
    for _, name in ipairs({ "positions_small", "positions_big" }) do
      positive(results[name].rope_over_none)
      positive(results[name].roper_over_rope)
    end
    for _, row in ipairs(results.schemes.rows) do
      positive(row.ratio)
    end
    positive(results.schemes.rope)
    assert.is_true(#results.schemes.rows > 5)
    assert.equal(2, #results.linear_attention.rows)
    for _, row in ipairs(results.linear_attention.rows) do
      positive(row.linear)
      positive(row.softmax)
    end
    assert.equal(2, #results.attention.rows)
    for _, row in ipairs(results.attention.rows) do
      positive(row.forward)
      positive(row.both)
      assert.same({ "roper", "alibi", "t5" },
        { row.schemes[1].name, row.schemes[2].name, row.schemes[3].name })
      positive(row.schemes[3].both)
      assert.is_nil(row.peer)
    end
    local forward = results.attention_forward.rows
    assert.equal(4, #forward)
    for i, row in ipairs(forward) do
      assert.equal(i <= 2, row.causal)
      assert.equal(i % 2 == 1 and "float32" or "bfloat16", row.precision)
      positive(row.flops)
      assert.is_nil(row.peer)
    end
    positive(results.sampling.ratio)
    assert.equal(2, #results.generation)
    for _, row in ipairs(results.generation) do
      positive(row.tokens)
      positive(row.fraction)
      positive(row.bfloat16)
      assert.is_nil(row.peer)
    end
    assert.equal(5, #results.scaling)
    for _, row in ipairs(results.scaling) do
      positive(row.fraction)
    end
    assert.is_true(results.check.identical)
    assert.same({}, results.peers)
  end)

  it("measures the PyTorch of PEER_PYTHON in four configurations, the fastest first", function()
    scratch.create()
    finally(scratch.remove)
    local worker = child.worker("step", { shape = shapes.get("small", true), threads = 1,
      positions = { "none" } })
    local count = worker:call("count")
    worker:stop()
    -- Takes 40 seconds a step, a half of that compiled, a quarter in bfloat16.
    scratch.write("python", ([[#!/bin/sh
      if [ "$1" = -c ]; then echo 2.99.0; exit; fi
      seconds=40
      case "$2" in *'"is_compiled": true'*) seconds=$((seconds / 2));; esac
      case "$2" in *bfloat16*) seconds=$((seconds / 4));; esac
      while read -r case; do
        [ "$case" = count ] && result=%d || result=$seconds
        echo "{\"result\": $result}"
      done
    ]]):format(count))
    local python = scratch.path("python")
    assert.equal(0, process.run({ "chmod", "+x", python }))
    local status, output = process.run({ "./roper", "tests/bench/main.lua", "--tiny", "--small",
      "--peer", "yes", "--json" }, nil, { PEER_PYTHON = python })
    assert.equal(0, status)
    local results, names = core.json_decode(output), {}
    local small, machine = results.small, results.machine
    for _, peer in ipairs(small.peers) do
      if peer.name:match("^2%.99%.0") then -- an installed PyTorch takes part as well
        names[#names + 1] = ("%s: %g"):format(peer.name, peer.seconds)
        assert.is_true(math.abs(peer.ratio * small.seconds - peer.seconds) < 1e-9)
        assert.is_true(math.abs(peer.rounded_ratio * small.rounded.seconds - peer.seconds) < 1e-9)
      end
    end
    local has_bfloat16 = machine.instructions ~= machine.rounded_instructions
    local rounded = { "2.99.0, compiled, bfloat16: 5", "2.99.0, eager, bfloat16: 10" }
    assert.same(tables.joined(has_bfloat16 and rounded or {}, { "2.99.0, compiled, float32: 20",
      "2.99.0, eager, float32: 40" }), names)
  end)

  it("reports that PEER_PYTHON has no PyTorch", function()
    local status, _, errors = process.run({ "./roper", "tests/bench/main.lua", "--tiny", "--small",
      "--peer", "yes" }, nil, { PEER_PYTHON = "/bin/false" })
    assert.not_equal(0, status)
    assert.matches("PEER_PYTHON=/bin/false: expected a Python with PyTorch", errors, 1, true)
  end)

  it("prints the requested measurements as text", function()
    local output = bench("--one-thread", "--positions-small", "--schemes", "--linear-attention")
    assert.matches("\none_thread: 16 features", output, 1, true)
    assert.matches("\n  attention backward ", output, 1, true)
    assert.matches("\n  in bfloat16 %d+%.%d ms", output)
    assert.matches("\npositions_small: 16 features", output, 1, true)
    assert.matches("\nschemes: 16 features", output, 1, true)
    assert.matches("\n  deberta  ", output, 1, true)
    assert.matches("\nlinear_attention: 2 heads of 8 features", output, 1, true)
    assert.matches("\n| 64 |", output, 1, true)
    assert.is_nil(output:find("big", 1, true))
  end)

  it("ends with a table of training steps", function()
    assert.matches("\n| one thread | 1 | %d+%.%d | %d+%.%d%d | %d+%.%d, %d+%.%d%d |  |  | %d.%d%d |"
      .. "\n$", bench("--one-thread"))
  end)

  it("lists the ratio of the fastest peer in each precision", function()
    local function peer(name, ratio, rounded_ratio)
      return { name = name, ratio = ratio, rounded_ratio = rounded_ratio, peak_bytes = 3 << 30 }
    end
    local lines = report.steps({ { name = "small", step = { threads = 2, seconds = 0.25,
      fraction = 0.75, peak_bytes = 1 << 29, rounded = { seconds = 0.125, fraction = 0.5 },
      peers = { peer("2.99, eager, bfloat16", 1.5, 3), peer("2.99, compiled, float32", 1.75, 3.5),
        peer("2.99, compiled, bfloat16", 1.8, 3.6), peer("1.13, default malloc", 2, 4) } } } })
    assert.equal("| small | 2 | 250.0 | 0.75 | 125.0, 0.50 | 1.75 | 3.00 | 0.50, 3.00 |",
      lines:match("[^\n]+$"))
  end)

  it("lists the environment variables that can slow a machine down", function()
    local status, output = process.run({ "./roper", "tests/bench/main.lua", "--tiny", "--check" },
      nil, { OPENBLAS_CORETYPE = "Haswell", OMP_NUM_THREADS = "1" })
    assert.equal(0, status)
    assert.matches("warning: OPENBLAS_CORETYPE=Haswell is set", output, 1, true)
    assert.matches("warning: OMP_NUM_THREADS=1 is set", output, 1, true)
  end)

  it("prints how far bfloat16 operands change products and gradients", function()
    local status, output, errors = process.run({ "./roper", "tests/bench/rounding.lua", "--tiny" })
    assert.equal("", errors)
    assert.equal(0, status)
    -- Rounding changes each operand by 2^-9 / sqrt(3) to 2^-8 / sqrt(3) at random, 0.2 % of both.
    local products = 0
    for change in output:gmatch("| linear | %S+ | (%S+) %% |") do
      products = products + 1
      assert.is_true(tonumber(change) > 0.15 and tonumber(change) < 0.35)
    end
    assert.equal(3, products)
    assert.matches("\n| attention.key.bias | %d+%.%d%d | %d+%.%d%d | %d+%.%d%d |\n", output)
    assert.matches("\n| logits.weight | %d+%.%d%d | %- | %d+%.%d%d |\n", output)
  end)

  it("prints the time of sums over ranks", function()
    local status, output, errors = process.run({ "./roper", "tests/bench/ranks.lua", "--tiny" })
    assert.same({ 0, "" }, { status, errors })
    assert.matches("^ranks: 1, threads of each: %d+\nsmall: .-\nwide: ", output)
    local reason = mpi.missing()
    if reason then
      return pending(reason)
    end
    status, output, errors = process.run(mpi.command(2, "./roper", "tests/bench/ranks.lua",
      "--tiny"), nil, mpi.ENVIRONMENT)
    assert.equal(0, status, errors)
    assert.matches("^ranks: 2, .*a sum of 8 bytes: %S+ us\na sum of 0.0 MB: %S+ ms\n$", output)
  end)

  it("compares models before and after training", function()
    scratch.create()
    finally(scratch.remove)
    local function after(steps)
      local path = scratch.path("model.safetensors")
      local worker = child.worker("training", { shape = shapes.get("small", true), threads = 1,
        position = "roper", steps = steps, path = path })
      worker:call("save")
      worker:stop()
      return scratch.read(path)
    end
    assert.not_equal(after(0), after(1))
  end)
end)
