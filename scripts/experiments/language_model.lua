-- Language model: the next token of any text, `files=FILE_OR_FOLDER`.
--
-- From the study: 200 M parameters, English Wikipedia, a SentencePiece vocabulary of 32,000,
-- training and validation loss.
-- Not stated in the study, and chosen here: 12 layers of 1,024 features with 16 heads (217 M
-- parameters, embeddings not tied), rows of 513, batches of 32 rows computed one by one, 100,000
-- steps; AdamW at 3e-4 after a warm-up, decaying along a cosine to a tenth, gradients clipped at 1;
-- GELU with four times the features; all features are rotated, paired by halves.
--
-- `small` (10 M) takes a night on two cores. `mini` (1 M) takes ten minutes on one core and makes
-- four passes over the text that scripts/GUIDE.md describes. Its rate, 4e-3, was better than 2e-3
-- for RoPE after 400 steps, with a seed that is not among those compared.
return {
  summary = "predict the next token of any text",
  task = "text",
  presets = {
    paper = { vocabulary = 32000, d_model = 1024, layers = 12, heads = 16, activation = "gelu",
      length = 513, batch = 32, accumulate = 32, steps = 100000, rate = 3e-4, warmup = 2000,
      cosine = 0.1, decay = 0.1, clip = 1, evaluate_every = 1000, checkpoint_every = 1000,
      validation = 0.005 },
    small = { vocabulary = 8000, d_model = 256, layers = 8, heads = 8, activation = "gelu",
      length = 257, batch = 32, accumulate = 4, steps = 12000, rate = 6e-4, warmup = 500,
      cosine = 0.1, decay = 0.1, clip = 1, evaluate_every = 250, checkpoint_every = 250 },
    mini = { vocabulary = 2000, d_model = 128, layers = 4, heads = 4, activation = "gelu",
      tied_embeddings = true, length = 257, batch = 16, steps = 1500, rate = 4e-3, warmup = 100,
      cosine = 0.1, decay = 0.1, clip = 1, evaluate_every = 100, checkpoint_every = 100,
      test_sequences = 256 },
    smoke = { tokenizer = "bytes", d_model = 32, layers = 1, heads = 2, length = 33, batch = 4,
      steps = 20, rate = 3e-3, evaluate_every = 10, checkpoint_every = 10, test_sequences = 16 },
  },
  times = { 2, 4 },
  -- Longer rows than in training, with `times` as many tokens to predict.
  longer = function(config, times)
    return { length = math.floor((config.length - 1) * times) + 1 }
  end,
}
