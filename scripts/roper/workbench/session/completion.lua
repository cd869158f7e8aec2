--- Completion of the command line in a shell: commands, options, experiments, lessons, fields and
--- their values.
local tables = require "roper.base.tables"

local M = {}

-- The options of a command, read from its help.
local function options_of(command)
  local parser, names = require "argparse"("roper"), { "--load" }
  require("roper.workbench.session.command." .. command).define(parser)
  for name in parser:get_help():gmatch "%f[%S]%-%-[%a-]+" do
    names[#names + 1] = name
  end
  return tables.keys(tables.set(names))
end

-- The fields of an experiment, each with its listed values.
local function fields_of(experiment)
  local definition = require("roper.workbench.study.experiment").definition(experiment)
  local fields = require "roper.workbench.study.experiment.fields"
  local values = { preset = tables.keys(definition.presets) }
  for _, field in ipairs(fields.of(definition.task, definition.model)) do
    values[field[1]] = fields.choices(field)
  end
  return values
end

-- The fields by which runs are selected: the status, and the fields of all experiments.
local function run_fields(experiments)
  local values = {}
  for _, experiment in ipairs(experiments) do
    for name, choices in pairs(fields_of(experiment)) do
      values[name] = tables.keys(tables.set(tables.joined(values[name] or {}, choices)))
    end
  end
  return tables.merged(values, { experiment = experiments,
    status = require("roper.workbench.study.run.runs").STATUSES })
end

-- The fields that `eval` can change in a run, each with its listed values.
local function eval_fields(run)
  local is_run, values = pcall(function()
    local evaluate = require "roper.workbench.study.run.evaluate"
    if require("roper.model.published.files").has_model(run) then
      return tables.set(evaluate.PUBLISHED)
    end
    local config = require("roper.workbench.study.run.runs").read(run).config
    local known, values = fields_of(config.experiment), {}
    for _, name in ipairs(evaluate.fields(config)) do
      values[name] = known[name] or {}
    end
    return values
  end)
  return is_run and values or {}
end

-- Completions of a field, or of its value after "="; in a list, of the last value.
local function field_words(values, word)
  local field, given = word:match "^([%w_]+)=(.*)$"
  if not field then
    return tables.map(tables.keys(values), function(name) return name .. "=" end)
  end
  local list = type(values[field]) == "table" and values[field] or {}
  local found, start = require("roper.position.text").completions(given, list)
  return tables.map(found, function(value) return word:sub(1, #word - #start) .. value end)
end

-- The methods of the sweep among the words of `roper report`. Names with spaces are left out,
-- because the shell would split them.
local function methods_of(words)
  for i = 3, #words do
    local is_sweep, sweep = pcall(require("roper.workbench.study.sweep").read, words[i])
    if is_sweep then
      return tables.map(sweep.methods, function(name) return not name:find "%s" and name or nil end)
    end
  end
  return {}
end

-- Lessons, or the steps of the given lesson. A lesson in a file is not loaded.
local function lesson_words(words)
  require "roper" -- lessons use the public names
  local lessons = require "roper.workbench.lesson"
  local name = words[3] or ""
  local is_known, lesson = pcall(lessons.find, name)
  if not is_known and not name:find "%.lua$" then
    return tables.joined(lessons.names(), { "glossary", "sources" })
  end
  return is_known and not words[4]
    and tables.map(lesson.steps, function(_, number) return tostring(number) end) or {}
end

-- Runs a user's file without what it prints, and without errors.
local function run_silently(path)
  local shown, write = print, io.write
  _G.roper, _G.print = require "roper", function() end
  rawset(io, "write", function() return io.stdout end)
  pcall(require("roper.options.load_option").run, path)
  _G.print = shown
  rawset(io, "write", write)
end

-- All words that may follow `words`; `last` is the beginning of the word.
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
  elseif command == "report" then
    local option = words[#words]
    return (option == "--method" or option == "--baseline") and methods_of(words) or {}
  elseif command == "eval" and words[3] then
    return field_words(eval_fields(words[3]), last)
  end
  local experiments = require("roper.workbench.study.experiment").list()
  if command == "runs" then
    return field_words(run_fields(experiments), last)
  elseif command == "train" or command == "sweep" or command == "study" then
    local given = tables.set(words)
    for _, experiment in ipairs(experiments) do
      if given[experiment] then
        return field_words(fields_of(experiment), last)
      end
    end
    local default = require("roper.workbench.study.experiment.design").EXPERIMENT
    return tables.joined(experiments,
      command == "study" and field_words(fields_of(default), last) or {})
  end
  return {}
end

-- Runs the files of --load, without output, so that their names are completed. Returns the other
-- words; nil if the next word is the name of a file.
local function without_loads(words)
  local rest, i = {}, 1
  while words[i] do
    local path = words[i]:match "^%-%-load=(.*)$"
    if words[i] == "--load" then
      i = i + 1
      path = words[i]
      if not path then
        return nil
      end
    end
    if path then
      run_silently(path)
    else
      rest[#rest + 1] = words[i]
    end
    i = i + 1
  end
  return rest
end

--- The completions of the last word of a command line, without a quote at its beginning. Files
--- after --load are run.
---@param line string up to the cursor
---@param commands string[] names of all commands
---@return string[] words empty if the shell should complete a file name
function M.words(line, commands)
  local words, before, last = {}, line:match "^(.-)['\"]?(%S*)$"
  for word in before:gmatch "%S+" do
    words[#words + 1] = word
  end
  words = without_loads(words)
  local found = {}
  for _, word in ipairs(words and words_after(words, last, commands) or {}) do
    found[#found + 1] = word:sub(1, #last) == last and word or nil
  end
  return found
end

return M
