--- Validation loss of a language model on held-out text.
local options_of = require "roper.options.rows"
local scoped = require "roper.base.scoped"
local training = require "roper.training"

local M = {}

-- Returns the mean loss by the number of preceding tokens: 1, 2, 3 to 4, 5 to 8 and so on.
local function by_position(sums, rows)
  local list, first, last = {}, 1, 1
  while first <= #sums do
    local sum, to = 0, math.min(last, #sums)
    for i = first, to do
      sum = sum + sums[i]
    end
    list[#list + 1] = { first = first, last = to, loss = sum / (rows * (to - first + 1)) }
    first, last = last + 1, 2 * last
  end
  return list
end

local OPTIONS <const> = options_of.define("ValidationLossOptions", {
  { "length", "size?", nil, "tokens in a row; by default those of the task" },
  { "sequences", "size?", nil, "maximum number of rows; by default all" },
  { "batch", "size", 32 },
  { "heartbeat", "function?", nil, "called after each batch", type = "fun()" },
})

--- Measures the loss on the validation documents of a task. For a large vocabulary, the logits are
--- never all in memory at once.
---
---     perplexity = e^loss,   bits per byte = loss · tokens / (bytes log 2)
---
--- Errors: an option is unknown; a row is longer than the text for validation.
---@param model Transformer
---@param task task of text
---@param options? ValidationLossOptions
---@return table found loss, in nats per token; perplexity; bits_per_byte, comparable between
---   vocabularies; tokens; by_position: {first, last, loss} by the number of preceding tokens
function M.measure(model, task, options)
  local o = options_of.check("validation", options, OPTIONS)
  o.length = o.length or task:length()
  local nats, bytes, rows, sums = 0, 0, 0, nil
  scoped.without_training(model, function()
    for tokens in task:validation { length = o.length, batch = o.batch, limit = o.sequences } do
      local loss = training.loss(model, tokens, nil, { reduction = "none" }):to "float64":sum(1)
      nats, rows = nats + loss:sum():item(), rows + tokens:size(1)
      sums = sums and sums + loss or loss
      for _, ids in ipairs(tokens:narrow(2, 2, o.length - 1):totable()) do
        local text = task:decode(ids)
        bytes = bytes + #text - select(2, text:gsub("%z", "")) -- without the ends of documents
      end
      if o.heartbeat then
        o.heartbeat()
      end
    end
  end)
  local count = rows * (o.length - 1)
  return { loss = nats / count, perplexity = math.exp(nats / count),
    bits_per_byte = nats / math.log(2) / bytes, tokens = count,
    by_position = by_position(sums:totable(), rows) }
end

return M
