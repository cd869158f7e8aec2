--- Training steps of a model on random tokens.
local core = require "roper.core"

local M = {}

local Training = {}
Training.__index = Training

--- Random tokens; each row has one more than the length, for the targets.
---@param shape table
---@return tensor int32 [batch, length + 1]
function M.tokens(shape)
  local draws = core.rand({ shape.batch, shape.length + 1 }, "float64")
  return (draws * shape.vocabulary):to "int32"
end

--- A model of a shape.
---@param shape table
---@param vocabulary integer|string[]
---@param position string
---@return Transformer
function M.model(shape, vocabulary, position)
  return require("roper.model").Transformer { vocabulary = vocabulary, d_model = shape.d_model,
    layers = shape.layers, heads = shape.heads, d_ff = shape.d_ff, norm = shape.norm,
    position = position }
end

--- A model of a shape with its optimizer, and one batch.
---@param shape table
---@param position string
---@return Training with model, optimizer, parameters, tokens
function M.new(shape, position)
  core.seed(1)
  local model = M.model(shape, shape.vocabulary, position)
  return setmetatable({ model = model, parameters = model:parameters(),
    optimizer = require("roper.training.optim").Adam { rate = 2.5e-4 }, tokens = M.tokens(shape) },
    Training)
end

--- Forward and backward pass: computes the gradients of all parameters.
function Training:differentiate()
  self.model:zero_gradients()
  require("roper.training").loss(self.model, self.tokens):backward()
end

--- One step: forward, backward, Adam.
function Training:step()
  self:differentiate()
  self.optimizer:step(self.parameters)
end

return M
