-- Substring by Index: `?s='dyjeofuxvejmg'; s[8:]=='vejmg'#`, the suffix of a string from an index.
--
-- From the study: 512 features, 6 layers, 8 heads, post-norm, sequences of 641, batch 32, 5,000
-- steps, 13 letters with an index from 0 to 12, 128 problems by random sampling.
-- Not stated in the study, and chosen here: Adam at 2.5e-4 without warm-up, decay or dropout; ReLU
-- with four times the features; all features are rotated, paired by halves; uniform weights within
-- 1/sqrt(inputs).
return {
  summary = "retrieve the suffix of a string by its index",
  task = "substring_index",
  presets = {
    paper = { d_model = 512, layers = 6, heads = 8, norm = "post", length = 641, batch = 32,
      steps = 5000, rate = 2.5e-4, evaluate_every = 250 },
    mini = { d_model = 128, layers = 3, heads = 4, d_ff = 256, norm = "pre", length = 161,
      batch = 16, steps = 650, rate = 1e-3, evaluate_every = 25 },
    comparison = { d_model = 64, layers = 2, heads = 4, norm = "pre", batch = 16, steps = 800,
      rate = 3e-3, warmup = 50, evaluate_every = 50, problems = 64, test_sequences = 256,
      letters = 6, length = 81 },
    smoke = { d_model = 32, layers = 1, heads = 2, norm = "pre", length = 81, batch = 4, steps = 20,
      rate = 1e-3, evaluate_every = 10, checkpoint_every = 10, problems = 4,
      test_sequences = 16 },
  },
  -- Length generalization: longer strings than in training, with larger indices, in proportionally
  -- longer rows.
  longer = { "letters", "length" },
}
