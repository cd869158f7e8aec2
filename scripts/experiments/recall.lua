-- Recall: `?k3Q8b1>b1k3Q8`, multi-query associative recall.
--
-- From Zoology (Arora et al. 2023): pairs of keys and values, then every key again; two layers, 64
-- or more features. Chosen here: letters and digits, a varying number of pairs, and the sizes.
return {
  summary = "recall the value that came with each key",
  task = "recall",
  presets = {
    paper = { d_model = 128, layers = 2, heads = 4, norm = "pre", length = 257, batch = 64,
      steps = 20000, rate = 1e-3, evaluate_every = 500 },
    mini = { d_model = 64, layers = 2, heads = 4, norm = "pre", length = 65, batch = 16,
      steps = 1500, rate = 3e-3, evaluate_every = 50, pairs = 6, warmup = 50 },
    comparison = { d_model = 64, layers = 2, heads = 4, norm = "pre", batch = 16, steps = 800,
      rate = 3e-3, warmup = 50, evaluate_every = 50, problems = 64, test_sequences = 256,
      pairs = 6, length = 65 },
    smoke = { d_model = 32, layers = 1, heads = 2, norm = "pre", length = 33, batch = 4, steps = 20,
      rate = 1e-3, evaluate_every = 10, checkpoint_every = 10, problems = 4,
      test_sequences = 16, pairs = 3 },
  },
  -- Length generalization: more pairs than in training, in proportionally longer rows.
  longer = { "pairs", "length" },
}
