-- Substring by Prefix: `...>[substring][random string]>[substring]...`, finding an earlier string.
--
-- From the study: 128 features, 3 layers, 4 heads, pre-norm, sequences of 513, batch 16, 65,000
-- steps, an alphabet of 4, the final loss as the measure.
-- Not stated in the study, and chosen here: random strings of 4 and substrings of 40 characters
-- (the floor is then 0.315 nats per token, just under the study's best loss); Adam at 2.5e-4
-- without warm-up, decay or dropout; ReLU with four times the features; all features are rotated,
-- paired by halves.
return {
  summary = "complete a substring that came before",
  task = "substring_prefix",
  presets = {
    paper = { d_model = 128, layers = 3, heads = 4, norm = "pre", length = 513, batch = 16,
      steps = 65000, rate = 2.5e-4, evaluate_every = 1000, checkpoint_every = 1000 },
    mini = { d_model = 128, layers = 2, heads = 4, norm = "pre", length = 257, batch = 16,
      steps = 2000, rate = 1e-3, evaluate_every = 100, substring_length = 20 },
    comparison = { d_model = 64, layers = 2, heads = 4, norm = "pre", batch = 16, steps = 800,
      rate = 3e-3, warmup = 50, evaluate_every = 50, problems = 64, test_sequences = 256,
      substring_length = 12, length = 97 },
    smoke = { d_model = 32, layers = 1, heads = 2, norm = "pre", length = 81, batch = 4, steps = 20,
      rate = 1e-3, evaluate_every = 10, checkpoint_every = 10, problems = 4,
      test_sequences = 16,
      substring_length = 10 },
  },
  -- The study's measure is the loss: no model can complete every substring, because several can
  -- have the same beginning.
  measure = "loss",
  study = {
    first_seed = 11, seeds = 6, fields = { preset = "comparison", steps = 600 },
    note = "Fixed before the first run with seeds 11 to 16: RoPE and RoPER, six seeds, the loss on "
      .. "the test sequences after 600 steps, a two-sided sign-flip test at 0.05. Chosen after "
      .. "runs with seeds 1 to 5: the task, its sizes, rate and steps. RoPE is still improving at "
      .. "step 600: this compares how soon they learn, not their final loss.",
  },
  -- Length generalization: longer sequences than in training.
  longer = { "length" },
}
