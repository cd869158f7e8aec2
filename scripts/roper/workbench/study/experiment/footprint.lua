--- Bytes of tensors that a run takes at its peak, from the shapes: nothing is allocated.
local M = {}

-- The block that the memory pool gives for so many floats: its sizes are eighths of powers of two,
-- in units of 64 bytes, of which the first is the header.
local function block(floats)
  local units = math.ceil(floats / 16) + 1.0
  local step = math.max(1, 2.0 ^ math.floor(math.log(units, 2)) / 8)
  return math.ceil(units / step) * step * 64
end

-- {how many, floats of each}: the parameters of a Transformer.
local function parameters(s)
  local d, f, v, layers = s.d_model, s.d_ff, s.vocabulary, s.layers
  local last = s.norm == "pre" and 1 or 0
  local gated = s.activation == "swiglu" and 1 or 0
  local norms = (s.rms_norm and 1 or 2) * (2 * layers + last)
  local blocks = { { s.tied_embeddings and 1 or 2, v * d }, { 1, v }, { 4 * layers, d * d },
    { 5 * layers + norms, d }, { (2 + gated) * layers, d * f }, { (1 + gated) * layers, f } }
  return table.move(s.schemes, 1, #s.schemes, #blocks + 1, blocks)
end

local function bytes_of(blocks)
  local bytes = 0
  for _, kind in ipairs(blocks) do
    bytes = bytes + kind[1] * block(kind[2])
  end
  return bytes
end

-- Features inside the feed-forward that are kept besides its last: what the activation is made of.
local INNER <const> = { relu = 0, gelu = 1, swiglu = 3 }

-- Floats of the logits of so many tokens that are there at once where the loss is fused with them.
local function slice(s, n)
  return math.min(n, math.max(2.0 ^ 23 // s.vocabulary, 64)) * s.vocabulary
end

-- Blocks that live at the start of the backward pass, when every activation is there: the stream
-- between layers, what the norms, projections and attention keep, the features inside the
-- feed-forward (before ReLU they are not kept), the logits of a slice, and the first gradients.
-- Where activations are computed again, one layer has them, and the others their input.
local function activations(s)
  local n, layers = s.batch // (s.accumulate or 1) * s.time, s.recompute and 1 or s.layers
  local inner = layers * (1 + INNER[s.activation] + (s.dropout > 0 and 1 or 0))
  local last = s.norm == "pre" and 1 or 0
  return { { 8 * layers + s.layers - layers + last + 2, n * s.d_model }, { inner + 1, n * s.d_ff },
    { layers, n * s.heads }, { 4 * layers + 2 * last, n }, { 1, slice(s, n) } }
end

-- Blocks that live at once where a model is measured: the widest place of the forward pass.
local function forward(s, sequences, time)
  local n = sequences * time
  return { { 3, n * s.d_model }, { 1 + math.min(INNER[s.activation], 2), n * s.d_ff },
    { 1, s.problems > 0 and n * s.vocabulary or slice(s, n) } }
end

---@class Footprint
---@field parameters number
---@field bytes number of tensors that are needed at once
---@field most number the same with what waits for the Lua collector

--- What training a Transformer takes: parameters with their gradients and the two moments of Adam,
--- and the activations of a batch, of a measure or of the problems that are asked at the end.
---@param shapes table vocabulary, d_model, d_ff, layers, heads, norm, activation, dropout; batch
---   and time of a step; problems at the end, 0 where there are none, and tokens of the longest
---   question and answer; reach, the most tokens of a sequence in the end; schemes: {how many,
---   numbers of each} of the tensors that position schemes train; kept_by_schemes, bytes that they
---   keep for the backward pass; taken_by_schemes, by a forward pass over a batch of such sequences
---@return Footprint
function M.of(shapes)
  local s = {} -- in floats, which do not wrap
  for name, value in pairs(shapes) do
    s[name] = type(value) == "number" and value + 0.0 or value
  end
  local weights, count = parameters(s), 0
  for _, kind in ipairs(weights) do
    count = count + kind[1] * kind[2]
  end
  local cache = bytes_of { { 2 * s.layers,
    s.problems * (s.question + s.answer) * s.d_model } }
  local bytes = 4 * bytes_of(weights) + math.max(bytes_of(activations(s)) + s.kept_by_schemes,
    cache + bytes_of(forward(s, s.problems, s.question)),
    bytes_of(forward(s, s.batch, s.reach)) + s.taken_by_schemes)
  -- bindings/tensor.c collects when what lives has grown by half, and by 64 MiB at least.
  return { parameters = count, bytes = bytes, most = bytes + math.max(bytes / 2, 64 << 20) }
end

return M
