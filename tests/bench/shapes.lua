--- The shapes that are measured, and the operations of a training step.
local M = {}

-- The model of preset `comparison` on strings to copy; the study's two models on its sequences,
-- with the tokens of Substring by Index; and a model of 151 M parameters for generation. `steps`:
-- how many are timed together, 1 by default.
local SHAPES <const> = {
  comparison = { d_model = 64, layers = 2, heads = 4, norm = "pre", d_ff = 256, length = 65,
    batch = 16, vocabulary = 13, steps = 20 },
  small = { d_model = 128, layers = 3, heads = 4, norm = "pre", d_ff = 512, length = 512,
    batch = 16, vocabulary = 45 },
  big = { d_model = 512, layers = 6, heads = 8, norm = "post", d_ff = 2048, length = 640,
    batch = 32, vocabulary = 45 },
  large = { d_model = 1024, layers = 12, heads = 16, norm = "pre", d_ff = 4096, length = 64,
    batch = 1, vocabulary = 45 },
}

-- Replaces every shape if --tiny is set.
local TINY <const> = { d_model = 16, layers = 2, heads = 2, d_ff = 32, length = 24, batch = 2,
  vocabulary = 5, steps = 2 }

--- A shape with some fields changed.
---@param shape table
---@param changes table?
---@return table
function M.with(shape, changes)
  local result = {}
  for _, fields in ipairs { shape, changes or {} } do
    for name, value in pairs(fields) do
      result[name] = value
    end
  end
  return result
end

--- A shape: d_model, layers, heads, norm, d_ff, length, batch, vocabulary, steps.
---@param name string "comparison", "small", "big" or "large"
---@param is_tiny boolean? a tiny model and batch instead, with the norm where this shape has it
---@return table
function M.get(name, is_tiny)
  local shape = SHAPES[name]
  return is_tiny and M.with(TINY, { norm = shape.norm }) or M.with(shape)
end

--- Floating-point operations of the matrix products in a forward pass. The backward pass takes
--- twice as many: two products for each. A causal query sees half the keys on average; what
--- attention computes again in its backward pass does not count.
---@param shape table
---@return table linear (of all layers), attention, logits
function M.forward_flops(shape)
  local d, tokens = shape.d_model, shape.batch * shape.length
  return {
    linear = 2 * tokens * shape.layers * (4 * d * d + 2 * d * shape.d_ff),
    attention = 2 * (2 * tokens * shape.length * d) // 2 * shape.layers,
    logits = 2 * tokens * d * shape.vocabulary,
  }
end

--- Floating-point operations of a training step.
---@param shape table
---@return integer
function M.step_flops(shape)
  local forward = M.forward_flops(shape)
  return 3 * (forward.linear + forward.attention + forward.logits)
end

--- The same with the scores that the backward pass of attention computes again: seven products of
--- attention instead of six.
---@param shape table
---@return number
function M.computed_flops(shape)
  return M.step_flops(shape) + M.forward_flops(shape).attention / 2
end

--- A shape as text.
---@param shape table
---@return string
function M.describe(shape)
  return ("%d features, %d layers, %d heads, %s-norm, ReLU %d, %d tokens, batch %d"):format(
    shape.d_model, shape.layers, shape.heads, shape.norm, shape.d_ff, shape.length, shape.batch)
end

return M
