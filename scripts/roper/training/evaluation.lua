--- Evaluation of a model on a task: problems solved by sampling, accuracy and loss on answers.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local modules = require "roper.model.module"
local scoped = require "roper.base.scoped"
local options_of = require "roper.options.rows"
local tables = require "roper.base.tables"
local tasks = require "roper.tasks"

local M = {}

--- Creates a copy of a task with another seed and, optionally, other options.
---
--- Errors: the task refuses the options.
---
---     > task = roper.tasks.addition{seed = 1}
---     > roper.evaluate.fresh(task, 2, {max_digits = 3})
---     addition{length = 641, max_digits = 3, coupled = false, seed = 2}
---@param task task
---@param seed integer
---@param changes? table option to value
---@return task fresh
function M.fresh(task, seed, changes)
  arguments.check("fresh", "task", "task", task, "seed", "integer", seed,
    "changes", "table?", changes)
  local make = tasks[task:name()]
    or error(("fresh: expected a task of roper.tasks, got %s"):format(task), 2)
  return make(tables.merged(task:options(), changes, { seed = seed }))
end

-- Maximum number of problems drawn to find one that another task could not pose.
local TRIES <const> = 10000

--- Draws the next problem of a task that another task could not pose, because it is too long.
---
--- Errors: none was found in 10,000 problems.
---
---     > long, short = roper.tasks.copy{letters = 20}, roper.tasks.copy{letters = 19}
---     > #roper.evaluate.problem(long, short)
---     21
---@param task task its stream of problems advances
---@param beyond? task without it, the next problem is returned
---@return string question
---@return string answer
function M.problem(task, beyond)
  arguments.check("problem", "task", "task", task, "beyond", "task?", beyond)
  for _ = 1, TRIES do
    local question, answer = task:question()
    if not beyond or not beyond:poses(question, answer) then
      return question, answer
    end
  end
  error(("problem: expected a problem that %s could not pose, found none in %d of %s"):format(
    beyond, TRIES, task), 0)
end

local SOLVE <const> = options_of.define("SolveOptions", {
  { "problems", "size", 128 },
  { "temperature", "amount", 1, "0 takes the most likely token" },
  { "seed", "integer", 1, "of the problems and the random draws" },
  { "beyond", "task?", nil,
    "use only problems that this task could not pose, because they are too long for it" },
})

---@class Sample
---@field question string
---@field answer string a correct answer
---@field text string the completion by the model
---@field solved boolean

--- Counts the fresh problems that a model solves by sampling, the measure of the RoPER study.
---
--- Errors: an option is unknown; the model has another vocabulary; no problem was found that
--- `beyond` could not pose.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 40, seed = 1}
---     > words = task:vocabulary()
---     > model = roper.nn.Transformer{vocabulary = words, d_model = 16, heads = 2}
---     > (roper.evaluate.solve(model, task, {problems = 4}))
---     0
---@param model Module maps tokens to logits (`roper.nn.class`)
---@param task task its own stream of problems does not advance
---@param options? SolveOptions
---@return integer solved number of solved problems
---@return Sample[] samples
function M.solve(model, task, options)
  arguments.check("solve", "model", "module", model, "task", "task", task)
  local o = options_of.check("solve", options, SOLVE)
  local fresh = M.fresh(task, o.seed)
  local questions, samples, longest = {}, {}, 1
  for i = 1, o.problems do
    local question, answer = M.problem(fresh, o.beyond)
    questions[i] = question
    samples[i] = { question = question, answer = answer }
    longest = math.max(longest, fresh:encode(answer):count())
  end
  local generate = require("roper.model.generate").generate
  local texts = generate(model, questions, { task = fresh, limit = longest,
    temperature = o.temperature, seed = o.seed })
  local solved = 0
  for i, sample in ipairs(samples) do
    sample.text = texts[i]
    sample.solved = fresh:grade(sample.question, sample.text)
    solved = solved + (sample.solved and 1 or 0)
  end
  return solved, samples
end

-- Adds the predictions of the model on a batch to the sums.
local function add(sums, model, task, rows, beyond)
  local tokens, is_answer, is_beyond = task:batch(rows, { answers = true, beyond = beyond })
  local nats, sources = task:explain(tokens)
  local last = tokens:size(2) - 1
  local function targets_of(x)
    return x:narrow(2, 2, last)
  end
  local targets, counted = targets_of(task:targets(tokens) or tokens), targets_of(is_answer)
  local positions = task:positions(tokens)
  positions = positions and positions:narrow(2, 1, last)
  local logits = modules.logits(model, tokens:narrow(2, 1, last), nil, positions)
  local right = (logits:argmax(3) - 1):eq(targets) * counted
  local loss = core.cross_entropy(logits, targets, { reduction = "none" }):to "float64"
  counted = counted:to "float64"
  if is_beyond then
    is_beyond = targets_of(is_beyond)
    sums.beyond_right = sums.beyond_right + (right * is_beyond):sum():item()
    sums.beyond = sums.beyond + is_beyond:sum():item()
  end
  sums.right = sums.right + right:sum():item()
  sums.answers = sums.answers + counted:sum():item()
  sums.tokens = sums.tokens + rows * last
  sums.loss = sums.loss + loss:sum():item()
  sums.answer_loss = sums.answer_loss + (loss * counted):sum():item()
  if nats then
    nats = targets_of(nats)
    sums.floor = (sums.floor or 0) + nats:sum():item()
    sums.answer_floor = (sums.answer_floor or 0) + (nats * counted):sum():item()
  end
  local hits = right:totable()
  for row, indices in ipairs(targets_of(sources):totable()) do
    for i, source in ipairs(indices) do
      if source >= 0 then
        local distance = i - source -- i is the target's index, from 0
        local entry = sums.by_distance[distance] or { distance = distance, right = 0, count = 0 }
        entry.right, entry.count = entry.right + hits[row][i], entry.count + 1
        sums.by_distance[distance] = entry
      end
    end
  end
end

local ANSWERS <const> = options_of.define("AnswersOptions", {
  { "sequences", "size", 64 },
  { "seed", "integer", 1, "of the sequences" },
  { "batch", "size", 32, "sequences per forward pass" },
  { "beyond", "task?", nil, "the task of the training, for `accuracy_beyond`" },
  { "heartbeat", "function?", nil, "called after each batch", type = "fun()" },
})

---@class Answers
---@field accuracy number share of answer tokens predicted correctly, from 0 to 1
---@field accuracy_beyond? number the same over tokens of answers that are larger than any of the
---   task `beyond`, as `task:batch` marks them; nil if there are none
---@field loss number nats per token
---@field loss_answers number nats per token of answers
---@field loss_questions? number nats per token outside answers, if there are any
---@field floor? number the lowest expected loss of any predictor on these sequences; if a task of
---   your own does not know it, its `floor`
---@field floor_answers? number the same over tokens of answers
---@field floor_questions? number the same over tokens outside answers
---@field by_distance table[] {distance, right, count} of answer tokens that repeat an earlier
---   token, by the distance to it

--- Measures a model's next-token predictions on fresh sequences: its accuracy on answer tokens and
--- its loss.
---
--- Errors: an option is unknown; the sequences are too short for an answer.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 40, seed = 1}
---     > words = task:vocabulary()
---     > model = roper.nn.Transformer{vocabulary = words, d_model = 16, heads = 2}
---     > found = roper.evaluate.answers(model, task, {sequences = 4})
---     > found.accuracy < 0.5, found.loss > found.floor
---     true	true
---@param model Module maps tokens to logits (`roper.nn.class`)
---@param task task its own stream of problems does not advance
---@param options? AnswersOptions
---@return Answers found
function M.answers(model, task, options)
  arguments.check("answers", "model", "module", model, "task", "task", task)
  local o = options_of.check("answers", options, ANSWERS)
  local fresh = M.fresh(task, o.seed)
  local sums = { right = 0, answers = 0, beyond_right = 0, beyond = 0, tokens = 0, loss = 0,
    answer_loss = 0, by_distance = {} }
  scoped.without_training(model, function()
    for first = 1, o.sequences, o.batch do
      add(sums, model, fresh, math.min(o.batch, o.sequences - first + 1), o.beyond)
      if o.heartbeat then
        o.heartbeat()
      end
    end
  end)
  if sums.answers == 0 then
    error(("answers: expected sequences with answers, got none in %d of length %d; use longer or "
      .. "more sequences"):format(o.sequences, task:length()), 2)
  end
  local others = sums.tokens - sums.answers
  local function of_others(sum, of_answers)
    return others > 0 and sum and (sum - of_answers) / others or nil
  end
  local floor = sums.floor and sums.floor / sums.tokens
  if not floor then
    floor = fresh:floor()
  end
  return { accuracy = sums.right / sums.answers,
    accuracy_beyond = sums.beyond > 0 and sums.beyond_right / sums.beyond or nil,
    loss = sums.loss / sums.tokens, loss_answers = sums.answer_loss / sums.answers,
    loss_questions = of_others(sums.loss, sums.answer_loss),
    floor = floor, floor_answers = sums.answer_floor and sums.answer_floor / sums.answers,
    floor_questions = of_others(sums.floor, sums.answer_floor),
    by_distance = tables.map(tables.keys(sums.by_distance), function(distance)
      return sums.by_distance[distance]
    end) }
end

local LONGER <const> = options_of.define("LongerOptions", {
  parent = "AnswersOptions",
  { "problems", "size", 128 },
})

--- Evaluates a model on longer problems than those it was trained on. Rows of a task with longer
--- problems also contain problems, or positions, of the trained size: `accuracy` averages over all,
--- `accuracy_beyond` over the others.
---
--- Errors: an option is unknown; the task refuses the changes.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 40, seed = 1}
---     > words = task:vocabulary()
---     > model = roper.nn.Transformer{vocabulary = words, d_model = 16, heads = 2}
---     > options = {problems = 2, sequences = 2}
---     > found = roper.evaluate.longer(model, task, {{max_digits = 3}}, options)
---     > found[1].name, found[1].solved
---     "max_digits=3"	0
---@param model Module maps tokens to logits (`roper.nn.class`)
---@param task task the model was trained on
---@param longer table[] changes of the task's options, such as {letters = 26}
---@param options? LongerOptions
---@return table[] found for each change: name, such as "letters=26"; solved, and problems, none of
---   which `task` could pose; accuracy, accuracy_beyond (by default beyond `task`), loss and floor
---   as in `answers`
function M.longer(model, task, longer, options)
  arguments.check("longer", "model", "module", model, "task", "task", task,
    "longer", "table", longer)
  local o = options_of.check("longer", options, LONGER)
  local list = {}
  for i, changes in ipairs(longer) do
    local changed = M.fresh(task, o.seed, changes)
    local solved = M.solve(model, changed, { problems = o.problems, seed = o.seed,
      beyond = task })
    local found = M.answers(model, changed, { sequences = o.sequences, seed = o.seed,
      batch = o.batch, beyond = o.beyond or task, heartbeat = o.heartbeat })
    list[i] = { name = tables.text(changes), solved = solved, problems = o.problems,
      accuracy = found.accuracy, accuracy_beyond = found.accuracy_beyond, loss = found.loss,
      floor = found.floor }
  end
  return list
end

return M
