--- Cache of tokenized text. Text is tokenized once and stored by the hash of its content and
--- settings. Files are written atomically; leftovers of killed processes are removed.
local bytes = require "roper.tasks.text.bytes"
local clock = require "roper.system.clock"
local core = require "roper.core"
local diagnostics = require "roper.text.diagnostics"
local files = require "roper.system.file"
local paths = require "roper.system.paths"
local hash = require "roper.base.hash"
local pieces = require "roper.tasks.text.pieces"
local progress = require "roper.text.progress"
local published = require "roper.tasks.text.published"
local source = require "roper.tasks.text.source"
local tables = require "roper.base.tables"

local M = {}

-- Part of every key; change it when the same settings begin to give other tokens.
local VERSION <const> = 1

-- Seed that selects the validation documents. It does not depend on the seed of a task.
local SPLIT <const> = 7

-- In the corpus of answers, each token says what the token in its place in the corpus is.
local QUESTION <const>, ANSWER <const> = 1, 2

--- The mark of a token of an answer.
M.ANSWER = ANSWER

--- Bytes of text that are tokenized at a time, and the limit of bytes for training a vocabulary.
M.BATCH, M.SAMPLE = 8000000, 50000000

-- Milliseconds between attempts to lock a corpus that another process is writing.
local RETRY <const> = 0.1

--- The default folder of the cache.
---
--- Errors: neither XDG_CACHE_HOME nor HOME is set.
---@return string folder below $XDG_CACHE_HOME or ~/.cache
function M.standard_folder()
  local cache = paths.user("XDG_CACHE_HOME", ".cache")
  return (cache or error("text: no folder for tokens; set HOME or pass the option cache", 0))
    .. "/roper"
end

-- The path of the corpus of answers beside that of tokens.
local function answers_of(path)
  return (path:gsub("%.tokens$", ".answers"))
end

-- Reads the text once for its files, sizes and hash.
local function survey(o)
  local text = { bytes = 0, documents = 0 }
  text.list, text.size = source.list(o.files, o.documents)
  local work <close> = progress.work("text: reading", text.size)
  text.hash = source.each(text.list, function(document, answer)
    text.has_answers = answer ~= nil
    text.documents = text.documents + 1
    text.bytes = text.bytes + #document
  end, function(count)
    work:add(count)
  end)
  return text
end

-- The number of validation documents. Unless the share is 0 or 1, it is neither none nor all.
local function held_out(text, share)
  if share == 0 or share == 1 then
    return text.documents * math.tointeger(share)
  elseif text.documents == 1 then
    error("text: one document cannot be split into training and validation; set validation = 0, "
      .. 'or documents = "paragraphs"', 0)
  end
  return math.min(text.documents - 1, math.max(1, math.floor(share * text.documents + 0.5)))
end

-- Reads the text again and visits the documents of a part.
local function each_of(text, part, visit)
  local number = 0
  local found = source.each(text.list, function(document, answer)
    number = number + 1
    local is_held = number <= text.documents
      and core.random_permuted(SPLIT, text.documents, number) <= text.held_out
    if is_held == (part == "validation") then
      visit(document, answer)
    end
  end, function() end)
  if found ~= text.hash then
    error("text: the files changed while they were read; run again", 0)
  end
end

-- Trains a tokenizer on the training documents, or on an evenly spaced sample of a large text.
local function train(path, folder, text, vocabulary)
  local every, number, sample, size = math.ceil(text.bytes / M.SAMPLE), 0, {}, 0
  each_of(text, "training", function(document)
    number = number + 1
    if number % every == 0 then
      sample[#sample + 1], size = document, size + #document
    end
  end)
  local line <close> = progress.display()
  if size > 1e6 then
    line:show(("text: training %d pieces on %.1f MB"):format(vocabulary, size / 1e6))
  end
  pieces.train(path, folder, vocabulary, sample)
end

-- Appends documents to the corpus of answers: a token belongs to the answer if the ids of the whole
-- document are others than those of the text before the answer from there on. The end of a document
-- belongs to its answer.
local function write_answers(writer, part, texts, answers, folder, tokenizer)
  local before = tables.map(texts, function(text, i) return text:sub(1, #text - #answers[i]) end)
  local all, begun = tokenizer:all_ids(texts, folder), tokenizer:all_ids(before, folder)
  for i, ids in ipairs(all) do
    local marks, is_begun = {}, true
    for at, id in ipairs(ids) do
      is_begun = is_begun and begun[i][at] == id
      marks[at] = is_begun and QUESTION or ANSWER
    end
    writer:ids(table.concat(marks, " "))
    writer:end_document(part, #texts[i])
  end
end

-- Writes the corpus, and that of answers if the text has some.
local function tokenize(path, folder, text, key, tokenizer)
  local work <close> = progress.work("text: tokenizing", text.bytes)
  local writer <close> = core.corpus_create(path, #tokenizer.words, key, tokenizer.stop)
  local marker <close> = text.has_answers and core.corpus_create(answers_of(path), ANSWER + 1, key,
    ANSWER) or nil
  for _, part in ipairs { "training", "validation" } do
    local batch, answers, size = {}, {}, 0
    local function flush()
      if #batch > 0 then
        tokenizer:write(writer, part, batch, folder)
        if marker then
          write_answers(marker, part, batch, answers, folder, tokenizer)
        end
        work:add(size)
      end
      batch, answers, size = {}, {}, 0
    end
    each_of(text, part, function(document, answer)
      batch[#batch + 1], size = document, size + #document
      answers[#batch] = answer
      if size >= M.BATCH then
        flush()
      end
    end)
    flush()
  end
  if marker then
    marker:finish() -- first, since a cache with the tokens is complete
  end
  writer:finish()
end

-- Waits for the lock of a name.
local function locked(name)
  local lock = core.lock(name .. ".lock")
  if lock then
    return lock
  end
  local line <close> = progress.display()
  repeat
    line:show(("text: waiting for another process that is writing %s"):format(name))
    clock.sleep(RETRY)
    collectgarbage() -- a lock of this process that an error made garbage
    lock = core.lock(name .. ".lock")
  until lock
  return lock
end

local function is_folder(path)
  local stat = files.stat(path)
  return stat ~= nil and stat.type == "directory"
end

-- The hash of a model of the user: a file, or the folder of a published model.
local function hash_of(path)
  return is_folder(path) and published.hash(path)
    or hash.of(files.read(path) or error("text: no model " .. path, 0))
end

-- Opens a file of the cache. The message of an error adds that the file can be removed.
local function open_kept(open, ...)
  local ok, result = pcall(open, ...)
  if not ok then
    error(diagnostics.is_interrupt(result) and result
      or result .. "; remove it and run again to rebuild it", 0)
  end
  return result
end

--- The tokenizer for options: of bytes, of the user's model, of a published model, or of a model in
--- the cache.
---
--- Errors: a model that is missing, damaged, or not trained by the text task; a folder without a
--- tokenizer, or with one that is not supported.
---@param o table tokenizer and model, as for `open`
---@param name string? of the files in the cache, if `o` has no model
---@return table tokenizer
function M.tokenizer(o, name)
  return o.tokenizer == "bytes" and bytes.new()
    or o.model and (is_folder(o.model) and published.new(o.model) or pieces.new(o.model))
    or open_kept(pieces.new, name .. ".model")
end

-- Removes a folder when it goes out of scope.
local function removal_of(path)
  return setmetatable({}, { __close = function() files.remove(path) end })
end

-- Does the cache contain all files of a name?
local function is_kept(o, name, text)
  return files.stat(name .. ".tokens")
    and (not text.has_answers or files.stat(answers_of(name .. ".tokens")))
    and (o.tokenizer ~= "sentencepiece" or files.stat(name .. ".model"))
end

-- The folder of work files.
local function work_of(name)
  return name .. ".work"
end

-- Removes the work files of a process that was killed after it had written all others. This fails
-- if the cache belongs to another user.
local function tidy(name)
  local lock <close> = core.lock(name .. ".lock")
  if lock then
    files.remove(work_of(name))
  end
end

-- Writes the missing files of a name.
local function make(o, name, folder, text, key)
  local lock <close> = locked(name) -- luacheck: ignore 211
  files.clean(folder, name:match "[^/]*$" .. ".tokens")
  files.clean(folder, name:match "[^/]*$" .. ".model")
  files.clean(folder, answers_of(name:match "[^/]*$" .. ".tokens"))
  local work = work_of(name)
  local _ <close> = removal_of(work)
  files.remove(work)
  files.make(work)
  if is_kept(o, name, text) then
    return
  end
  if o.tokenizer == "sentencepiece" and not files.stat(name .. ".model") then
    train(name .. ".model", work, text, o.vocabulary)
  end
  tokenize(name .. ".tokens", work, text, key, M.tokenizer(o, name))
end

--- The corpus and the tokenizer of text files, from the cache if it has them.
---
--- Errors: files that are not text; a vocabulary too large or too small for the text; a missing
--- program; a full disk; files that change while they are read; a damaged file in the cache.
---@param o table files, documents, validation, tokenizer ("bytes", "sentencepiece", or "model" with
---   `model`, the path of a file or of the folder of a published model), vocabulary (pieces to
---   train), cache (folder)
---@return corpus corpus
---@return table tokenizer
---@return corpus? answers with `M.ANSWER` in the place of each token of an answer; nil without
---   answers
function M.open(o)
  local text = survey(o)
  text.held_out = held_out(text, o.validation)
  local content = o.model and hash_of(o.model)
  local key = core.hash(core.json_encode { version = VERSION, text = hash.digits(text.hash),
    held_out = text.held_out, tokenizer = o.tokenizer, model = content, vocabulary = o.vocabulary })
  local folder = o.cache or M.standard_folder()
  local name = folder .. "/text-" .. hash.digits(key)
  if not is_kept(o, name, text) then
    files.make(folder)
    make(o, name, folder, text, key)
  elseif files.stat(work_of(name)) then
    pcall(tidy, name)
  end
  local corpus = open_kept(core.corpus_open, name .. ".tokens")
  local about = corpus:about()
  local tokenizer = M.tokenizer(o, name)
  if about.key ~= key or about.vocabulary ~= #tokenizer.words then
    error(("text: %s.tokens belongs to another text; remove it and run again to rebuild it")
      :format(name), 0)
  end
  local answers = text.has_answers and open_kept(core.corpus_open, answers_of(name .. ".tokens"))
    or nil
  if answers and answers:about().training.tokens ~= about.training.tokens then
    error(("text: %s belongs to another text; remove it and run again to rebuild it"):format(
      answers_of(name .. ".tokens")), 0)
  end
  return corpus, tokenizer, answers
end

return M
