--- Measurements of a language model: loss on the validation documents at several lengths, and
--- samples of generated text. Keeps a copy of the tokenizer in the folder of a run.
local core = require "roper.core"
local experiment = require "roper.workbench.study.experiment"
local files = require "roper.system.file"
local hash = require "roper.base.hash"
local published = require "roper.model.published.files"
local escape = require "roper.base.escape"
local tables = require "roper.base.tables"
local validation = require "roper.training.validation"

local M = {}

-- Samples of a trained model, and the maximum numbers of tokens in a prompt and in its
-- continuation.
local SAMPLES <const>, MOST_PROMPT <const>, MOST_TEXT <const> = 3, 16, 128

-- Added to the run's seed for samples, far from the seeds of training.
local SEED <const> = 1000003

-- The name of the copy of a tokenizer's model contains the hash of its content.
local COPY <const> = "tokenizer-%s.model"

-- The folder, in that of a run, with the files of the published model that it starts from.
local PUBLISHED <const> = "published"

--- Returns the folder in that of a run with config.json and tokenizer of the published model whose
--- tokenizer the run has.
---@param folder string of the run
---@return string? path nil if the run has another tokenizer
function M.published(folder)
  local path = ("%s/%s"):format(folder, PUBLISHED)
  return published.has_model(path) and path or nil
end

--- Copies the tokenizer of a task into the folder of a run, so that the run can encode other text
--- later; of a published model, all files but the weights.
function M.keep_tokenizer(folder, task)
  local path = task:model()
  local stat = path and files.stat(path)
  if stat and stat.type == "directory" then
    local copy = ("%s/%s"):format(folder, PUBLISHED)
    files.make(copy)
    published.copy(tables.joined(published.beside(path),
      files.stat(path .. "/config.json") and { "config.json" }), path, copy)
  elseif path then
    local model = files.read(path) or error("text: no model " .. path, 0)
    files.write(("%s/%s"):format(folder, COPY:format(hash.of(model))), model)
  end
end

--- Returns the tokenizer in the folder of a run, as a value of the text task's option `tokenizer`.
---
--- Errors: the folder has no copy; the copy was changed.
---@param folder string
---@param config table of the run
---@return string tokenizer "bytes", or the path of a model
function M.tokenizer(folder, config)
  if config.tokenizer == "bytes" then
    return "bytes"
  elseif M.published(folder) then
    return M.published(folder)
  end
  for _, name in ipairs(files.names(folder)) do
    local digits = name:match "^tokenizer%-(%x+)%.model$"
    local path = digits and ("%s/%s"):format(folder, name)
    if digits and hash.of(files.read(path) or "") ~= digits then
      error(("text: %s is damaged: its content does not match its name"):format(path), 0)
    elseif digits then
      return path
    end
  end
  error(("text: expected a tokenizer in %s, found no %s"):format(folder, COPY:format "*"), 0)
end

--- Escapes text for files and terminals; the end of a document becomes an empty line.
function M.shown(text)
  return escape.text((text:gsub("%z", "\n\n")))
end

--- Generates text after prompts, which are the beginnings of the first validation rows.
---@param model Transformer
---@param task task of text
---@param config table
---@param count integer prompts
---@return table[] samples {prompt, text} each
function M.write(model, task, config, count)
  local written, size = {}, math.max(1, math.min(MOST_PROMPT, config.length // 4))
  for row in task:validation { batch = 1, limit = count } do
    local prompt = task:decode(row:view { -1 }:narrow(1, 1, size))
    local tokens = task:encode(prompt):count()
    if tokens > 0 and tokens < config.length then
      local texts = require("roper.model.generate").generate(model, { prompt }, { task = task,
        limit = math.min(MOST_TEXT, config.length - tokens), seed = SEED + config.seed })
      written[#written + 1] = { prompt = M.shown(prompt),
        text = M.shown((texts[1]:gsub("%z$", ""))) }
    end
  end
  return written
end

--- Measures a model during training; parameters as for `problems.evaluate`.
---@return table found validation_loss; sample: a prompt and its continuation
function M.evaluate(model, task, config, sequences, beat)
  local found = validation.measure(model, task, { sequences = sequences, batch = config.batch,
    heartbeat = beat })
  local sample = M.write(model, task, config, 1)[1]
  return { validation_loss = found.loss, sample = sample and sample.prompt .. sample.text }
end

-- Measures the loss on longer rows than in training, at each length of which the validation
-- documents fill a row.
local function longer(config, parts, beat)
  local list, changes, times = {}, experiment.longer(config)
  for i, change in ipairs(changes) do
    if parts.task:size().validation.tokens >= change.length then
      local found = validation.measure(parts.model, parts.task, { length = change.length,
        sequences = math.max(1, math.floor(config.test_sequences / times[i])), heartbeat = beat,
        batch = math.max(1, math.floor(config.batch / times[i])) })
      list[#list + 1] = { name = tables.text(change), times = times[i], loss = found.loss,
        perplexity = found.perplexity, bits_per_byte = found.bits_per_byte }
    end
  end
  return list
end

--- Measures how well a trained model predicts text; parameters as for `problems.measure`.
---@return table found as from `validation.measure`; longer: a list of {name, times, loss,
---   perplexity, bits_per_byte} for rows `times` as long, over the same text
function M.predict(config, parts, beat)
  local found = validation.measure(parts.model, parts.task, { sequences = config.test_sequences,
    batch = config.batch, heartbeat = beat })
  found.longer = core.json_array(longer(config, parts, beat))
  found.by_position = core.json_array(found.by_position)
  return found
end

--- Measures a trained model; parameters as for `problems.measure`.
---@return table found as from `predict`
---@return table samples written: a list of {prompt, text}
function M.measure(config, parts, beat)
  return M.predict(config, parts, beat),
    { written = core.json_array(M.write(parts.model, parts.task, config, SAMPLES)) }
end

return M
