-- Design of the comparison "Turns along the way", as data: what README.md in this folder specifies.
--
-- Fields are those of experiments, and methods are values of the field `position`. Names of schemes
-- and of options of tasks are in this file only.

-- Pairs with the same turns of queries and keys; the second method also turns values and output.
local TURNS <const> = {
  { "rope", "roper" },
  { "selective", "selective{rotate=qkvo}" },
  { "accumulated", "accumulated{rotate=qkvo}" },
  { "grape_m", "grape_m{rotate=qkvo}" },
  { "path", "path{rotate=qkvo}" },
}

-- Pairs of methods with the same group; the transformations of the second depend on the content.
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

local design = {
  -- Fields of every run; those of a task replace them.
  fields = { d_model = 64, layers = 2, heads = 4, norm = "pre", batch = 16, warmup = 50, clip = 1,
    evaluate_every = 100, test_sequences = 256, times = "2,4,8" },
  -- Fields of runs on problems.
  problems = { problems = 8 },
  rates = { 1e-3, 3e-3, 1e-2 },
  times = { 2, 4, 8 },
  baseline = "rope",
  tasks = {
    parity = { experiment = "state_tracking", fields = { kind = "parity", length = 33,
      steps = 3000 } },
    s3 = { experiment = "state_tracking", fields = { kind = "s3", length = 17, batch = 32,
      steps = 3000 } },
    copy = { experiment = "copy", fields = { letters = 10, length = 65, steps = 600 } },
    recall = { experiment = "recall", fields = { pairs = 6, length = 65, steps = 800 } },
    selective_copy = { experiment = "selective_copy", fields = { letters = 6, filler = 18,
      length = 65, steps = 800 } },
    prefix = { experiment = "substring_prefix", fields = { substring_length = 12, length = 97,
      steps = 800 } },
    language = { experiment = "language_model", is_text = true, fields = { vocabulary = 1000,
      activation = "gelu", tied_embeddings = true, length = 129, steps = 800,
      test_sequences = 128 } },
  },
  -- In the order in which they run: tasks, methods, seeds that choose the rate, and seeds of the
  -- comparison at the chosen rates.
  stages = {
    { tasks = PROBLEMS, methods = PRIMARY, choosing = { 1, 2 },
      comparing = { 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } },
    { tasks = { "language" }, methods = PRIMARY, choosing = { 1 }, comparing = { 3, 4, 5 } },
    { tasks = PROBLEMS, methods = OTHERS, choosing = { 1 }, comparing = { 3, 4, 5 } },
  },
  -- The families of tests: pairs of methods, and the lengths over which the accuracy is averaged.
  -- With `by_task`, there is a test for each task, too.
  questions = {
    { title = "Do turned values and output help, given the same turns?", pairs = TURNS,
      times = { 1, 2, 4, 8 }, tasks = PROBLEMS, by_task = true },
    { title = "Does content help, given the same group?", pairs = CONTENT,
      times = { 1, 2, 4, 8 }, tasks = PROBLEMS, by_task = true },
    { title = "Which methods go further beyond the trained length than RoPE?", pairs = {},
      times = { 2, 4, 8 }, tasks = PROBLEMS },
  },
}

for _, method in ipairs(PRIMARY) do
  if method ~= design.baseline then
    table.insert(design.questions[3].pairs, { design.baseline, method })
  end
end

return design
