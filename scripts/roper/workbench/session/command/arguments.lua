--- Arguments and checks that several commands share.
local options_of = require "roper.options.rows"

local M = {}

-- The modules that declare options of commands.
local DECLARED_IN <const> = { ExportOptions = "roper.model.published.export",
  ExportAttentionOptions = "roper.model.pytorch.attention",
  ReportOptions = "roper.workbench.study.report", SweepOptions = "roper.workbench.study.sweep",
  StudyOptions = "roper.workbench.study.quick_study" }

--- Creates a converter for argparse that accepts the numbers of a kind.
---@param option string its name, for the message
---@param kind string of roper.options.rows, such as "size"
---@return fun(text: string): number?, string? convert returns nil and a message for other text
function M.number(option, kind)
  return function(text)
    local number = tonumber(text)
    number = math.tointeger(number) or number
    local expected = options_of.mismatch(kind, number)
    return not expected and number or nil,
      ("%s: expected %s, got %s"):format(option, expected, text)
  end
end

--- Defines options of a function as options of a command: their kinds, choices and descriptions are
--- those of their rows.
---@param command table of argparse
---@param class string of the options
---@param names table[] each a name, or {name, the word for its value in help}
function M.define_options(command, class, names)
  require(DECLARED_IN[class])
  for _, entry in ipairs(names) do
    local name, word = table.unpack(type(entry) == "table" and entry or { entry, "N" })
    local row = options_of.rows(class)[name]
    local kind, text = row[2], row[4]:gsub("`", "")
    local option = command:option("--" .. name)
      :description(text:sub(1, 1):upper() .. text:sub(2) .. ".")
    if type(kind) == "table" then
      option:choices(kind)
      if type(entry) == "table" then -- in place of the choices, which are in the description
        option:argname(word)
      end
    else
      kind = kind:gsub("%?$", "")
      option:argname(word)
      if kind ~= "string" then
        option:convert(M.number("--" .. name, kind))
      end
    end
  end
end

--- Defines the arguments `field=value`. A field may be set only once.
---@param command table of argparse
---@param name string of the argument, for the usage line
---@param description string
---@param first table? an argument of the command that may be omitted before the fields
function M.define_fields(command, name, description, first)
  local seen = {}
  local function pair(text)
    local field, value = text:match "^([%a_][%w_]*)=(.*)$"
    if not field then
      return nil, ("expected field=value, got '%s'"):format(text)
    elseif seen[field] then
      local is_expanded = value:find "=" and seen[field]:find "="
      return nil, ("field '%s' is given twice%s"):format(field, is_expanded
        and "; shells expand braces with commas, so put the field in single quotes: "
          .. "'position=yarn{factor=4,fast=16}'" or "")
    end
    seen[field] = value
    return { field, value }
  end
  if first then
    first:convert(function(text)
      if text:find "^[%a_][%w_]*=" then
        return pair(text)
      end
      return text
    end)
  end
  command:argument("fields"):args("*"):argname(name):convert(pair):description(description)
end

--- Defines the option --threads of a command that computes in this process.
---@param command table of argparse
---@param default string? the number by default
function M.define_threads(command, default)
  command:option("--threads"):argname("N"):convert(M.number("--threads", "size"))
    :description(("Number of threads; by default %s. With another number, the last bits of results "
      .. "differ."):format(default or "OMP_NUM_THREADS, or that of the machine"))
end

--- Sets the number of threads of this process.
---@param parsed table result of argparse
function M.set_threads(parsed)
  if parsed.threads then
    require("roper.core").threads(parsed.threads)
  end
end

--- Defines the option --from of `train` and `sweep`.
---@param command table of argparse
function M.define_from(command)
  command:option("--from"):argname("RUN")
    :description("Start from the weights of this run, of the trial with the same seed of this "
      .. "sweep, of a file, or of the folder of a published model, which then also sets the sizes, "
      .. "position scheme and tokenizer; the same as from=RUN.")
end

--- Defines the option --no-battery of `train` and `sweep`.
---@param command table of argparse
function M.define_battery(command)
  command:flag("--no-battery"):description("Do not check position schemes that --load defines "
    .. "(roper.position.check), which takes seconds and is done once for each content of the file.")
end

--- Adds the value of --from to the fields of a command.
---@param parsed table result of argparse
---@return string? problem if the field is given, too
function M.add_from(parsed)
  for _, pair in ipairs(parsed.from and parsed.fields or {}) do
    if pair[1] == "from" then
      return "field 'from' is given twice"
    end
  end
  if parsed.from then
    table.insert(parsed.fields, { "from", parsed.from })
  end
  return nil
end

--- The fields of a command as a table.
---@param parsed table result of argparse
---@param first string? name of the argument that may be omitted before the fields
---@return table<string, string> fields
function M.fields(parsed, first)
  local fields = {}
  if type(parsed[first]) == "table" then
    table.insert(parsed.fields, 1, parsed[first])
    parsed[first] = nil
  end
  for _, pair in ipairs(parsed.fields) do
    fields[pair[1]] = pair[2]
  end
  return fields
end

--- Reads the run of an experiment.
---
--- Errors: the folder contains no such run; a name that the run needs is not registered; a file
--- that made the run is loaded with another content.
---@param folder string
---@return Run run
---@return string? note if files that made the run are not loaded, or other ones are
function M.run(folder)
  local expected <const> = "expected the folder of a run, as listed by ./roper runs"
  local files = require "roper.system.file"
  files.check_folder(expected, folder)
  if not files.stat(folder .. "/config.json") then
    error(("%s: %s has no config.json"):format(expected, folder), 0)
  end
  local run = require("roper.workbench.study.run.runs").read(folder)
  if type(run.config.experiment) ~= "string" then
    error(("%s: expected the run of an experiment, got one of roper.train{run = ...}"):format(
      folder), 0)
  end
  local note = require("roper.workbench.study.experiment.needs").check(run)
  return run, note
end

--- Reads a run for evaluation, like `run`, and prints the note.
---@param folder string
---@return Run run
function M.run_with_note(folder)
  local run, note = M.run(folder)
  if note then
    io.stderr:write(note, "\n")
  end
  return run
end

--- Loads the model of a run, or a published model, with its task.
---
--- Errors: as for `run` and `roper.import`.
---@param parsed table result of argparse
---@return Transformer model
---@return task task
---@return string precision of matrix products
function M.model(parsed)
  if require("roper.model.published.files").has_model(parsed.run) then
    local model, task = require("roper.model.published").import(parsed.run)
    return model, task, "float32"
  end
  local run = M.run_with_note(parsed.run)
  local model, task = require("roper.workbench.study.run.runs").model(run, parsed.checkpoint)
  return model, task, run.config.matmul_precision or "float32"
end

--- Defines the arguments of `eval`, `sample` and `export` that name a checkpoint, and --threads.
---@param command table of argparse
---@param is_optional? boolean may the run be left out?
function M.define_run(command, is_optional)
  M.define_threads(command)
  command:argument("run"):argname("RUN"):args(is_optional and "?" or 1)
    :description("The folder of a run, or of a published model: config.json and safetensors files.")
  command:option("--checkpoint"):argname("last|best|STEP"):default("last")
    :convert(function(text)
      local is_one = text == "last" or text == "best" or text:find "^%d+$"
      return is_one and text or nil, ("--checkpoint: expected last, best or the step of a "
        .. "snapshot, got %s"):format(text)
    end)
    :description("The last checkpoint (last), the one with the smallest test loss (best), or the "
      .. "snapshot of a step.")
end

--- Raises an error if trials failed.
---@param count integer
function M.check_failed(count)
  if count > 0 then
    error(("%s failed; rerun the sweep to retry %s"):format(
      require("roper.base.escape").count(count, "trial"), count == 1 and "it" or "them"), 0)
  end
end

return M
