--- What a run of a language model is measured by: loss on the validation documents, in several
--- lengths, and what it writes.
local core = require "roper.core"
local experiment = require "roper.workbench.study.experiment"
local files = require "roper.base.file"
local hash = require "roper.base.hash"
local escape = require "roper.base.escape"
local tables = require "roper.base.tables"
local validation = require "roper.training.validation"

local M = {}

-- Beginnings that are gone on with at the end, tokens of each, and after it, at most.
local PROMPTS <const>, PROMPT <const>, MOST <const> = 3, 16, 128

-- Draws are of the run's seed, far from those of training.
local SEED <const> = 1000003

-- The copy of a tokenizer's model in the folder of a run has the hash of its content in its name.
local COPY <const> = "tokenizer-%s.model"

--- Keep the tokenizer of a task in the folder of a run, for whatever text it is asked about later.
---@param folder string
---@param task TextTask
function M.keep_tokenizer(folder, task)
  local path = task:model()
  if path then
    local model = files.read(path) or error("text: no model " .. path, 0)
    files.write(("%s/%s"):format(folder, COPY:format(hash.of(model))), model)
  end
end

--- The tokenizer that was kept in the folder of a run, as the text task takes it.
---
--- Errors: a run that kept none, or whose copy was changed.
---@param folder string
---@param config table of the run
---@return string tokenizer "bytes", or the path of a model
function M.tokenizer(folder, config)
  if config.tokenizer == "bytes" then
    return "bytes"
  end
  for _, name in ipairs(files.names(folder)) do
    local digits = name:match "^tokenizer%-(%x+)%.model$"
    local path = digits and ("%s/%s"):format(folder, name)
    if digits and hash.of(files.read(path) or "") ~= digits then
      error(("text: %s: damaged: its content is not that of its name"):format(path), 0)
    elseif digits then
      return path
    end
  end
  error(("text: no tokenizer in %s: there is no %s"):format(folder, COPY:format "*"), 0)
end

--- Text as files and terminals keep it, the ends of documents as empty lines.
---@param text string
---@return string
function M.shown(text)
  return escape.text((text:gsub("%z", "\n\n")))
end

--- What a model writes after the beginnings of the first validation rows.
---@param model Transformer
---@param task TextTask
---@param config table
---@param count integer of the beginnings
---@return table[] written {prompt, text}
function M.write(model, task, config, count)
  local written, size = {}, math.max(1, math.min(PROMPT, config.length // 4))
  for row in task:validation { batch = 1, most = count } do
    local prompt = task:decode(row:view { -1 }:narrow(1, 1, size))
    local tokens = task:encode(prompt):count()
    if tokens > 0 and tokens < config.length then
      local texts = require("roper.model.generate").generate(model, { prompt }, { task = task,
        most = math.min(MOST, config.length - tokens), seed = SEED + config.seed })
      written[#written + 1] = { prompt = M.shown(prompt),
        text = M.shown((texts[1]:gsub("%z$", ""))) }
    end
  end
  return written
end

--- What is looked at while a model is trained.
---@param model Transformer
---@param task TextTask
---@param config table
---@param sequences integer for the loss
---@param beat function called now and then
---@return table found validation_loss; sample: a beginning with what the model writes after it
function M.look(model, task, config, sequences, beat)
  local found = validation.measure(model, task, { sequences = sequences, batch = config.batch,
    beat = beat })
  local sample = M.write(model, task, config, 1)[1]
  return { validation_loss = found.loss, sample = sample and sample.prompt .. sample.text }
end

-- The loss on rows longer than those of training, where the validation documents have one.
local function longer(config, parts, beat)
  local list, changes, times = {}, experiment.longer(config)
  for i, change in ipairs(changes) do
    if parts.task:size().validation.tokens >= change.length then
      local found = validation.measure(parts.model, parts.task, { length = change.length,
        sequences = math.max(1, config.test_sequences // times[i]), beat = beat,
        batch = math.max(1, config.batch // times[i]) })
      list[#list + 1] = { name = tables.text(change), times = times[i], loss = found.loss,
        perplexity = found.perplexity, bits_per_byte = found.bits_per_byte }
    end
  end
  return list
end

--- How well a trained model predicts text.
---@param config table
---@param parts table model, task, as from `experiment.build`
---@param beat function called now and then
---@return table found as from `validation.measure`; longer: {name, times, loss, perplexity,
---   bits_per_byte} of rows so many times as long, over the same text
function M.predict(config, parts, beat)
  local found = validation.measure(parts.model, parts.task, { sequences = config.test_sequences,
    batch = config.batch, beat = beat })
  found.longer = core.json_array(longer(config, parts, beat))
  found.by_position = core.json_array(found.by_position)
  return found
end

--- What a trained model makes of text.
---@param config table
---@param parts table model, task, as from `experiment.build`
---@param beat function called now and then
---@return table found as from `predict`
---@return table samples written: {prompt, text} each
function M.measure(config, parts, beat)
  return M.predict(config, parts, beat),
    { written = core.json_array(M.write(parts.model, parts.task, config, PROMPTS)) }
end

--- What was found, on a line. A number that was not finite is not there in a result of a file.
---@param found table
---@return string
function M.told(found)
  local function number(value, form)
    return value and form:format(value) or "-"
  end
  return ("loss %s, perplexity %s, %s bits per byte"):format(number(found.loss, "%.4f"),
    number(found.perplexity, "%.2f"), number(found.bits_per_byte, "%.4f"))
end

return M
