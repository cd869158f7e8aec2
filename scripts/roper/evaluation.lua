--- How good a model is at a task: problems solved by sampling, and accuracy on answers.
local core = require "roper.core"
local options_of = require "roper.options"

local M = {}

--- The same task with other draws.
---
---     > roper.evaluate.fresh(roper.tasks.addition{seed = 1}, 2)
---     addition{length = 641, max_digits = 8, seed = 2}
---@param task task
---@param seed integer
---@return task fresh
function M.fresh(task, seed)
  local options = task:options()
  options.seed = seed
  return core.tasks[task:name()](options)
end

---@class SolveOptions
---@field problems? integer = 128
---@field temperature? number = 1; 0 takes the likeliest
---@field seed? integer = 1; of the problems and the draws

---@class Sample
---@field question string
---@field answer string a right one
---@field text string what the model said
---@field solved boolean

--- Ask fresh problems and grade what the model samples: the measure of the RoPER study.
---
--- Errors: other options; a model for another vocabulary.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 40, seed = 1}
---     > words = task:vocabulary()
---     > model = roper.nn.Transformer{vocabulary = words, d_model = 16, heads = 2}
---     > (roper.evaluate.solve(model, task, {problems = 4}))
---     0
---@param model Transformer
---@param task task its own stream of problems is left alone
---@param options? SolveOptions
---@return integer solved how many
---@return Sample[] samples
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

---@class AnswersOptions
---@field sequences? integer = 64
---@field seed? integer = 1; of the sequences
---@field batch? integer = 32; sequences at a time

---@class Answers
---@field accuracy number from 0 to 1
---@field loss number nats per token

--- How many of the tokens that belong to answers the model predicts, given those before, and its
--- loss over all tokens, on fresh sequences.
---
--- Errors: other options; sequences too short for an answer.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 40, seed = 1}
---     > words = task:vocabulary()
---     > model = roper.nn.Transformer{vocabulary = words, d_model = 16, heads = 2}
---     > roper.evaluate.answers(model, task, {sequences = 4}).accuracy < 0.5
---     true
---@param model Transformer
---@param task task its own stream of problems is left alone
---@param options? AnswersOptions
---@return Answers found
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
