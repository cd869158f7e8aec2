--- Text task: rows of tokens from text files, for training and validating a language model. Unlike
--- other tasks, it has no questions with answers, and its lowest possible loss is not known.
local cache = require "roper.tasks.text.cache"
local files = require "roper.system.file"
local options_of = require "roper.options.rows"
local source = require "roper.tasks.text.source"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"
local task = require "roper.tasks.task"

local M = {}

local OPTIONS <const> = options_of.define("TextOptions", {
  { "length", { smallest = 2, largest = 1 << 20 }, 257, "tokens in a row" },
  { "files", "any?", nil, "a file of text, or a folder of them, or a list of these",
    type = "string|string[]", required = true },
  { "documents", source.DIVISIONS, nil, "division of a file into documents: the whole file, "
    .. "paragraphs separated by empty lines, the field `text` of each line of JSON, followed by "
    .. "`answer` if it has one, or articles "
    .. "written by WikiExtractor; by default jsonl for .jsonl and .ndjson, else file" },
  { "tokenizer", "string", "sentencepiece", "sentencepiece (trained on first use), bytes, or the "
    .. "path of a model, as returned by `task:model()`; the folder of a published model has one" },
  { "vocabulary", { smallest = 259, largest = 1 << 20 }, 8000, "number of SentencePiece pieces" },
  { "validation", "share", 0.05, "share of the documents used for validation, the same documents "
    .. "for every seed" },
  { "hash", "string?", nil, "expected hash of the tokens; other tokens are an error" },
  { "seed", "integer", 1, "of the order of the rows" },
  { "cache", "string?", nil,
    "folder for tokens and models; by default $XDG_CACHE_HOME/roper or ~/.cache/roper",
    is_hidden = true },
})

-- The token that ends documents.
local STOP <const> = "\0"

-- Names of tokenizers; other values of the option are paths of models.
local TOKENIZERS <const> = { "sentencepiece", "bytes" }

---@class TextSource: TaskSource
---@field corpus corpus
---@field answers? corpus which tokens belong to answers
---@field length integer of a row
local TextSource = {}
TextSource.__index = TextSource

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

-- Checks the options together.
local function check(o)
  if not tables.set(TOKENIZERS)[o.tokenizer] and not files.stat(o.tokenizer) then
    error(("text: no model %s%s"):format(o.tokenizer, suggest.hint(o.tokenizer, TOKENIZERS)), 0)
  end
  if o.files ~= nil or o.tokenizer == "sentencepiece" then
    o.files = check_files(o.files)
  end
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

-- The prompt of a text of its own: the end of a text, unless the tokenizer begins each text itself.
local function beginning_of(tokenizer)
  return tokenizer.begin and "" or STOP
end

-- Opens the text. Without files, the task can encode and decode but has no rows.
local function open(o)
  check(o)
  local is_own = not tables.set(TOKENIZERS)[o.tokenizer]
  local settings = { files = o.files, documents = o.documents, validation = o.validation,
    cache = o.cache, model = is_own and o.tokenizer or nil,
    tokenizer = is_own and "model" or o.tokenizer,
    vocabulary = o.tokenizer == "sentencepiece" and o.vocabulary or nil }
  if not o.files then
    local tokenizer = cache.tokenizer(settings)
    return { tokenizer = tokenizer, stop = STOP, beginning = beginning_of(tokenizer), hash = o.hash,
      without_rows = "a text without files has no rows; pass the option files" }
  end
  local corpus, tokenizer, answers = cache.open(settings)
  check_corpus(corpus, o)
  return setmetatable({ corpus = corpus, tokenizer = tokenizer, length = o.length, hash = o.hash,
    answers = answers, has_answers = answers ~= nil,
    stop = STOP, beginning = beginning_of(tokenizer) }, TextSource)
end

function TextSource:batch(rows, seed, counter)
  local answers = self.answers and self.answers:draw(seed, counter, self.length, rows)
  return self.corpus:draw(seed, counter, self.length, rows), answers and answers:eq(cache.ANSWER),
    counter + rows
end

function TextSource:held_out(length)
  return self.corpus:rows("validation", length), self.corpus:about().validation.tokens
end

function TextSource:read_held_out(length, first, count)
  return self.corpus:read("validation", length, first, count)
end

function TextSource:size()
  local about, size = self.corpus:about(), {}
  for _, part in ipairs { "training", "validation" } do
    size[part] = tables.merged(about[part], { rows = self.corpus:rows(part, self.length) })
  end
  return size
end

--- The kind of the task.
M.KIND = { name = "text", rows = OPTIONS, source = open, has_problems = false } ---@type TaskKind

--- A task with rows of text files. The text is tokenized once, by SentencePiece or as bytes, and
--- cached. Each epoch draws all rows in a new order, without replacement. The last token of a row
--- is the first of the next row: an epoch predicts each token but the first exactly once. Documents
--- end with the token 0, which decodes as a zero byte; a row may contain several documents.
--- Without files, the task can encode and decode but has no rows. If all lines of JSON have a field
--- `answer`, `roper.train{loss = "answers", ...}` trains only on its tokens and the end of the
--- document.
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
---@return task task
function M.new(options)
  return task.create(M.KIND, options)
end

return M
