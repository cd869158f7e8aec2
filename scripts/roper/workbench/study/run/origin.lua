--- The origin of a run that starts from the weights of another one (the field `from`): finds them,
--- identifies them by their content, and copies them into a model.
local as_stored = require("roper.workbench.study.experiment.position").as_stored
local core = require "roper.core"
local escape = require "roper.base.escape"
local experiment = require "roper.workbench.study.experiment"
local files = require "roper.system.file"
local hash = require "roper.base.hash"
local of_experiment = require "roper.workbench.study.experiment.published"
local published = require "roper.model.published"
local configuration = require "roper.workbench.study.experiment.configuration"
local sweep_file = require "roper.workbench.study.run.sweep_file"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"
local tensor_file = require "roper.tensor.file"
local traverse = require "roper.model.traverse"

local M = {}

--- Name of the file with the origin in the folder of a run.
M.FILE = "origin.json"

local CHECKPOINT <const> = "checkpoint.safetensors"
local PREFIX <const> = "model." -- of the parameters in a checkpoint
local MOST_NAMES <const> = 8 -- of parameters in a note

local function fail(text, ...)
  error(("from: " .. text):format(...), 0)
end

-- Returns the name of a path's last part, and the folder that contains it.
local function split(path)
  local name = path:match "([^/]+)/*$" or path
  return name, path:match "^(.-)/*[^/]+/*$" or ""
end

-- Returns the content of config.json in the folder of a run; nil in any other folder.
local function about(folder)
  local content = files.decode(folder .. "/config.json")
  return content and type(content.config) == "table" and content.config or nil
end

-- Returns the trials of a sweep, or of one method of it: SWEEP/METHOD.
local function trials_of(from)
  local stat = files.stat(from)
  if stat then
    return stat.type == "directory" and sweep_file.read(from)
      or fail("expected a run, a sweep, a published model or a file of weights, got %s",
        escape.line(from))
  end
  if from == "" then
    fail("expected a run, a sweep, a published model or a file of weights, got an empty name")
  end
  local method, folder = split(from)
  local trials = folder ~= "" and files.stat(folder) and sweep_file.read(folder)
  if not trials then
    files.check_folder("from", from)
  end
  method = as_stored(method)
  local list = tables.map(trials, function(trial)
    return trial.config.position == method and trial or nil
  end)
  return list[1] and list or fail("%s has no trial with position=%s", escape.line(folder), method)
end

local function names_of(trials)
  return escape.line(table.concat(tables.map(trials, function(trial)
    return trial.name
  end), ", "))
end

-- Returns the trial of a sweep with the seed of a configuration; of several, the one with its
-- position.
local function trial_of(from, config)
  local trials = trials_of(from)
  local list = tables.map(trials, function(trial)
    return trial.config.seed == config.seed and trial or nil
  end)
  if not list[1] then
    fail("%s has no trial of seed %d; it has %s", escape.line(from), config.seed, names_of(trials))
  end
  local same = tables.map(list, function(trial)
    return trial.config.position == config.position and trial or nil
  end)
  if #list > 1 and #same ~= 1 then
    fail("%s has several trials of seed %d: %s; name one of them, or a method, such as %s/%s",
      escape.line(from), config.seed, names_of(list), escape.line(from:gsub("/+$", "")),
      list[1].config.position)
  end
  return #list > 1 and same[1] or list[1]
end

-- Finds the file with the weights for a configuration. Returns its path, the name of the run or
-- file, and the configuration of the run.
local function find(config)
  local from = config.from
  local stat = files.stat(from)
  if stat and stat.type == "file" then
    return from, (split(from))
  end
  local folder, source = from, stat and about(from)
  if not source then
    local trial = trial_of(from, config)
    folder, source = trial.folder, trial.config
  end
  local path = folder .. "/" .. CHECKPOINT
  if not files.stat(path) then
    fail("%s has no %s", escape.line(folder), CHECKPOINT)
  end
  return path, (split(folder)), source
end

-- Returns the hash of the parameters in the bytes of a safetensors file: of their names, types,
-- shapes and values in the order of the names.
local function hash_of(path, bytes, prefix)
  local length = #bytes >= 8 and ("<I8"):unpack(bytes) or 0
  local header = math.ult(length, #bytes) and files.parse(bytes:sub(9, 8 + length))
    or fail("%s is damaged", escape.line(path))
  local digest = core.hash ""
  for _, name in ipairs(tables.keys(header)) do
    local entry = header[name]
    if name:sub(1, #prefix) == prefix and name ~= "__metadata__" then
      local first, last = entry.data_offsets[1], entry.data_offsets[2]
      digest = core.hash(("%s %s [%s] "):format(name:sub(#prefix + 1), entry.dtype,
        table.concat(entry.shape, ",")), digest)
      digest = core.hash(bytes:sub(9 + length + first, 8 + length + last), digest)
    end
  end
  return hash.digits(digest)
end

-- Reads the weights of a published model; returns as `read`.
local function read_published(folder, config)
  local model = published.read(folder, { pairing = config.pairing })
  local digest = core.hash ""
  for _, name in ipairs(files.names(folder)) do
    if name:find "%.safetensors$" then
      local path = ("%s/%s"):format(folder, name)
      digest = core.hash(hash_of(path, files.read(path), ""), digest)
    end
  end
  return published.parameters(folder, model),
    ("%s weights %s"):format(split(folder), hash.digits(digest)), folder
end

-- Reads the weights for a configuration. Returns the tensors of the parameters by name, the text
-- that identifies them, the path of their file, and the configuration of their run.
local function read(config)
  local folder = of_experiment.folder(config.from)
  if folder then
    return read_published(folder, config)
  end
  local path, name, source = find(config)
  local bytes = files.read(path)
  local tensors, metadata = tensor_file.load_safetensors(path)
  local prefix = metadata.roper == "training" and PREFIX or ""
  local step = prefix ~= "" and require("roper.model.checkpoint").training_step(path)
  local parameters = {}
  for key, tensor in pairs(tensors) do
    if key:sub(1, #prefix) == prefix then
      parameters[key:sub(#prefix + 1)] = tensor
    end
  end
  return parameters, ("%s%s%s weights %s"):format(name,
    source and " trial " .. configuration.hash(source) or "", step and " step " .. step or "",
    hash_of(path, bytes, prefix)), path, source
end

-- Returns the tokens of a configuration's task, as one text; nil for text, whose tokenizer is not
-- known here, and for an experiment that is not registered.
local function tokens_of(config)
  local ok, words = pcall(function()
    return experiment.has_problems(config) and experiment.task(config):vocabulary()
  end)
  return ok and words and table.concat(words, "\n") or nil
end

-- Returns a warning if the source has other tokens with the same numbers, or "".
local function warning_of(config, source, taken)
  local here = source and tables.set(taken)["embedding.weight"] and tokens_of(config)
  local there = here and tokens_of(source)
  return here and there and here ~= there
    and ("; its vocabulary differs: its embeddings belong to the tokens of %s"):format(
      escape.line(tostring(source.experiment))) or ""
end

local known = {} -- origins by path, size and time; the trials of a seed share a source

--- Adds the origin of the weights to a configuration that has the field `from`, unless it is there:
--- the name and the trial's hash of the run, its step, and the hash of the weights.
---
--- Errors: `from` is not a run, a sweep or a file of weights; the sweep has no trial of the seed,
--- or several of other positions; the run has no checkpoint.
---@param config table from `experiment.configure`
---@return table config
function M.complete(config)
  if not config.from or config.origin then
    return config
  end
  if of_experiment.folder(config.from) then
    return tables.merged(config, { origin = select(2, read(config)) })
  end
  local path = find(config)
  local stat = files.stat(path)
  local key = ("%s %d %d %d"):format(path, stat.size, stat.mtime.sec, stat.mtime.nsec)
  known[key] = known[key] or select(2, read(config))
  return tables.merged(config, { origin = known[key] })
end

-- Lists names in a note.
local function listed(names)
  local shown = table.concat(names, ", ", 1, math.min(#names, MOST_NAMES))
  return #names > MOST_NAMES and ("%s and %d more"):format(shown, #names - MOST_NAMES) or shown
end

local function described(name, tensor)
  return ("%s [%s]"):format(name, table.concat(tensor:shape(), ", "))
end

-- The tensors of a model with a row for each position. A prefix of them fits any number of tokens.
local function position_tables(model)
  local found = {}
  traverse.walk(model, function(_, value)
    if schemes.is_scheme(value) and value.name == "learned" then
      found[value.table] = true
    end
  end)
  return found
end

-- The parts of two tensors that are copied, and a note if they are not the whole; nil if none are.
local function common(name, here, there, has_positions)
  if not there or there:dtype() ~= here:dtype() then
    return nil
  end
  local own, other = here:shape(), there:shape()
  if table.concat(own, " ") == table.concat(other, " ") then
    return { here, there }
  elseif has_positions and #other == 2 and own[2] == other[2] then
    local count = math.min(own[1], other[1])
    return { here:detach():narrow(1, 1, count), there:narrow(1, 1, count) },
      ("%s (positions 0 to %d; %d there, %d here)"):format(name, count - 1, other[1], own[1])
  end
end

--- Copies the weights of a configuration's origin into a model: every parameter that both have with
--- the same shape and type, and of learned position embeddings the positions that both have.
---
--- Errors: the weights are others than when the configuration was made; no parameter fits.
---@param config table from `complete`
---@param model Module
---@return table about from, origin; taken: names of parameters; new: those that only the model
---   has; unused: those that only the origin has, with their shapes; partly: those of which only
---   some positions are taken
---@return string note
function M.load(config, model)
  local tensors, text, path, source = read(config)
  if text ~= config.origin then
    fail("%s has other weights (%s) than when this run was defined (%s); start a new run",
      escape.line(config.from), text, config.origin)
  end
  local found = { from = config.from, origin = text, taken = core.json_array {},
    new = core.json_array {}, unused = core.json_array {}, partly = core.json_array {} }
  local pairs_of, of_positions = {}, position_tables(model)
  for _, entry in ipairs(model:named_parameters()) do
    local pair, part = common(entry.name, entry.tensor, tensors[entry.name],
      of_positions[entry.tensor])
    if pair then
      table.insert(found.taken, entry.name)
      table.insert(found.partly, part)
      table.insert(pairs_of, pair)
      tensors[entry.name] = nil
    else
      table.insert(found.new, described(entry.name, entry.tensor))
    end
  end
  for _, name in ipairs(tables.keys(tensors)) do
    table.insert(found.unused, described(name, tensors[name]))
  end
  local here = #found.new > 0 and ("; new here: " .. listed(found.new)) or ""
  local there = #found.unused > 0 and ("; not used: " .. listed(found.unused)) or ""
  local partly = #found.partly > 0 and ("; in part: " .. listed(found.partly)) or ""
  if not pairs_of[1] then
    fail("%s and this model have no parameter of the same name and shape%s%s", escape.line(path),
      here, there)
  end
  for _, pair in ipairs(pairs_of) do
    pair[1]:copy(pair[2])
  end
  found.changes = core.json_array(experiment.changes(config))
  local differs = found.changes[1]
    and "; set otherwise: " .. table.concat(found.changes, ", ") or ""
  return found, ("starts from %s: %d of %d parameters taken%s%s%s%s%s; the optimizer starts fresh")
    :format(escape.line(path), #pairs_of, #pairs_of + #found.new, partly, here, there,
      escape.line(differs), warning_of(config, source, found.taken))
end

return M
