-- Plan of the study "RoPE and RoPER, in pairs"; design.md describes it.
local BOTH <const> = { "rope", "roper" }
local PAIR <const> = { { "rope", "roper" } }

local function test(name, sweep, measure, digits)
  return { name = name, sweeps = { sweep }, pairs = PAIR, measures = { measure }, digits = digits }
end

return {
  title = "RoPE and RoPER, in pairs",
  fields = { preset = "mini", times = "2,4" },
  sweeps = {
    { name = "index", experiment = "substring_index", position = BOTH, seeds = "1..10",
      curve = "accuracy" },
    { name = "prefix", experiment = "substring_prefix", position = BOTH, seeds = "1..6",
      curve = "test_loss" },
    { name = "index_long", experiment = "substring_index", position = BOTH, seeds = "1..10",
      fields = { steps = 1300 }, curve = "accuracy" },
    { name = "addition", experiment = "addition", position = BOTH, seeds = "1..5",
      curve = "accuracy" },
  },
  columns = { "loss", "test_floor", "solved", "solved_greedy", "steps_to_90", "at_1", "at_2",
    "at_4", "beyond_2", "beyond_4", "curve" },
  families = {
    { title = "RoPER − RoPE", correction = "holm", tests = {
      test("Index: steps to 90 %", "index_long", "steps_to_90", 1),
      test("Index: correct of 128 after 650 steps", "index", "solved", 1),
      test("Index: correct of 128 after 1,300 steps", "index_long", "solved", 1),
      test("Prefix: loss after 2,000 steps", "prefix", "loss", 4),
      test("Addition: correct of 128 after 2,000 steps", "addition", "solved", 1),
    } },
  },
}
