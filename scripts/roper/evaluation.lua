--- How good a model is at a task: problems solved by sampling, and accuracy on answers.
local core = require "roper.core"
local options_of = require "roper.options"

local M = {}

--- The same task with other draws.
---@param task task
---@param seed integer
---@return task
function M.fresh(task, seed)
  local options = task:options()
  options.seed = seed
  return core.tasks[task:name()](options)
end

--- Ask fresh problems and grade what the model samples: the study's measure.
---@param model Transformer
---@param task task; its own stream of problems is left alone
---@param options table? problems = 128, temperature = 1 (0 is greedy), seed = 1
---@return integer solved
---@return table[] samples {question, answer, text, solved}
function M.solve(model, task, options)
  local o = options_of.check("solve", options, { problems = { "size", 128 },
    temperature = { "number", 1 }, seed = { "integer", 1 } })
  local asked = M.fresh(task, o.seed)
  local questions, samples, most = {}, {}, 1
  for i = 1, o.problems do
    local question, answer = asked:question()
    questions[i] = question
    samples[i] = { question = question, answer = answer }
    most = math.max(most, #answer)
  end
  local texts = require("roper.generate").generate(model, questions, { task = asked, most = most,
    temperature = o.temperature, seed = o.seed })
  local solved = 0
  for i, sample in ipairs(samples) do
    sample.text = texts[i]
    sample.solved = asked:grade(sample.question, sample.text)
    solved = solved + (sample.solved and 1 or 0)
  end
  return solved, samples
end

--- How many of the tokens that belong to answers the model predicts, given those before, and its
--- loss over all tokens, on fresh sequences.
---@param model Transformer
---@param task task
---@param options table? sequences = 64, seed = 1, batch = 32
---@return table accuracy (0 to 1), loss (nats per token)
function M.answers(model, task, options)
  local o = options_of.check("answers", options, { sequences = { "size", 64 },
    seed = { "integer", 1 }, batch = { "size", 32 } })
  local fresh = M.fresh(task, o.seed)
  local right, answers, loss = 0, 0, 0
  local was_training = model.is_training
  model:training(false)
  local ok, message = pcall(core.no_grad, function()
    for first = 1, o.sequences, o.batch do
      local rows = math.min(o.batch, o.sequences - first + 1)
      local tokens, is_answer = fresh:batch(rows)
      local last = tokens:size(2) - 1
      local targets, counted = tokens:narrow(2, 2, last), is_answer:narrow(2, 2, last)
      local logits = model(tokens:narrow(2, 1, last))
      right = right + ((logits:argmax(3) - 1):eq(targets) * counted):sum():item()
      answers = answers + counted:sum():item()
      loss = loss + core.cross_entropy(logits, targets):item() * rows
    end
  end)
  model:training(was_training)
  if not ok then
    error(message, 0)
  elseif answers == 0 then
    error(("answers: no token of %d sequences of length %d belongs to an answer"):format(
      o.sequences, task:length()), 2)
  end
  return { accuracy = right / answers, loss = loss / o.sequences }
end

return M
