-- Selective copying: `..k.q....h.z.z>kqhzz#`, letters scattered among filler, repeated in order.
--
-- From Mamba (Gu and Dao 2023): the task. From MAD (Poli et al. 2024): the sizes of `paper`, 256
-- tokens with 16 of 14 letters to copy, and two blocks of 128 features with 16 heads. Chosen here:
-- a stop character, rows packed with problems, and the smaller sizes.
return {
  summary = "repeat the letters scattered among filler",
  task = "selective_copy",
  presets = {
    paper = { d_model = 128, layers = 2, heads = 16, norm = "pre", length = 257, batch = 128,
      steps = 20000, rate = 1e-3, evaluate_every = 500, letters = 16, filler = 223 },
    mini = { d_model = 64, layers = 2, heads = 4, norm = "pre", length = 85, batch = 16,
      steps = 1500, rate = 3e-3, evaluate_every = 50, warmup = 50, letters = 6, filler = 28 },
    comparison = { d_model = 64, layers = 2, heads = 4, norm = "pre", batch = 16, steps = 1500,
      rate = 3e-3, warmup = 50, evaluate_every = 50, problems = 64, test_sequences = 256,
      letters = 6, filler = 28, length = 85 },
    smoke = { d_model = 32, layers = 1, heads = 2, norm = "pre", length = 33, batch = 4, steps = 20,
      rate = 1e-3, evaluate_every = 10, checkpoint_every = 10, problems = 4,
      test_sequences = 16, letters = 3, filler = 8 },
  },
  -- Length generalization: as many letters as in training among more filler, in proportionally
  -- longer rows.
  longer = { "filler", "length" },
  times = { 2, 4, 8 },
}
