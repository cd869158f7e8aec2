-- Copy: `kqhzz>kqhzz#`, a string of any length, repeated after a separator.
--
-- From Kazemnejad et al. 2023: the task, with strings of up to 20 in training and longer ones
-- afterwards. Chosen here: letters as words, rows packed with problems, and the sizes.
return {
  summary = "repeat a string of any length",
  task = "copy",
  presets = {
    paper = { d_model = 512, layers = 6, heads = 8, norm = "pre", length = 161, batch = 64,
      steps = 10000, rate = 2.5e-4, evaluate_every = 500 },
    mini = { d_model = 64, layers = 2, heads = 4, norm = "pre", length = 65, batch = 16,
      steps = 1000, rate = 3e-3, evaluate_every = 50, letters = 10, warmup = 50 },
    comparison = { d_model = 64, layers = 2, heads = 4, norm = "pre", batch = 16, steps = 600,
      rate = 3e-3, warmup = 50, evaluate_every = 50, problems = 64, test_sequences = 256,
      letters = 10, length = 65 },
    smoke = { d_model = 32, layers = 1, heads = 2, norm = "pre", length = 33, batch = 4, steps = 20,
      rate = 1e-3, evaluate_every = 10, checkpoint_every = 10, problems = 4,
      test_sequences = 16, letters = 5 },
  },
  -- Length generalization: longer strings than in training, in proportionally longer rows.
  longer = { "letters", "length" },
}
