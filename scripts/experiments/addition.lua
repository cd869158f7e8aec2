-- Arithmetic Addition: `?d=77+38446365; 7e0+5e0+0e0==12e0 and ... d==38446442#`, step by step.
--
-- From the study: 512 features, 6 layers, 8 heads, post-norm, sequences of 641, batch 32, 5,000
-- steps, operands of up to 8 digits, 128 problems by random sampling.
-- Not stated in the study, and chosen here: the number of digits is uniform from 1 to 8; Adam at
-- 2.5e-4 without warm-up, decay or dropout; ReLU with four times the features; all features are
-- rotated, paired by halves; uniform weights within 1/sqrt(inputs).
--
-- Not in the study: with `coupled=true`, digits of the same significance share a position.
return {
  summary = "add two numbers step by step",
  task = "addition",
  presets = {
    paper = { d_model = 512, layers = 6, heads = 8, norm = "post", length = 641, batch = 32,
      steps = 5000, rate = 2.5e-4, evaluate_every = 250 },
    mini = { d_model = 128, layers = 3, heads = 4, norm = "pre", length = 161, batch = 32,
      steps = 2000, rate = 1e-3, evaluate_every = 100, max_digits = 4 },
    smoke = { d_model = 32, layers = 1, heads = 2, norm = "pre", length = 81, batch = 4, steps = 20,
      rate = 1e-3, evaluate_every = 10, checkpoint_every = 10, problems = 4,
      test_sequences = 16, max_digits = 2 },
  },
  -- Length generalization: operands with more digits than in training.
  longer = function(config, times)
    return { max_digits = config.max_digits + math.floor(times) }
  end,
}
