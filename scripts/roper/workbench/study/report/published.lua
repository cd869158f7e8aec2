--- What the RoPER study published, by experiment: Georges Harik and Varuna Jayasiri, "Rotary
--- Positional Embeddings with Relative distances (RoPER)", 2022, table of the section "Analysis".
--- Each figure is the mean of 9 of 10 training sessions, the worst removed. Standard errors were
--- not published.
return {
  source = "Harik and Jayasiri 2022, mean of 9 of 10 sessions, the worst removed",
  experiments = {
    addition = { metric = "solved", rope = 124.33, roper = 126.33,
      setting = "20 M parameters, 5,000 steps" },
    substring_index = { metric = "solved", rope = 62.00, roper = 96.11,
      setting = "20 M parameters, 5,000 steps" },
    substring_prefix = { metric = "loss", rope = 0.3329, roper = 0.3205,
      setting = "0.6 M parameters, 65,000 steps" },
  },
}
