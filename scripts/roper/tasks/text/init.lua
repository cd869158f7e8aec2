--- Text task: rows of tokens from text files, for training and validating a language model. Unlike
--- other tasks, it has no questions with answers, and its lowest possible loss is not known.
local arguments = require "roper.base.arguments"
local arity = require "roper.base.arity"
local cache = require "roper.tasks.text.cache"
local files = require "roper.base.file"
local format = require "roper.base.format"
local options_of = require "roper.base.options"
local source = require "roper.tasks.text.source"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"
local words = require "roper.tasks.words"

local M = {}

local OPTIONS <const> = options_of.define("TextOptions", {
  { "length", { smallest = 2, largest = 1 << 20 }, 257, "tokens in a row" },
  { "files", "any?", nil, "a file of text, or a folder of them, or a list of these",
    type = "string|string[]", required = true },
  { "documents", source.DIVISIONS, nil, "division of a file into documents: the whole file, "
    .. "paragraphs separated by empty lines, the field `text` of each line of JSON, or articles "
    .. "written by WikiExtractor; by default jsonl for .jsonl and .ndjson, else file" },
  { "tokenizer", "string", "sentencepiece", "sentencepiece (trained on first use), bytes, or the "
    .. "path of a model, as returned by `task:model()`" },
  { "vocabulary", { smallest = 259, largest = 1 << 20 }, 8000, "number of SentencePiece pieces" },
  { "validation", "share", 0.05, "share of the documents used for validation, the same documents "
    .. "for every seed" },
  { "hash", "string?", nil, "expected hash of the tokens; other tokens are an error" },
  { "seed", "integer", 1, "of the order of the rows" },
  { "cache", "string?", nil,
    "folder for tokens and models; by default $XDG_CACHE_HOME/roper or ~/.cache/roper" },
})

--- The options of the task except `seed` and `cache`, each a TaskOption.
M.OPTIONS = {}
for i = 1, #OPTIONS - 2 do
  local name, kind, default, text = table.unpack(OPTIONS[i], 1, 4)
  kind = type(kind) == "string" and kind:gsub("%?$", "") or kind
  M.OPTIONS[i] = { name = name, smallest = kind.smallest, largest = kind.largest,
    kind = not kind.smallest and kind or nil, standard = default, meaning = (text:gsub("`", "")),
    required = OPTIONS[i].required }
end

-- Names of tokenizers; other values of the option are paths of models.
local TOKENIZERS <const> = { "sentencepiece", "bytes" }

--- A task with rows of text. It has no problems, and thus no questions, answers, grades or
--- explanations.
---@class TextTask: task
local TextTask = { __name = "roper.task" }
TextTask.__index = TextTask

-- The paths as a new list.
local function check_files(given)
  local list = type(given) == "string" and { given } or given
  local is_list = type(list) == "table" and #list > 0 and #list == tables.count(list)
  for _, path in ipairs(is_list and list or {}) do
    is_list = is_list and type(path) == "string" and not path:find "\0"
  end
  if not is_list then
    error("text: option files: expected a path or a list of them, got "
      .. options_of.shown(given), 0)
  end
  return table.move(list, 1, #list, 1, {})
end

-- The checked options of the task.
local function check(given)
  local o = options_of.check("text", given, OPTIONS, 4)
  if not tables.set(TOKENIZERS)[o.tokenizer] and not files.stat(o.tokenizer) then
    error(("text: no model %s%s"):format(o.tokenizer, suggest.hint(o.tokenizer, TOKENIZERS)), 0)
  end
  if o.files ~= nil or o.tokenizer == "sentencepiece" then
    o.files = check_files(o.files)
  end
  return o
end

-- Raises an error if the hash of the tokens is not the expected one, or if a row is longer than
-- both parts.
local function check_corpus(corpus, o)
  local hash = require("roper.base.hash").digits(corpus:about().hash)
  if o.hash and o.hash ~= hash then
    error(("text: expected tokens with the hash %s, got %s; the files or the tokenizer changed")
      :format(o.hash, hash), 0)
  end
  o.hash = hash
  local rows, validation = corpus:rows("training", o.length), corpus:rows("validation", o.length)
  if rows + validation == 0 then
    local about = corpus:about()
    error(("text: option length: a row of %d tokens is longer than the text: %d tokens for "
      .. "training, %d for validation"):format(o.length, about.training.tokens,
      about.validation.tokens), 0)
  end
end

--- A task with rows of text files. The text is tokenized once, by SentencePiece or as bytes, and
--- cached. Each epoch draws all rows in a new order, without replacement. The last token of a row
--- is the first of the next row: an epoch predicts each token but the first exactly once. Documents
--- end with the token 0, which decodes as a zero byte; a row may contain several documents.
--- Without files, the task can encode and decode but has no rows.
---
--- Errors: files that are missing, empty, not UTF-8, or change while they are read; no files to
--- train SentencePiece on; a vocabulary too large or too small for the text; SentencePiece is not
--- installed; a row longer than both the training and the validation text.
---
---     > path = os.tmpname()
---     > file = io.open(path, "w"):write("A paragraph.\n\nAnother.\n"):close()
---     > options = {files = path, documents = "paragraphs", tokenizer = "bytes",
---     >>   length = 5, validation = 0.5, cache = path .. ".d"}
---     > task = roper.tasks.text(options)
---     > task:batch(4):shape()
---     {4, 5}
---@param options TextOptions
---@return TextTask task
function M.new(options)
  local o = check(options)
  local is_own = not tables.set(TOKENIZERS)[o.tokenizer]
  local settings = { files = o.files, documents = o.documents, validation = o.validation,
    cache = o.cache, model = is_own and o.tokenizer or nil,
    tokenizer = is_own and "model" or o.tokenizer,
    vocabulary = o.tokenizer == "sentencepiece" and o.vocabulary or nil }
  local task = setmetatable({ settings = o, seed = o.seed, counter = 0 }, TextTask)
  if o.files then
    task.corpus, task.tokenizer = cache.open(settings)
    check_corpus(task.corpus, o)
  else
    task.tokenizer = cache.tokenizer(settings)
  end
  return task
end

-- The corpus of a task; raises an error for a task without files.
local function corpus_of(task)
  return task.corpus or error("text: a task without files has no rows; pass the option files", 0)
end

--- The next rows for training.
---
--- Errors: a task without files; a row longer than the training text; a damaged file in the cache.
---
---     > path = os.tmpname()
---     > file = io.open(path, "w"):write("A paragraph.\n\nAnother.\n"):close()
---     > options = {files = path, documents = "paragraphs", tokenizer = "bytes",
---     >>   length = 5, validation = 0.5, cache = path .. ".d"}
---     > task = roper.tasks.text(options)
---     > task:batch(2):shape()
---     {2, 5}
---@param rows integer at least 1
---@return tensor tokens [rows, length], int32 ids
function TextTask:batch(rows)
  arguments.self("TextTask:batch", self, TextTask)
  local corpus = corpus_of(self)
  arguments.check("batch", "rows", "size", rows)
  local tokens = corpus:draw(self.seed, self.counter, self.settings.length, rows)
  self.counter = self.counter + rows
  return tokens
end

local VALIDATION <const> = options_of.define("ValidationOptions", {
  { "batch", "size", 32, "rows at a time" },
  { "length", { smallest = 2, largest = 1 << 20 }, nil,
    "tokens in a row; by default those of the task" },
  { "limit", "size?", nil, "maximum number of rows in total; by default all", was = "most" },
})

--- Iterates over rows of the validation documents, always in the same order. Tokens at the end that
--- do not fill a row are left out.
---
--- Errors: unknown options; a task without files; a row longer than the validation text.
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
function TextTask:validation(options)
  arguments.self("TextTask:validation", self, TextTask)
  local o = options_of.check("validation", options, VALIDATION)
  o.length = o.length or self.settings.length
  local rows = corpus_of(self):rows("validation", o.length)
  if rows == 0 then
    error(("text: a row of %d tokens is longer than the validation text of %d tokens"):format(
      o.length, self.corpus:about().validation.tokens), 0)
  end
  local first, last = 1, math.min(rows, o.limit or rows)
  return function()
    local count = math.min(o.batch, last - first + 1)
    if count < 1 then
      return nil
    end
    first = first + count
    return self.corpus:read("validation", o.length, first - count, count)
  end
end

---@class TextSize
---@field documents integer
---@field tokens integer including the end of each document
---@field bytes integer of text; bits per byte are nats per token / ln 2 * tokens / bytes
---@field rows integer in an epoch, with the task's length

--- The size of the text in documents, tokens, bytes and rows.
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
function TextTask:size()
  arguments.self("TextTask:size", self, TextTask)
  local about, size = corpus_of(self):about(), {}
  for _, part in ipairs { "training", "validation" } do
    size[part] = tables.merged(about[part], { rows = self.corpus:rows(part, self.settings.length) })
  end
  return size
end

function TextTask:encode(text)
  arguments.self("TextTask:encode", self, TextTask)
  arguments.check("task:encode", "text", "string", text)
  return self.tokenizer:encode(text)
end

function TextTask:decode(ids)
  arguments.self("TextTask:decode", self, TextTask)
  return words.decode(self.tokenizer.words, ids)
end

function TextTask:vocabulary()
  arguments.self("TextTask:vocabulary", self, TextTask)
  local list = self.tokenizer.words
  return table.move(list, 1, #list, 1, {})
end

--- The path of the SentencePiece model, to tokenize other text with the same vocabulary.
---
---     > path = os.tmpname()
---     > file = io.open(path, "w"):write("A paragraph.\n\nAnother.\n"):close()
---     > options = {files = path, documents = "paragraphs", tokenizer = "bytes",
---     >>   length = 5, validation = 0.5, cache = path .. ".d"}
---     > task = roper.tasks.text(options)
---     > task:model()
---     nil
---@return string? path nil for the tokenizer "bytes"
function TextTask:model()
  arguments.self("TextTask:model", self, TextTask)
  return self.tokenizer.path
end

function TextTask:random()
  arguments.self("TextTask:random", self, TextTask)
  return self.seed, self.counter
end

function TextTask:set_random(seed, counter)
  arguments.self("TextTask:set_random", self, TextTask)
  arguments.check("task:set_random", "seed", "integer", seed, "counter", "integer", counter)
  self.seed, self.counter = seed, counter
end

-- nil: the position of a token is its index.
function TextTask:positions(_) -- luacheck: no unused args
  return nil
end

-- nil: targets are the tokens.
function TextTask:targets(_) -- luacheck: no unused args
  return nil
end

function TextTask.name()
  return "text"
end

function TextTask:length()
  return self.settings.length
end

function TextTask.stop()
  return "\0"
end

function TextTask:options()
  local options = tables.merged(self.settings, { seed = self.seed })
  options.files = options.files and table.move(options.files, 1, #options.files, 1, {})
  options.cache = nil
  return options
end

function TextTask:hash()
  arguments.self("TextTask:hash", self, TextTask)
  return self.settings.hash
end

function TextTask.has_problems()
  return false
end

-- Methods that only tasks with problems have.
for _, name in ipairs { "question", "answer", "poses", "grade", "explain", "floor", "chance",
  "longest" } do
  TextTask[name] = function()
    error(("task:%s: a text task has rows but no problems; check task:has_problems() first")
      :format(name), 2)
  end
end

function TextTask:__tostring()
  return "text" .. format.value(self:options(), math.maxinteger)
end

arity.limit(TextTask)

return M
