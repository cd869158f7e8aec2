--- What may come next on the command line, for a shell that completes it: commands, options,
--- experiments, lessons, fields and their values.
local tables = require "roper.base.tables"

local M = {}

-- The options of a command: those that its help names.
local function options_of(command)
  local parser, names = require "argparse"("roper"), { "--load" }
  require("roper.workbench.session.command." .. command).define(parser)
  for name in parser:get_help():gmatch "%f[%S]%-%-[%a-]+" do
    names[#names + 1] = name
  end
  return tables.keys(tables.set(names))
end

-- The experiment that a command line names.
local function experiment_of(words)
  local known = tables.set(require("roper.workbench.study.experiment").list())
  for _, word in ipairs(words) do
    if known[word] then
      return word
    end
  end
  return nil
end

-- The fields of an experiment, each with the values that are listed for it.
local function fields_of(experiment)
  local definition = require("roper.workbench.study.experiment").definition(experiment)
  local fields = require "roper.workbench.study.experiment.fields"
  local values = { preset = tables.keys(definition.presets) }
  for _, field in ipairs(fields.of(definition.task)) do
    values[field[1]] = fields.choices(field)
  end
  return values
end

-- What runs are listed by: their status, and the fields of all experiments.
local function listed_fields()
  local names = require("roper.workbench.study.experiment").list()
  local values = {}
  for _, experiment in ipairs(names) do
    for name, choices in pairs(fields_of(experiment)) do
      values[name] = tables.keys(tables.set(tables.joined(values[name] or {}, choices or {})))
    end
  end
  return tables.merged(values, { experiment = names,
    status = require("roper.workbench.study.runs").STATUSES })
end

-- The fields that a run is measured by again; those of text take what a shell completes.
local function measured_fields(run)
  local is_run, names = pcall(function()
    local config = require("roper.workbench.study.runs").read(run).config
    return require("roper.workbench.study.evaluate").fields(config)
  end)
  local values = {}
  for _, name in ipairs(is_run and names or {}) do
    values[name] = {}
  end
  return values
end

-- Fields that go on, or the values of the one that is given in part: the last of several.
local function field_words(values, word)
  local words = {}
  local field, given = word:match "^([%w_]+)=(.*)$"
  if not field then
    return tables.map(tables.keys(values), function(name) return name .. "=" end)
  end
  for i, value in ipairs(values[field] or {}) do
    words[i] = ("%s=%s%s"):format(field, given:match "^.*[,+:]" or "", value)
  end
  return words
end

-- Lessons, or the steps of the one that is named. What is in a file is not run to tell.
local function lesson_words(words)
  require "roper" -- lessons use the public names
  local lessons = require "roper.workbench.lesson"
  local name = words[3] or ""
  local is_known, lesson = pcall(lessons.find, name)
  if not is_known and not name:find "%.lua$" then
    return lessons.names()
  end
  return is_known and not words[4]
    and tables.map(lesson.steps, function(_, number) return tostring(number) end) or {}
end

-- All words that may stand in the place of the last one, after others.
local function words_after(words, last, commands)
  local command = words[2]
  if not command or command == "help" then
    return { "help", table.unpack(commands) }
  elseif not tables.set(commands)[command] then
    return {}
  elseif last:find "^%-" then
    return options_of(command)
  elseif command == "lesson" then
    return lesson_words(words)
  elseif command == "train" or command == "sweep" or command == "study" then
    local experiment = experiment_of(words)
    local default = command == "study"
      and require("roper.workbench.study.experiment.design").EXPERIMENT
    return tables.joined(experiment and {} or require("roper.workbench.study.experiment").list(),
      (experiment or default) and field_words(fields_of(experiment or default), last) or {})
  elseif command == "runs" then
    return field_words(listed_fields(), last)
  elseif command == "eval" and words[3] then
    return field_words(measured_fields(words[3]), last)
  end
  return {}
end

--- What the last word of a command line may become.
---@param line string up to the cursor
---@param commands string[] there are
---@return string[] words none where it is for a file, or anything else
function M.words(line, commands)
  local words, last = {}, line:match "%S*$"
  for word in line:sub(1, #line - #last):gmatch "%S+" do
    words[#words + 1] = word
  end
  local found = {}
  for _, word in ipairs(words_after(words, last, commands)) do
    found[#found + 1] = word:sub(1, #last) == last and word or nil
  end
  return found
end

return M
