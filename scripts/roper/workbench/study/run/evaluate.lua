--- Measurement of the model of a run on other text or other problems.
local experiment = require "roper.workbench.study.experiment"
local language = require "roper.workbench.study.run.language"
local problems = require "roper.workbench.study.run.problems"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"
local tasks = require "roper.tasks"
local scoped = require "roper.base.scoped"

local M = {}

-- The fields for a run on text: a file, which is measured completely, its division into documents,
-- tokens in a row, and the maximum number of rows.
local TEXT <const> = { "text", "documents", "length", "test_sequences" }

--- Returns the fields that `configure` takes for a run: for problems, the options of the task and
--- the number of problems and sequences; for text, the file and its rows.
function M.fields(config)
  local task = experiment.definition(config.experiment).task
  if not tasks.has_problems(task) then
    return TEXT
  end
  local names = tables.map(tasks.options(task), function(row) return row[1] end)
  return tables.joined(names, { "problems", "test_sequences" })
end

--- Returns the configuration of a run with some fields changed.
---
--- Errors: a field is unknown; a value does not fit its field.
---@param run Run
---@param fields table new values as strings; for a run on text, `text` is a file or a folder
---@return table config
function M.configure(run, fields)
  local names = M.fields(run.config)
  local known, given = tables.set(names), tables.merged(run.config, fields)
  for name in pairs(fields) do
    if not known[name] then
      error(("eval: cannot set %s%s"):format(name, suggest.hint(name, names, "it takes")), 0)
    end
  end
  if fields.text then
    given.files, given.documents, given.hash = fields.text, fields.documents, nil
    given.validation, given.tokenizer = 1, language.tokenizer(run.folder, run.config)
    given.test_sequences = fields.test_sequences or math.maxinteger
  end
  given.experiment, given.text = nil, nil
  return experiment.configure(run.config.experiment, given)
end

-- Creates the task of a configuration. Raises an error if its vocabulary differs from the run's.
local function task_of(config, run, own)
  local task = experiment.task(config)
  local words, known = task:vocabulary(), own:vocabulary()
  if table.concat(words, "\n") ~= table.concat(known, "\n") then
    error(("%s was trained on a vocabulary of %d tokens; this task has another one, of %d"):format(
      run.folder, #known, #words), 0)
  end
  return task
end

--- Measures the model of a run.
---
--- Errors: the task has another vocabulary; the text is missing or shorter than a row; the run has
--- no checkpoint.
---@param run Run
---@param which "last"|"best"|integer checkpoint, or the step of a snapshot
---@param config table from `configure`
---@return table found as from `problems.measure` or `language.predict`
function M.run(run, which, config)
  local model, own = require("roper.workbench.study.run.runs").model(run, which)
  local parts = { model = model, task = task_of(config, run, own), trained = own }
  local measure = own:has_problems() and problems.measure or language.predict
  return (scoped.with_matmul_precision(config.matmul_precision or "float32", function()
    return measure(config, parts, function() end)
  end))
end

--- The fields that `published` takes.
M.PUBLISHED = { "text", "length", "test_sequences" }

local KINDS <const> = { text = "string", length = "size?", test_sequences = "size?" }

-- Tokens in a row, if the model can read so many.
local LENGTH <const> = 257

--- Measures a published model on a text.
---
--- Errors: a field is unknown or has another kind; the folder or the text cannot be read; the text
--- is shorter than a row, or a row longer than the positions of the model.
---@param folder string
---@param fields table<string, string> text: a file or folder; length: tokens in a row;
---   test_sequences: maximum number of rows
---@return table found as from `validation.measure`; bits_per_byte only with a tokenizer
function M.published(folder, fields)
  if not fields.text then
    error("eval: expected text=FILE, the text on which to measure the model", 0)
  end
  local given = tables.merged(fields, { length = tonumber(fields.length) or fields.length,
    test_sequences = tonumber(fields.test_sequences) or fields.test_sequences })
  local o = require("roper.options.rows").check("eval", given, KINDS, 0)
  local source = require "roper.tasks.text.source"
  local documents = {}
  source.each(source.list({ o.text }, "file"), function(document)
    documents[#documents + 1] = document
  end, function() end)
  local model, task = require("roper.model.published").import(folder)
  local positions = model.options.length
  if o.length and positions and o.length > positions + 1 then -- the last token is only predicted
    error(("eval: length: expected rows of at most %d tokens, for the %d positions of this model, "
      .. "got %d"):format(positions + 1, positions, o.length), 0)
  end
  local rows = task:read(table.concat(documents, "\n"))
  local length = o.length or math.min(LENGTH, positions or LENGTH)
  local found = require("roper.training.validation").measure(model, rows, { length = length,
    sequences = o.test_sequences })
  found.bits_per_byte = task:has_tokenizer() and found.bits_per_byte or nil
  found.longer = {}
  return found
end

return M
