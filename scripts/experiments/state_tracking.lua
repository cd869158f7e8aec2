-- State tracking: the state of an automaton after every token, at every position.
--
-- From Liu et al. 2023 and Merrill et al. 2024: automata and groups, tokens drawn independently,
-- products of permutations (word problems). From Grazzi et al. 2024: training on short sequences,
-- tests on longer ones. Flip-flop keeps the state with probability 0.8, as in Liu et al.
-- Chosen here: all elements of a group as tokens, the sizes, and 2, 4 and 8 times the length.
-- Training at one length includes all shorter sequences, since the target at each position depends
-- only on the tokens up to it.
return {
  summary = "the state of an automaton after every token",
  task = "state_tracking",
  measure = "accuracy",
  presets = {
    paper = { d_model = 512, layers = 6, heads = 8, norm = "pre", length = 101, batch = 64,
      steps = 60000, rate = 1e-4, evaluate_every = 1000, kind = "s5" },
    mini = { d_model = 64, layers = 2, heads = 4, norm = "pre", length = 33, batch = 32,
      steps = 1500, rate = 1e-3, evaluate_every = 50, warmup = 50 },
    comparison = { d_model = 64, layers = 2, heads = 4, norm = "pre", length = 33, batch = 32,
      steps = 1500, rate = 1e-3, warmup = 50, evaluate_every = 50, problems = 64,
      test_sequences = 256 },
    smoke = { d_model = 32, layers = 1, heads = 2, norm = "pre", length = 17, batch = 4, steps = 20,
      rate = 1e-3, evaluate_every = 10, checkpoint_every = 10, problems = 4,
      test_sequences = 16 },
  },
  -- Length generalization: sequences with more tokens that are read than in training.
  longer = function(config, times)
    return { length = math.floor((config.length - 1) * times) + 1 }
  end,
  times = { 2, 4, 8 },
}
