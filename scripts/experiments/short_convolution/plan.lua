-- Plan of the study "Turned values and a short convolution"; design.md describes it.
local SCHEMES <const> = { { "rope", "roper" }, { "accumulated", "accumulated{rotate=qkvo}" },
  { "path{width=1}", "path{rotate=qkvo,width=1}" } }

local TASKS <const> = {
  { "recall", "recall", { pairs = 6, length = 65, steps = 1200 } },
  { "copy", "copy", { letters = 10, length = 65, steps = 900 } },
  { "prefix", "substring_prefix", { substring_length = 12, length = 97, steps = 1200 } },
  { "selective_copy", "selective_copy", { letters = 6, filler = 18, length = 65, steps = 1200 } },
  { "s3", "state_tracking", { kind = "s3", length = 17, batch = 32, steps = 4500 } },
  { "a5", "state_tracking", { kind = "a5", length = 17, batch = 32, steps = 4500 } },
}

local methods, names, sweeps = {}, {}, {}
for _, pair in ipairs(SCHEMES) do
  table.move(pair, 1, 2, #methods + 1, methods)
end
for i, task in ipairs(TASKS) do
  names[i] = task[1]
  sweeps[i] = { name = task[1], experiment = task[2], fields = task[3], position = methods,
    seeds = "204..215", vary = { short_convolution = { 0, 4 } },
    choose = { field = "rate", values = { 3e-4, 1e-3, 3e-3, 1e-2 }, seeds = "201..203",
      ties = "smaller" } }
end

-- The pairs of both ways of rotation with a width of the convolution, or without one.
local function turned(width)
  local list = {}
  for i, pair in ipairs(SCHEMES) do
    list[i] = { { position = pair[1], short_convolution = width },
      { position = pair[2], short_convolution = width } }
  end
  return list
end

-- The pairs of queries and keys alone, without and with the convolution.
local convolved = {}
for i, pair in ipairs(SCHEMES) do
  convolved[i] = { { position = pair[1], short_convolution = "0" },
    { position = pair[1], short_convolution = "4" } }
end

local TESTS <const> = {
  { name = "turned values, without the convolution", sweeps = names, pairs = turned "0" },
  { name = "turned values, with it", sweeps = names, pairs = turned "4" },
  { name = "with it − without it", sweeps = names, pairs = turned "4", minus = turned "0" },
  { name = "the convolution, queries and keys turned", sweeps = names, pairs = convolved },
}

return {
  title = "Turned values and a short convolution",
  turned = turned,
  fields = { d_model = 64, layers = 2, heads = 4, norm = "pre", batch = 16, warmup = 50, clip = 1,
    cosine = 0.05, evaluate_every = 100, test_sequences = 256, times = "2,4", problems = 8 },
  sweeps = sweeps,
  columns = { "loss", "at_1", "at_2", "at_4", "beyond_2", "beyond_4" },
  families = {
    { title = "Accuracy at the trained length", measures = { "at_1" }, correction = "holm",
      tests = TESTS },
    { title = "Beyond the trained size, not tested", measures = { "beyond_2", "beyond_4" },
      correction = "none", tests = TESTS },
  },
}
