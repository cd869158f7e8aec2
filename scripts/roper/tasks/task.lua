--- The class of all tasks. A task draws its problems or rows from a source (`roper.tasks.source`).
local arguments = require "roper.options.arguments"
local arity = require "roper.options.arity"
local beyond = require "roper.tasks.beyond"
local core = require "roper.core"
local format = require "roper.text.format"
local options_of = require "roper.options.rows"
local sources = require "roper.tasks.source"
local tables = require "roper.base.tables"

local M = {}

--- A stream of random problems, or of rows of a text, to train a model on. Token ids count from 0.
--- Each task has its own random generator. The functions of `roper.tasks` create tasks.
---
---     > roper.tasks.addition{max_digits = 1, length = 30, seed = 1}:question()
---     "?d=7+7;"	" 7e0+7e0+0e0==14e0 and 0e1+0e1+1e1==1e1 and d==14#"
---@class task
local task = { __name = "roper.task" }
task.__index = task

-- The maximum number of rows of a batch.
local MOST_ROWS <const> = 1 << 24

--- Returns the expression that creates a task, such as
--- "copy{length = 161, letters = 20, alphabet = 26, seed = 1}".
---@param kind TaskKind
---@param options table
---@return string expression
function M.expression(kind, options)
  local parts = tables.map(kind.rows, function(row)
    local value = options[row[1]]
    return value ~= nil and ("%s = %s"):format(row[1], format.value(value, math.maxinteger)) or nil
  end)
  return ("%s{%s}"):format(kind.name, table.concat(parts, ", "))
end

--- Creates a task with checked options.
---@param kind TaskKind
---@param settings table
---@param source TaskSource
---@return task task
function M.new(kind, settings, source)
  return setmetatable({ kind = kind, settings = settings, source = source,
    tokenizer = source.tokenizer, seed = settings.seed or 1, counter = 0 }, task)
end

--- Creates a task of a kind.
---
--- Errors: the options do not match, or their values contradict each other.
---@param kind TaskKind
---@param options table?
---@return task task
function M.create(kind, options)
  local settings = options_of.check("tasks." .. kind.name, options, kind.rows)
  return M.new(kind, settings, kind.source(settings, kind))
end

local function check_tokens(name, tokens)
  if tokens:dtype() ~= "int32" or tokens:rank() ~= 2 then
    error(("%s: expected int32 tokens [rows, time], got %s [%s]"):format(name, tokens:dtype(),
      table.concat(tokens:shape(), ", ")), 3)
  end
end

local BATCH <const> = options_of.define("BatchOptions", {
  { "answers", "boolean", false, "also return `is_answer`" },
  { "beyond", "task?", nil, "the task of a training, of the same kind: also return `is_answer` and "
    .. "`is_beyond`" },
})

--- Draws new rows of tokens. Each row is filled with problems; the last one may be truncated. For
--- text, each epoch draws all rows in a new order, without replacement.
---
--- Errors: a number of rows below 1 or above 2^24; a text without files, or shorter than a row; the
--- options `answers` and `beyond` for a text; `beyond` of another kind.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
---     > tokens, is_answer = task:batch(2, {answers = true})
---     > task:decode(tokens[1])
---     "?d=72+31; 2e0+1e0+0e0==3e0 and"
---     > is_answer:shape()
---     {2, 30}
---     > long = roper.tasks.copy{letters = 20, length = 100}
---     > options = {beyond = roper.tasks.copy{letters = 10, length = 50}}
---     > tokens, is_answer, is_beyond = long:batch(4, options)
---     > is_answer:sum():item() > is_beyond:sum():item()
---     true
---@param rows integer at least 1
---@param options? BatchOptions
---@return tensor tokens [rows, length], int32 ids
---@return tensor? is_answer [rows, length], int32: 1 for tokens of an answer, including its stop
---   character, 0 for the others; if the task has targets, 1 for targets of an answer
---@return tensor? is_beyond [rows, length], int32: 1 for tokens of answers that are larger than any
---   of the task `beyond`: of problems that it could not pose or, if the tasks differ only in
---   `length`, at positions beyond its rows
function task:batch(rows, options)
  local source = sources.with(self, "batch")
  arguments.check("task:batch", "rows", { smallest = 1, largest = MOST_ROWS }, rows)
  local o = options_of.check("task:batch", options, BATCH)
  if (o.answers or o.beyond) and not self:has_answers() then
    sources.with_problems(self, "batch")
  elseif o.beyond and o.beyond:name() ~= self:name() then
    error(("task:batch: option beyond: expected a task of the kind %s, got %s"):format(self:name(),
      o.beyond:name()), 2)
  end
  local tokens, is_answer, counter = source:batch(rows, self.seed, self.counter)
  local is_beyond = o.beyond and beyond.mark(o.beyond, self, tokens, is_answer)
  self.counter = counter -- an error or Ctrl-C before leaves the task as it was
  if is_beyond then
    return tokens, is_answer, is_beyond
  elseif o.answers then
    return tokens, is_answer
  end
  return tokens
end

--- Returns the loss of the optimal predictor at each token (or target, see `task:targets`) of the
--- rows, and the index of the earlier token that each token of an answer copies. A state of a
--- flip-flop copies the last write; other states of `state_tracking` depend on all tokens and copy
--- none.
---
--- Errors: tokens that are not rows of this task.
---
---     > task = roper.tasks.substring_prefix{length = 50, seed = 1}
---     > tokens = task:batch(1)
---     > nats = task:explain(tokens)
---     > nats:shape()
---     {1, 50}
---@param tokens tensor [rows, up to length], int32
---@return tensor? nats [rows, length], float64: minus the logarithm of the probability of each
---   token; nil for a task of your own
---@return tensor sources [rows, length], int32: 0-based index in the row; -1 if a token copies none
function task:explain(tokens)
  local source = sources.with_problems(self, "explain")
  arguments.check("task:explain", "tokens", "tensor", tokens)
  if not source.explain then
    return nil, core.zeros(tokens:shape(), "int32") - 1
  end
  return source:explain(tokens)
end

--- Returns the positions of tokens to pass to a model, if the task defines them, as an addition
--- with the option `coupled` does. A number that the end of a row truncates is treated as complete.
---
--- Errors: tokens of another dtype or rank; an id outside the vocabulary.
---
---     > task = roper.tasks.addition{coupled = true}
---     > tokens = task:encode("?d=58+3; 8e0+3e0"):view{1, -1}
---     > task:positions(tokens)
---     float64 [1, 16]
---     0 0 0 2 1 0 1 0 0 1 1 1 1 1 1 1
---     > words = task:vocabulary()
---     > model = roper.nn.Transformer{vocabulary = words, position = "rope"}
---     > model(tokens, nil, task:positions(tokens)):shape()
---     {1, 16, 20}
---@param tokens tensor [rows, time], int32
---@return tensor? positions [rows, time], float64; nil if the positions are 0, 1, 2, ...
function task:positions(tokens)
  arguments.check("task:positions", "tokens", "tensor", tokens)
  check_tokens("task:positions", tokens)
  return self.source.positions and self.source:positions(tokens)
end

--- Returns the tokens that a model is trained to predict, if they are not the tokens of the row
--- themselves: in `state_tracking`, target t is the state after the tokens before t.
---
--- Errors: tokens of another dtype or rank; an id outside the vocabulary.
---
---     > task = roper.tasks.state_tracking{kind = "parity"}
---     > task:targets(task:encode("11010"):view{1, -1})
---     int32 [1, 5]
---     0 1 0 0 1
---     > tokens = roper.tasks.copy():batch(2)
---     > roper.tasks.copy():targets(tokens)
---     nil
---@param tokens tensor [rows, time], int32
---@return tensor? targets [rows, time], int32; target t depends on the tokens before t; nil if
---   targets are the tokens
function task:targets(tokens)
  arguments.check("task:targets", "tokens", "tensor", tokens)
  check_tokens("task:targets", tokens)
  return self.source.targets and self.source:targets(tokens)
end

--- Returns the accuracy on answer tokens, and the loss, of the best guess that does not depend on
--- the tokens. A model must exceed this accuracy to show that it has learned anything.
---
---     > roper.tasks.state_tracking{kind = "s3"}:chance()
---     0.16666666666667	1.7917594692281
---@return number? accuracy from 0 to 1; nil if the task does not define it
---@return number? nats per token of an answer
function task:chance()
  local source = sources.with_problems(self, "chance")
  if source.chance then
    return source:chance()
  end
  return nil
end

--- Converts a text to token ids, always with the longest token that fits.
---
--- Errors: a character outside the vocabulary.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
---     > task:encode "12+3"
---     int32 [4]
---     4 5 2 6
---@param text string
---@return tensor ids [count], int32
function task:encode(text)
  arguments.check("task:encode", "text", "string", text)
  return self.tokenizer:encode(text)
end

--- Converts token ids to a text.
---
--- Errors: an id outside the vocabulary.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
---     > task:decode(task:encode "12+3")
---     "12+3"
---@param ids tensor|integer[] [count], int32
---@return string text
function task:decode(ids)
  arguments.check("task:decode", "ids", "tensor|table", ids)
  local words, list = self.tokenizer.words, {}
  local is_tensor = options_of.mismatch("tensor", ids) == nil
  if is_tensor and (ids:dtype() ~= "int32" or ids:rank() ~= 1) then
    error(("task:decode: expected int32 ids of one axis, got %s [%s]"):format(ids:dtype(),
      table.concat(ids:shape(), ", ")), 2)
  end
  for i, id in ipairs(is_tensor and ids:totable() or ids) do
    list[i] = math.type(id) == "integer" and words[id + 1]
      or error(("task:decode: expected token ids from 0 to %d, got %s at index %d"):format(
        #words - 1, options_of.shown(id), i), 2)
  end
  local text = table.concat(list)
  return self.tokenizer.decode and self.tokenizer:decode(text) or text
end

--- Returns the texts of the tokens in the order of their ids; the first has id 0.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
---     > table.concat(task:vocabulary())
---     " #+0123456789;=?aden"
---@return string[] words
function task:vocabulary()
  return tables.joined(self.tokenizer.words)
end

--- Draws a new random problem and its answer.
---
--- Errors: a task without problems.
---
---     > task = roper.tasks.addition{max_digits = 1, length = 30, seed = 1}
---     > task:question()
---     "?d=7+7;"	" 7e0+7e0+0e0==14e0 and 0e1+0e1+1e1==1e1 and d==14#"
---@return string question
---@return string answer a correct one
function task:question()
  local source = sources.with_problems(self, "question")
  local question, answer, counter = source:question(self.seed, self.counter)
  self.counter = counter
  return question, answer
end

--- Returns the complete answer to a question.
---
--- Errors: a text that is not a question of this task; a task of your own without the function
--- `answer`, unless it drew the question itself.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
---     > task:answer "?d=12+34;"
---     " 2e0+4e0+0e0==6e0 and 1e1+3e1+0e1==4e1 and d==46#"
---@param question string
---@return string answer
function task:answer(question)
  local source = sources.with_problems(self, "answer")
  arguments.check("task:answer", "question", "string", question)
  return source:answer(question)
end

--- Returns true if a question can be one of this task, with these options. Evaluation on longer
--- problems uses it to leave out those that training could contain. A task of your own poses
--- problems up to the length of its longest.
---
---     > task = roper.tasks.addition{max_digits = 2}
---     > task:poses "?d=12+34;", task:poses "?d=123+4;"
---     true	false
---@param question string
---@param answer? string a correct answer; only tasks of your own, which compare lengths, read it
---@return boolean poses
function task:poses(question, answer)
  local source = sources.with_problems(self, "poses")
  arguments.check("task:poses", "question", "string", question, "answer", "string?", answer)
  return source:poses(question, answer)
end

--- Returns true if the text answers the question. For an addition, the text must end with "d==",
--- the sum and the only stop character, as in the study; the steps before are not checked. For the
--- other tasks, the whole text must be a correct answer.
---
--- Errors: a question that is not one of this task.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
---     > task:grade("?d=12+34;", task:answer "?d=12+34;")
---     true
---     > task:grade("?d=12+34;", "46")
---     false
---     > task:grade("?d=12+34;", "any steps, then d==46#")
---     true
---@param question string
---@param text string
---@return boolean is_solved
function task:grade(question, text)
  local source = sources.with_problems(self, "grade")
  arguments.check("task:grade", "question", "string", question, "text", "string", text)
  return source:grade(question, text)
end

--- Returns the lowest mean loss that any predictor can reach on this task, in nats per token over
--- tokens 2 to length: the entropy of the random choices in its problems.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
---     > nats, error = task:floor()
---     > nats > 0, nats < 1
---     true	true
---@return number? nats nil for a task of your own that does not define it
---@return number? error its standard error, 0 if the floor is exact
function task:floor()
  return sources.with_problems(self, "floor"):floor()
end

--- Returns true if the task has questions, graded answers and a loss floor; false for the task
--- `text`.
---
---     > roper.tasks.copy():has_problems()
---     true
---@return boolean has_problems
function task:has_problems()
  return self.kind.has_problems
end

--- Does `batch` return which tokens belong to answers?
---
---     > roper.tasks.copy():has_answers(), roper.tasks.text{tokenizer = "bytes"}:has_answers()
---     true	false
---@return boolean has_answers
function task:has_answers()
  return self.kind.has_problems or self.source.has_answers == true
end

--- Returns the hash of content that the options do not contain: of a text, or of the first problems
--- of a task of your own. A run cannot be resumed with other content.
---
---     > roper.tasks.addition():hash()
---     nil
---@return string? digits nil for a task in C, whose options say everything
function task:hash()
  return self.source.hash
end

--- Returns the state of the task's random generator.
---
---     > roper.tasks.addition{seed = 5}:random()
---     5	0
---@return integer seed
---@return integer counter
function task:random()
  return self.seed, self.counter
end

--- Sets the state of the task's random generator, as returned by `random`.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 30, seed = 1}
---     > seed, counter = task:random()
---     > first = task:question()
---     > task:set_random(seed, counter)
---     > task:question() == first
---     true
---@param seed integer
---@param counter integer
function task:set_random(seed, counter)
  arguments.check("task:set_random", "seed", "integer", seed, "counter", "integer", counter)
  self.seed, self.counter = seed, counter
end

--- Returns the name of the kind of task.
---
---     > roper.tasks.addition():name()
---     "addition"
---@return string name
function task:name()
  return self.kind.name
end

--- Returns the number of tokens in a row.
---
---     > roper.tasks.addition():length()
---     641
---@return integer length
function task:length()
  return self.settings.length
end

--- Returns the number of tokens in the longest problem, including its answer; for a task of your
--- own the length of a row.
---
---     > roper.tasks.copy{letters = 20}:longest()
---     42
---@return integer longest
function task:longest()
  local source = sources.with_problems(self, "longest")
  return source.longest and source:longest() or self.settings.length
end

--- Returns the last token of every answer, or of every document of a text.
---
---     > roper.tasks.addition():stop()
---     "#"
---@return string? stop nil if answers end at a known length instead
function task:stop()
  return self.source.stop
end

--- Returns the options that create this task, including its seed.
---
---     > roper.tasks.substring_index():options()
---     {length = 641, letters = 13, seed = 1}
---@return table options
function task:options()
  local options = {}
  for _, row in ipairs(self.kind.rows) do
    local value = self.settings[row[1]]
    if not row.is_hidden then
      options[row[1]] = type(value) == "table" and tables.joined(value) or value
    end
  end
  options.seed = options.seed and self.seed
  return options
end

local VALIDATION <const> = options_of.define("ValidationOptions", {
  { "batch", "size", 32, "rows at a time" },
  { "length", { smallest = 2, largest = 1 << 20 }, nil,
    "tokens in a row; by default those of the task" },
  { "limit", "size?", nil, "maximum number of rows in total; by default all" },
})

--- Iterates over rows of the validation documents of a text, always in the same order. Tokens at
--- the end that do not fill a row are left out.
---
--- Errors: unknown options; a task without a text; a row longer than the validation text.
---
---     > path = os.tmpname()
---     > file = io.open(path, "w"):write("A paragraph.\n\nAnother.\n"):close()
---     > options = {files = path, documents = "paragraphs", tokenizer = "bytes",
---     >>   length = 5, validation = 0.5, cache = path .. ".d"}
---     > task = roper.tasks.text(options)
---     > next_rows = task:validation{batch = 2}
---     > next_rows():shape()
---     {2, 5}
---@param options? ValidationOptions
---@return fun(): tensor? next [rows, length], int32 ids; for a loop
function task:validation(options)
  local o = options_of.check("task:validation", options, VALIDATION)
  local source = sources.with(self, "validation", "held_out")
  local length = o.length or self.settings.length
    or error("task:validation: option length: expected an integer, got nil", 2)
  local rows, tokens = source:held_out(length)
  if rows < 1 then
    error(("text: a row of %d tokens is longer than the validation text of %d tokens"):format(
      length, tokens), 0)
  end
  local first, last = 1, math.min(rows, o.limit or rows)
  return function()
    local count = math.min(o.batch, last - first + 1)
    if count < 1 then
      return nil
    end
    first = first + count
    return source:read_held_out(length, first - count, count)
  end
end

---@class TextSize
---@field documents integer
---@field tokens integer including the end of each document
---@field bytes integer of text; bits per byte are nats per token / ln 2 * tokens / bytes
---@field rows integer in an epoch, with the task's length

--- Returns the size of a text in documents, tokens, bytes and rows.
---
--- Errors: a task without files.
---
---     > path = os.tmpname()
---     > file = io.open(path, "w"):write("A paragraph.\n\nAnother.\n"):close()
---     > options = {files = path, documents = "paragraphs", tokenizer = "bytes",
---     >>   length = 5, validation = 0.5, cache = path .. ".d"}
---     > task = roper.tasks.text(options)
---     > task:size().training.documents, task:size().validation.documents
---     1	1
---@return {training: TextSize, validation: TextSize} size
function task:size()
  return sources.with(self, "size"):size()
end

--- Returns the path of the SentencePiece model of a text, or the folder of the published model
--- whose tokenizer it has, to tokenize other text with the same vocabulary.
---
---     > roper.tasks.text{tokenizer = "bytes"}:model()
---     nil
---@return string? path nil without one
function task:model()
  return self.tokenizer.path
end

--- Does the task have a tokenizer? Without one, as for some published models, texts are lists of
--- token ids.
---
---     > options = {vocabulary = 8, position = "rope", logits_bias = "none"}
---     > model = roper.nn.Transformer(options)
---     > folder = os.tmpname() .. ".d"
---     > roper.export(model, folder)
---     > select(2, roper.import(folder)):has_tokenizer()
---     false
---@return boolean yes
function task:has_tokenizer()
  return not self.tokenizer.is_of_ids
end

--- Returns the prompt from which a model begins a text of its own.
---
---     > roper.tasks.text{tokenizer = "bytes"}:beginning()
---     "\0"
---@return string? prompt nil if it cannot begin one
function task:beginning()
  return self.source.beginning
end

--- Reads a text: returns a task with the same tokens, whose validation rows are those of the text.
---
---     > task = roper.tasks.text{tokenizer = "bytes"}:read "some words"
---     > task:validation{length = 4}():shape()
---     {3, 4}
---@param text string
---@return task task
function task:read(text)
  arguments.check("task:read", "text", "string", text)
  return M.new(self.kind, self.settings, sources.of_text(self.source, self:encode(text)))
end

function task:__tostring()
  return M.expression(self.kind, self:options())
end

arity.limit(task, "task")

return M
