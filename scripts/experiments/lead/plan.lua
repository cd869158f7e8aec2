-- Plan of the study "How long does the lead last?"; design.md describes it.
local BOTH <const> = { "rope", "roper" }
local PAIR <const> = { { "rope", "roper" } }

return {
  title = "How long does the lead last?",
  fields = { preset = "paper" },
  sweeps = {
    { name = "to_6000", experiment = "substring_prefix", position = BOTH, seeds = "1..6",
      fields = { steps = 6000, rate = 1e-3, warmup = 200, cosine = 0.05, clip = 1,
        matmul_precision = "bfloat16", evaluate_every = 100, checkpoint_every = 500 } },
    { name = "to_24000", experiment = "substring_prefix", position = BOTH, seeds = "1..2",
      fields = { steps = 24000, rate = 1e-3, warmup = 200, cosine = 0.05, clip = 1,
        matmul_precision = "bfloat16", evaluate_every = 400, checkpoint_every = 800 } },
    -- Stopped after 21,400 of 65,000 steps; its curve is that of the training loss.
    { name = "stopped", experiment = "substring_prefix", position = BOTH, seeds = "1" },
  },
  columns = { "loss", "test_floor", "curve" },
  curve = "test_loss",
  families = {
    { title = "RoPER − RoPE, loss after 6,000 steps − after 600", correction = "holm", tests = {
      { name = "change of the difference", sweeps = { "to_6000" }, pairs = PAIR, digits = 4,
        measures = { "step_6000" }, minus_measures = { "step_600" } } } },
    { title = "RoPER − RoPE, not tested", correction = "none", tests = {
      { name = "loss after 600 steps", sweeps = { "to_6000" }, pairs = PAIR, digits = 4,
        measures = { "step_600" } },
      { name = "loss after 6,000 steps", sweeps = { "to_6000" }, pairs = PAIR, digits = 4,
        measures = { "step_6000" } },
      { name = "loss after 2,400 of 24,000 steps", sweeps = { "to_24000" }, pairs = PAIR,
        digits = 4, measures = { "step_2400" } },
      { name = "loss after 24,000 steps", sweeps = { "to_24000" }, pairs = PAIR, digits = 4,
        measures = { "step_24000" } } } },
  },
}
