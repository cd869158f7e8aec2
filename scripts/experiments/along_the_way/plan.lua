-- Plan of the study "Turns along the way": what design.md specifies, as data. Names of schemes and
-- of options of tasks are in this file only.
local TIMES <const> = { "at_1", "at_2", "at_4", "at_8" }
local BEYOND <const> = { "at_2", "at_4", "at_8" }

-- Pairs with the same turns of queries and keys; the second method also turns values and output.
local TURNS <const> = {
  { "rope", "roper" },
  { "selective", "selective{rotate=qkvo}" },
  { "accumulated", "accumulated{rotate=qkvo}" },
  { "grape_m", "grape_m{rotate=qkvo}" },
  { "path", "path{rotate=qkvo}" },
}

-- Pairs of fixed transformations and of those that depend on the content.
local CONTENT <const> = {
  { "rope", "selective" },
  { "rope", "accumulated" },
  { "grape_m{context=false}", "grape_m" },
  { "alibi", "fox" },
}

local PRIMARY <const> = { "rope", "roper", "selective", "selective{rotate=qkvo}", "accumulated",
  "accumulated{rotate=qkvo}", "grape_m", "grape_m{rotate=qkvo}", "path", "path{rotate=qkvo}",
  "grape_m{context=false}", "alibi", "fox" }

local OTHERS <const> = { "none", "fire", "pope", "accumulated{angles=random}",
  "accumulated{angles=random,rotate=qkvo}", "grape_m{context=false,rotate=qkvo}", "grape_a",
  "grape_ap", "path{gate=true}", "ssmax+rope", "ssmax+roper",
  "hope{trained_length=64}", "hope{trained_length=64,rotate=qkvo}" }

local PROBLEMS <const> = { "parity", "s3", "copy", "recall", "selective_copy", "prefix" }

local TASKS <const> = {
  parity = { "state_tracking", { kind = "parity", length = 33, steps = 3000 } },
  s3 = { "state_tracking", { kind = "s3", length = 17, batch = 32, steps = 3000 } },
  copy = { "copy", { letters = 10, length = 65, steps = 600 } },
  recall = { "recall", { pairs = 6, length = 65, steps = 800 } },
  selective_copy = { "selective_copy", { letters = 6, filler = 18, length = 65, steps = 800 } },
  prefix = { "substring_prefix", { substring_length = 12, length = 97, steps = 800 } },
  language = { "language_model", { vocabulary = 1000, activation = "gelu", tied_embeddings = true,
    length = 129, steps = 800, test_sequences = 128 } },
}

local sweeps = {}
local function add(tasks, methods, choosing, comparing)
  for _, name in ipairs(tasks) do
    local is_text = name == "language" or nil
    TASKS[name][2].problems = not is_text and 8 or nil
    sweeps[#sweeps + 1] = { name = name, experiment = TASKS[name][1], fields = TASKS[name][2],
      position = methods, seeds = comparing, measure = is_text and "loss",
      needs = is_text and "files",
      choose = { field = "rate", values = { 1e-3, 3e-3, 1e-2 }, seeds = choosing } }
  end
end
add(PROBLEMS, PRIMARY, "1..2", "3..12")
add({ "language" }, PRIMARY, "1", "3..5")
add(PROBLEMS, OTHERS, "1", "3..5")

-- A test over all pairs and tasks, one for each pair over the tasks and, with `by_task`, one for
-- each task over the pairs.
local function tests(pairs_of, by_task)
  local list = { by_task and { name = "all", sweeps = PROBLEMS, pairs = pairs_of } or nil }
  for _, pair in ipairs(pairs_of) do
    list[#list + 1] = { name = ("`%s` − `%s`"):format(pair[2], pair[1]), sweeps = PROBLEMS,
      pairs = { pair } }
  end
  for _, task in ipairs(by_task and PROBLEMS or {}) do
    list[#list + 1] = { name = task, sweeps = { task }, pairs = pairs_of }
  end
  return list
end

local from_rope = {}
for i = 2, #PRIMARY do
  from_rope[i - 1] = { "rope", PRIMARY[i] }
end

return {
  title = "Turns along the way",
  fields = { d_model = 64, layers = 2, heads = 4, norm = "pre", batch = 16, warmup = 50, clip = 1,
    evaluate_every = 100, test_sequences = 256, times = "2,4,8" },
  sweeps = sweeps,
  columns = { "loss", "at_1", "at_2", "at_4", "at_8" },
  families = {
    { title = "1. Do turned values and output help, given the same turns?", measures = TIMES,
      correction = "bonferroni", tests = tests(TURNS, true) },
    { title = "2. Does content help?", measures = TIMES, correction = "bonferroni",
      tests = tests(CONTENT, true) },
    { title = "3. Which methods go further beyond the trained length than RoPE?", measures = BEYOND,
      correction = "bonferroni", tests = tests(from_rope, false) },
  },
  primary = PRIMARY, described = OTHERS, turns = TURNS, problems = PROBLEMS,
}
