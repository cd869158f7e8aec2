--- The logit lens: what each layer of a transformer would predict.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local modules = require "roper.model.module"
local options_of = require "roper.options.rows"
local record = require "roper.interpret.record"
local scoped = require "roper.base.scoped"

local M = {}

--- Returns the logits that follow from each layer: the last norm and the map to logits, applied to
--- the input of the first layer and to the output of each layer (the logit lens, nostalgebraist
--- 2020). The last are the logits of the model.
---
---     lens_n = logits(norm(x_n)),   x_0 the input of layer 1, x_n the output of layer n
---
--- Errors: a model without the fields of a Transformer: layers, logits.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > tokens = roper.tensor({{0, 3, 1}}, "int32")
---     > lens = roper.interpret.logit_lens(model, tokens)
---     > lens:shape(), (lens[4] - model(tokens)):abs():max():item()
---     {4, 1, 3, 4}	0.0
---     > likely = lens:argmax(4) - 1               -- tokens, [4, 1, 3]
---     > chance = lens:softmax(4)[{{}, 1, {}, 3}]  -- of token 2, [4, 3]
---@param model Transformer
---@param tokens tensor [batch, time], int32
---@param options? InterpretOptions
---@return tensor logits [layers + 1, batch, time, vocabulary]
function M.logit_lens(model, tokens, options)
  arguments.check("logit_lens", "model", "module", model, "tokens", "tensor", tokens)
  local o = options_of.check("logit_lens", options, record.OPTIONS)
  if type(model.layers) ~= "table" or #model.layers == 0 or type(model.logits) ~= "table" then
    error("logit_lens: expected a model with the fields layers and logits, such as a Transformer",
      2)
  end
  local list, hooks = {}, {}
  for i = 1, #model.layers do
    hooks["layers." .. i] = function(output, _, x)
      list[1] = list[1] or x
      list[i + 1] = output
    end
  end
  return scoped.without_training(model, function()
    model:with_hooks(hooks, modules.logits, model, tokens, nil, o.positions)
    for i, x in ipairs(list) do
      list[i] = model.logits(model.norm and model.norm(x) or x):unsqueeze(1)
    end
    return core.cat(list, 1)
  end)
end

return M
