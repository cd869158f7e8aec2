-- Needle: `qkhK7zzab?K7`, one fact in filler and a question for its value.
--
-- A needle in a haystack (Kamradt 2023) of single characters; all sizes are chosen here. The
-- distance from the answer back to the fact is uniform in training. A problem that is asked alone
-- (`solved`) has one fact in its context. In rows, on which `accuracy` is measured, earlier
-- problems have facts, too, and the key of the question says which one is meant.
return {
  summary = "recall one fact from filler",
  task = "needle",
  presets = {
    paper = { d_model = 128, layers = 2, heads = 4, norm = "pre", length = 267, batch = 64,
      steps = 20000, rate = 1e-3, evaluate_every = 500, spread = 128 },
    mini = { d_model = 64, layers = 2, heads = 4, norm = "pre", length = 85, batch = 16,
      steps = 2000, rate = 3e-3, evaluate_every = 50, warmup = 50, spread = 16 },
    comparison = { d_model = 64, layers = 2, heads = 4, norm = "pre", batch = 16, steps = 2000,
      rate = 3e-3, warmup = 50, evaluate_every = 50, problems = 64, test_sequences = 256,
      spread = 16, length = 85 },
    smoke = { d_model = 32, layers = 1, heads = 2, norm = "pre", length = 33, batch = 4, steps = 20,
      rate = 1e-3, evaluate_every = 10, checkpoint_every = 10, problems = 4,
      test_sequences = 16, spread = 8 },
  },
  -- Length generalization: the largest distance is `times` the largest in training. Distances vary
  -- by as much as in training; from 2 times on, none of them occurs there.
  longer = function(config, times)
    local farthest = config.distance + config.spread
    return { distance = math.floor(farthest * times) - config.spread,
      length = math.floor(config.length * times) }
  end,
  times = { 2, 4, 8 },
}
