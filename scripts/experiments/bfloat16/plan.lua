-- Plan of the study "Products in bfloat16"; design.md describes it.
local BOTH <const> = { "rope", "roper" }

local function sweep(name, experiment, seeds)
  return { name = name, experiment = experiment, position = BOTH, seeds = seeds,
    vary = { matmul_precision = { "float32", "bfloat16" } } }
end

local function test(name, task, scheme)
  return { name = name, sweeps = { task }, measures = { "loss" }, digits = 4,
    pairs = { { { position = scheme, matmul_precision = "float32" },
      { position = scheme, matmul_precision = "bfloat16" } } } }
end

return {
  title = "Products in bfloat16",
  fields = { preset = "mini", times = "2,4" },
  sweeps = { sweep("index", "substring_index", "1..10"),
    sweep("prefix", "substring_prefix", "1..6"), sweep("addition", "addition", "1..5") },
  columns = { "loss", "solved", "steps_to_90", "at_1" },
  families = {
    { title = "Loss in bfloat16 − in float32, tested", correction = "holm", tests = {
      test("Index, RoPE", "index", "rope"), test("Index, RoPER", "index", "roper") } },
    { title = "The same, described", correction = "none", tests = {
      test("Prefix, RoPE", "prefix", "rope"), test("Prefix, RoPER", "prefix", "roper"),
      test("Addition, RoPE", "addition", "rope"), test("Addition, RoPER", "addition", "roper") } },
  },
}
