--- The metadata of files with models: the class and options of a model, and its settings, as JSON.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local diagnostics = require "roper.text.diagnostics"
local files = require "roper.system.file"
local load_option = require "roper.options.load_option"
local modules = require "roper.model.module"
local settings = require "roper.model.settings"
local tables = require "roper.base.tables"

local M = {}

--- Returns the options a model was created from, in a form that JSON can represent. A position
--- scheme becomes the options that recreate it.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > roper.checkpoint.options(model).d_model
---     8
---@param model Transformer
---@return table options
function M.options(model)
  if type(model) ~= "table" or type(model.options) ~= "table" then
    arguments.check("checkpoint.options", "model", "module", model)
  end
  local given = settings.options(model)
  local result = tables.merged(type(given) == "table" and given or nil)
  result.position = settings.plain(result.position)
  return result
end

--- Returns the settings of a model as JSON; nil if there are none.
---@param model Module
---@return string?
function M.settings(model)
  local found = settings.changed(model)
  return #found > 0 and core.json_encode { settings = found } or nil
end

-- Returns the class and the options, as JSON, from which a model can be created again; nil if it
-- cannot. The class is nil for a Transformer.
local function recipe_of(model)
  if model.options_class and model.options then
    return nil, core.json_encode(M.options(model))
  end
  local class, options = modules.origin(model)
  local ok, text = pcall(function()
    options.position = settings.plain(options.position)
    return core.json_encode(options)
  end)
  if not ok and diagnostics.is_transient(text) then
    error(text, 0)
  elseif class and ok then
    return class, text
  end
end

--- Returns the metadata of a file with a model: its class, unless it is Transformer, its options,
--- and its settings (of a Transformer, those that changed since it was created); nil if there is
--- nothing to save.
---@param model Module
---@return table<string, string>? metadata
function M.of(model)
  local class, options = recipe_of(model)
  local replaced = options and settings.replaced(model) or {}
  local metadata = {
    roper = options and "model" or nil,
    class = class,
    options = options,
    settings = M.settings(model),
    loaded = options and load_option.text(),
    replaced = #replaced > 0 and table.concat(replaced, ", ") or nil,
  }
  return next(metadata) and metadata or nil
end

--- Decodes an entry of a file's metadata, which must be a JSON object.
---@param path string for messages
---@param metadata table<string, string>
---@param name string
---@return table value
function M.decode(path, metadata, name)
  local text = metadata[name]
  return files.parse(text or "") or error(("%s: metadata %q: expected a JSON object, got %s")
    :format(path, name, text or "none"), 0)
end

--- Returns the settings in a file's metadata.
---@param path string for messages
---@param metadata table<string, string>
---@return ModuleSetting[] settings
function M.settings_in(path, metadata)
  if not metadata.settings then
    return {}
  end
  local list = M.decode(path, metadata, "settings").settings
  local is_valid = type(list) == "table"
  for _, setting in ipairs(is_valid and list or {}) do
    is_valid = is_valid and type(setting) == "table" and type(setting[1]) == "string"
  end
  return is_valid and list or error(path .. ": damaged: metadata \"settings\": expected a list of "
    .. "names and values", 0)
end

return M
