--- Settings of modules: fields other than tensors and modules that change what a module computes,
--- such as `epsilon` of a norm. A class names them in its list `settings`. Files contain them, so
--- that a setting that was assigned after a module was created is not lost.
local options_of = require "roper.options.rows"
local position = require "roper.position"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"

local M = {}

---@class ModuleSetting
---@field [1] string name, such as "norm.epsilon"
---@field [2] any value in a form that JSON can represent; nil if the field is not set

--- The options of a Transformer, with the values that the model has for those that are not set.
---@param options table
---@return table completed
function M.completed(options)
  local o = options_of.completed("TransformerOptions", options)
  o.d_ff, o.kv_heads = o.d_ff or 4 * o.d_model, o.kv_heads or o.heads
  o.head_dim = o.head_dim or o.d_model // o.heads
  o.attention_scale = o.attention_scale or o.head_dim ^ -0.5
  o.attention_softcap, o.logits_softcap = o.attention_softcap or 0, o.logits_softcap or 0
  o.qk_norm, o.short_convolution = o.qk_norm or "none", o.short_convolution or 0
  o.norm_epsilon = o.norm_epsilon or 1e-5
  for _, name in ipairs { "attention_bias", "feed_forward_bias", "logits_bias" } do
    o[name] = o[name] or "all"
  end
  for _, name in ipairs { "rms_norm", "tied_embeddings", "parallel_residual", "tied" } do
    o[name] = o[name] or false
  end
  o.embedding_scale = o.embedding_scale or o.tied_embeddings and o.d_model ^ 0.5 or 1
  return o
end

--- Converts a position scheme, or a list of them, to the options that recreate it.
---@param value any
---@return any
function M.plain(value)
  if schemes.is_rotary(value) or schemes.is_scheme(value) then
    local options = value:options()
    options.type = options.type or "rope"
    return options
  elseif type(value) ~= "table" then
    return value
  end
  local result = {}
  for name, part in pairs(value) do
    result[name] = type(name) == "number" and M.plain(part) or part
  end
  return result
end

local function equal(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then
    return a == b
  end
  for _, name in ipairs(tables.keys(a, b)) do
    if not equal(a[name], b[name]) then
      return false
    end
  end
  return true
end

local function path_of(name, field)
  return name == "" and field or name .. "." .. field
end

-- Returns the settings of a model, and what only its code can make: the class of each module, and
-- functions in fields, by name.
local function read(model)
  local settings, code = {}, {}
  for _, entry in ipairs(model:named_modules()) do
    local class = getmetatable(entry.module)
    local is_own = not entry.name:find "%.position%." -- modules of a scheme change with it
    code[entry.name] = is_own and class or nil
    for _, field in ipairs(class.settings or {}) do
      settings[#settings + 1] = { path_of(entry.name, field), M.plain(entry.module[field]) }
    end
    for field, value in pairs(entry.module) do
      if is_own and type(value) == "function" then
        code[path_of(entry.name, field)] = value
      end
    end
  end
  return settings, code
end

local created = setmetatable({}, { __mode = "k" }) -- what models were when they were created

--- Records the options and settings of a model that was just created from its field `options`.
---@param model Module
function M.record(model)
  local settings, code = read(model)
  created[model] = { options = model.options, copy = tables.merged(model.options), code = code,
    settings = settings }
end

--- Returns the options from which a model was created. Editing the table `options` of a model
--- changes neither the model nor what is saved.
---@param model table
---@return table? options
function M.options(model)
  local record = created[model]
  return record and record.options == model.options and record.copy or model.options
end

--- Returns the settings of a model: those that changed since it was recorded, or all of them if it
--- was not.
---@param model Module
---@return ModuleSetting[] settings
function M.changed(model)
  local settings, record = read(model), created[model]
  if not record then
    return settings
  end
  local before, changed = {}, {}
  for _, setting in ipairs(record.settings) do
    before[setting[1]] = setting
  end
  for _, setting in ipairs(settings) do
    local old = before[setting[1]]
    if not old or not equal(old[2], setting[2]) then
      changed[#changed + 1] = setting
    end
  end
  return changed
end

--- Returns the names of modules and functions in a recorded model that were replaced since: a file
--- cannot contain them.
---@param model Module
---@return string[] names sorted
function M.replaced(model)
  local record, names = created[model], {}
  if record then
    local _, code = read(model)
    for _, name in ipairs(tables.keys(record.code, code)) do
      names[#names + 1] = record.code[name] ~= code[name] and name or nil
    end
  end
  return names
end

-- Returns the position scheme of attention for the options in a file.
local function scheme_of(module, value, model, made)
  local found = made[#made]
  for _, one in ipairs(made) do
    found = equal(one.value, value) and one or found
  end
  if found and equal(found.value, value) and not found.scheme.per_layer then
    return found.scheme
  end
  local options = model.options or {}
  local width = module.query.weight:size(2)
  local scheme = value and position.resolve(value, {
    dim = module.query.weight:size(1) // module.heads,
    heads = module.heads, d_model = width, length = options.length })
  if schemes.is_scheme(scheme) then
    made[#made + 1] = { value = value, scheme = scheme }
  end
  return scheme
end

--- Sets the settings of a model to those of a file.
---
--- Errors: the model has no such setting; a position scheme is not registered.
---@param path string for messages
---@param model Module
---@param settings ModuleSetting[]
---@return fun() undo restores the previous settings
function M.apply(path, model, settings)
  local modules, before, made = {}, {}, {}
  for _, entry in ipairs(model:named_modules()) do
    for _, field in ipairs(getmetatable(entry.module).settings or {}) do
      modules[path_of(entry.name, field)] = { entry.module, field }
    end
  end
  for _, setting in ipairs(settings) do
    if not modules[setting[1]] then
      error(("%s: belongs to another model: %s is a setting in the file, but not in this model")
        :format(path, setting[1]), 0)
    end
  end
  for _, setting in ipairs(settings) do
    local module, field = table.unpack(modules[setting[1]])
    local value, old = setting[2], module[field]
    if not equal(M.plain(old), value) then
      before[#before + 1] = { module, field, old }
      if type(value) == "table" or schemes.is_scheme(old) or schemes.is_rotary(old) then
        value = scheme_of(module, value, model, made)
      end
      module[field] = value
    end
  end
  return function()
    for _, one in ipairs(before) do
      one[1][one[2]] = one[3]
    end
  end
end

return M
