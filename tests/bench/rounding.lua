-- ./roper tests/bench/rounding.lua [--tiny]: prints the effect of rounding operands to bfloat16, as
-- ||b - f|| / ||f|| of results in bfloat16 (b) and in float32 (f): for each operation at the small
-- shape, and for the gradient of each parameter of a model before and after training, there with
-- the difference of the norms.
package.path = package.path .. ";" .. arg[0]:match "^(.-)tests/bench/[^/]*$" .. "?.lua"

local core = require "roper.core"
local position = require "roper.position"
local shapes = require "tests.bench.shapes"
local tables = require "roper.base.tables"
local scoped = require "roper.base.scoped"
local training = require "tests.bench.training"

local TINY <const> = arg[1] == "--tiny"
local SHAPE <const> = shapes.with(shapes.get("small", TINY), { vocabulary = 45 })
local STEPS <const> = TINY and 2 or 100

local function norm(x)
  return (x * x):sum():item() ^ 0.5
end

-- Compares the results of f in both precisions: relative differences, and those of the norms.
local function differences(f)
  local rounded = scoped.with_matmul_precision("bfloat16", f)
  local exact = scoped.with_matmul_precision("float32", f)
  local apart, norms = {}, {}
  for i = 1, #exact do
    local b, e = rounded[i]:to "float64", exact[i]:to "float64"
    apart[i] = norm(b - e) / norm(e)
    norms[i] = math.abs(norm(b) / norm(e) - 1)
  end
  return apart, norms
end

-- Differences of the output of an operation on random numbers, and of the gradients of its inputs.
local function operation(compute, ...)
  local inputs = { ... }
  local gradient = core.randn(compute(...):shape())
  return differences(function()
    local y = compute(table.unpack(inputs))
    y:backward(gradient)
    local results = { y }
    for i, input in ipairs(inputs) do
      results[i + 1] = input.grad
      input.grad = nil
    end
    return results
  end)
end

-- Normal random numbers of mean 0 and the given standard deviation.
local function leaf(deviation, ...)
  return (core.randn { ... } * deviation):detach():parameter()
end

local function operations()
  local d, time = SHAPE.d_model, SHAPE.length
  local heads, features = SHAPE.heads, d // SHAPE.heads
  local scheme = position.resolve("roper", features)
  local function heads_of()
    return leaf(1, SHAPE.batch, heads, time, features)
  end
  return {
    { "linear", { "y", "dX", "dW" }, operation(core.linear, leaf(1, SHAPE.batch, time, d),
      leaf(d ^ -0.5, SHAPE.d_ff, d)) },
    { "attention with RoPER", { "output", "dQ", "dK", "dV" }, operation(function(q, k, v)
      return core.attention(q, k, v, { position = scheme, causal = true })
    end, heads_of(), heads_of(), heads_of()) },
    { "matmul", { "AB", "dA", "dB" }, operation(core.matmul, leaf(1, time, time),
      leaf(1, time, time)) },
  }
end

-- Gradients of all parameters on one batch, by name, with the layer if there is one: their
-- differences, and those of their norms.
local function gradients(run)
  local named = run.model:named_parameters()
  local function compute()
    run:differentiate()
    return tables.map(named, function(entry) return entry.tensor.grad end)
  end
  local changes, changes_of_norms = differences(compute)
  local rows = {}
  for i, entry in ipairs(named) do
    local layer, name = entry.name:match "^layers%.(%d+)%.(.+)$"
    name = name or entry.name
    if not rows[name] then
      rows[name] = { name = name, norms = 0 }
      rows[#rows + 1] = rows[name]
    end
    rows[name][tonumber(layer or 1)] = changes[i]
    rows[name].norms = math.max(rows[name].norms, changes_of_norms[i])
  end
  return rows
end

local function show(rows)
  local columns = {}
  for layer = 1, SHAPE.layers do
    columns[layer] = ("layer %d"):format(layer)
  end
  print(("| gradient of, %% | %s | norms, at most |"):format(table.concat(columns, " | ")))
  print("| --- |" .. (" ---: |"):rep(#columns + 1))
  for _, row in ipairs(rows) do
    for layer = 1, #columns do
      columns[layer] = row[layer] and ("%.2f"):format(100 * row[layer]) or "-"
    end
    print(("| %s | %s | %.2f |"):format(row.name, table.concat(columns, " | "), 100 * row.norms))
  end
end

core.seed(1)
print(("kernels for %s"):format(scoped.with_matmul_precision("bfloat16", core.machine)
  .instructions))
print "\n| operation | of | difference |\n| --- | --- | ---: |"
for _, entry in ipairs(operations()) do
  local name, results, changes = table.unpack(entry)
  for i, result in ipairs(results) do
    print(("| %s | %s | %.2f %% |"):format(name, result, 100 * changes[i]))
  end
end

local task = require("roper.tasks").substring_index { length = SHAPE.length + 1, letters = 13,
  seed = 1 }
local run = training.new(SHAPE, "roper")
local done = 0
for _, steps in ipairs { 0, STEPS } do
  while done < steps do
    run.tokens = task:batch(SHAPE.batch)
    run:step()
    done = done + 1
  end
  run.tokens = task:batch(SHAPE.batch)
  print(("\nafter %d steps on Substring by Index:\n"):format(steps))
  show(gradients(run))
end
