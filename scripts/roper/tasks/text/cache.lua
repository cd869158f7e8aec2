--- Text as a corpus: read, tokenized once, and kept by the hash of its content and settings. All
--- that is kept is written whole or not at all; what a killed process left is made again.
local bytes = require "roper.tasks.text.bytes"
local core = require "roper.core"
local diagnostics = require "roper.base.diagnostics"
local files = require "roper.base.file"
local hash = require "roper.base.hash"
local model = require "roper.tasks.text.model"
local pieces = require "roper.tasks.text.pieces"
local progress = require "roper.base.progress"
local source = require "roper.tasks.text.source"
local terminal = require "roper.base.terminal"
local uv = require "luv"

local M = {}

-- It is part of every key: another one where the same settings make something else.
local VERSION <const> = 1

-- The documents for validation are the same for every seed of a task.
local SPLIT <const> = 7

--- Bytes of text that are tokenized at a time, and that a vocabulary is learnt from, at most.
M.BATCH, M.SAMPLE = 8000000, 50000000

-- Milliseconds between two looks for another process that makes the same.
local LOOK <const> = 100

--- The folder for what is kept where none is named.
---@return string folder below $XDG_CACHE_HOME or ~/.cache
function M.standard_folder()
  local cache, home = os.getenv "XDG_CACHE_HOME", os.getenv "HOME"
  if not cache or cache == "" then
    cache = (home or error("text: where to keep the tokens? set HOME, or the option cache", 0))
      .. "/.cache"
  end
  return cache .. "/roper"
end

-- What one reading of the text found.
local function survey(o)
  local text = { bytes = 0, documents = 0 }
  text.list, text.size = source.list(o.files, o.documents)
  local work <close> = progress.work("text: reading", text.size)
  text.hash = source.each(text.list, function(document)
    text.documents = text.documents + 1
    text.bytes = text.bytes + #document
    text.has_space = text.has_space or document:find(model.SPACE, 1, true) ~= nil
  end, function(count)
    work:add(count)
  end)
  return text
end

-- How many documents are for validation: the share, but not all and not none of several.
local function held_out(text, share)
  if share == 0 or share == 1 then
    return text.documents * math.tointeger(share)
  elseif text.documents == 1 then
    error("text: one document cannot be split into training and validation; choose validation = 0, "
      .. 'or documents = "paragraphs"', 0)
  end
  return math.min(text.documents - 1, math.max(1, math.floor(share * text.documents + 0.5)))
end

-- Read again, and visit the documents of a part.
local function each_of(text, part, visit)
  local number = 0
  local found = source.each(text.list, function(document)
    number = number + 1
    local is_held = number <= text.documents
      and core.random_permuted(SPLIT, text.documents, number) <= text.held_out
    if is_held == (part == "validation") then
      visit(document)
    end
  end, function() end)
  if found ~= text.hash then
    error("text: the files were changed while they were read", 0)
  end
end

-- Train a model on documents for training, evenly spaced where they are many.
local function train(path, folder, text, vocabulary)
  local every, number, sample, size = math.ceil(text.bytes / M.SAMPLE), 0, {}, 0
  each_of(text, "training", function(document)
    number = number + 1
    if number % every == 0 then
      sample[#sample + 1], size = document, size + #document
    end
  end)
  local line = terminal.progress()
  if size > 1e6 then
    line:update(("text: learning %d pieces from %.1f MB"):format(vocabulary, size / 1e6))
  end
  local ok, problem = pcall(pieces.train, path, folder, vocabulary, sample)
  line:finish()
  if not ok then
    error(problem, 0)
  end
end

-- Write the corpus.
local function tokenize(path, folder, text, key, tokenizer)
  local work <close> = progress.work("text: tokens", text.bytes)
  local writer <close> = core.corpus_create(path, #tokenizer.words, key)
  for _, part in ipairs { "training", "validation" } do
    local batch, size = {}, 0
    local function flush()
      if #batch > 0 then
        tokenizer:write(writer, part, batch, folder)
        work:add(size)
      end
      batch, size = {}, 0
    end
    each_of(text, part, function(document)
      batch[#batch + 1], size = document, size + #document
      if size >= M.BATCH then
        flush()
      end
    end)
    flush()
  end
  writer:finish()
end

-- The lock on what has this name, waited for.
local function locked(name)
  local lock, line = core.lock(name .. ".lock"), terminal.progress()
  while not lock do
    line:update(("text: another process makes %s"):format(name))
    uv.sleep(LOOK)
    lock = core.lock(name .. ".lock")
  end
  line:finish()
  return lock
end

--- The tokenizer.
---
--- Errors: a model that is missing, damaged, or of another kind.
---@param o table tokenizer, model, as for `open`
---@param trained string? the path of a model that is trained on the text
---@return table tokenizer
function M.tokenizer(o, trained)
  return o.tokenizer == "bytes" and bytes.new() or pieces.new(o.model or trained)
end

-- What was kept, or why it cannot be read.
local function kept(open, ...)
  local ok, result = pcall(open, ...)
  if not ok then
    error(diagnostics.is_interrupt(result) and result
      or result .. "; remove it, and it is made again", 0)
  end
  return result
end

-- The tokenizer of the user, or the one that was kept.
local function tokenizer_of(o, name)
  return o.model and M.tokenizer(o) or kept(M.tokenizer, o, name .. ".model")
end

-- A folder to work in, which is gone when it goes out of scope.
local function workshop(path)
  files.remove(path)
  files.make(path)
  return setmetatable({}, { __close = function() files.remove(path) end })
end

-- Is all there that belongs to this name?
local function is_kept(o, name)
  return files.stat(name .. ".tokens")
    and (o.tokenizer ~= "sentencepiece" or files.stat(name .. ".model"))
end

-- Make what is missing.
local function make(o, name, folder, text, key)
  local lock <close> = locked(name) -- luacheck: ignore 211
  files.clean(folder, name:match "[^/]*$" .. ".tokens")
  files.clean(folder, name:match "[^/]*$" .. ".model")
  local work = name .. ".work"
  local _ <close> = workshop(work)
  if is_kept(o, name) then
    return
  end
  if o.tokenizer == "sentencepiece" and not files.stat(name .. ".model") then
    train(name .. ".model", work, text, o.vocabulary)
  end
  tokenize(name .. ".tokens", work, text, key, tokenizer_of(o, name))
end

--- The corpus of some text.
---
--- Errors: what is no text; a vocabulary that the text does not allow; a program that is missing; a
--- disk that fills; files that change meanwhile; a kept file that was damaged.
---@param o table files, documents, validation, tokenizer: "bytes", "sentencepiece", or "model" with
---   model: a path; vocabulary: pieces of a trained one; cache: folder
---@return corpus corpus
---@return table tokenizer
function M.open(o)
  local text = survey(o)
  text.held_out = held_out(text, o.validation)
  local content = o.model and hash.of(files.read(o.model) or error("text: no model " .. o.model, 0))
  -- Texts with U+2581 were tokenized in another way before: they alone have another key.
  local key = core.hash(core.json_encode { version = VERSION, text = hash.digits(text.hash),
    held_out = text.held_out, tokenizer = o.tokenizer, model = content, vocabulary = o.vocabulary,
    keeps_space = o.tokenizer ~= "bytes" and text.has_space or nil })
  local folder = o.cache or M.standard_folder()
  local name = folder .. "/text-" .. hash.digits(key)
  if not is_kept(o, name) then
    files.make(folder)
    make(o, name, folder, text, key)
  end
  local corpus = kept(core.corpus_open, name .. ".tokens")
  local about = corpus:about()
  local tokenizer = tokenizer_of(o, name)
  if about.key ~= key or about.vocabulary ~= #tokenizer.words then
    error(("text: %s.tokens belongs to another text; remove it, and it is made again"):format(name),
      0)
  end
  return corpus, tokenizer
end

return M
