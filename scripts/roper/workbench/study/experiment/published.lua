--- Fields of experiments that start from a published model (the field `from`): its sizes, norms,
--- position scheme and tokenizer.
local files = require "roper.model.published.files"
local options_of = require "roper.options.rows"
local published = require "roper.model.published"
local system = require "roper.system.file"
local texts = require "roper.position.text"
local tokenizers = require "roper.tasks.text.published"

local M = {}

-- Options of models that change training only; a published model has none of them.
local OF_TRAINING <const> = { dropout = true, recompute = true }

--- Returns the folder of a published model in the field `from`.
---@param from any
---@return string? folder nil for a run, a sweep or a file of weights
function M.folder(from)
  local stat = type(from) == "string" and from ~= "" and system.stat(from)
  return stat and stat.type == "directory" and files.has_model(from) and from or nil
end

--- Returns the fields that a published model determines; false for those that it leaves out.
---
--- Errors: as for `roper.import`.
---@param folder string
---@param model_fields Field[] for options of the model
---@return table<string, any> fields with `position` as text, and `tokenizer` if the folder has one
function M.fields(folder, model_fields)
  local found, rows = published.read(folder), options_of.rows "TransformerOptions"
  local fields = { position = texts.canonical(found.options.position, "from"),
    tokenizer = tokenizers.is_in(folder) and folder or nil }
  for _, field in ipairs(model_fields) do
    local name = field[1]
    if not OF_TRAINING[name] then
      local value, default = found.options[name], rows[name][3]
      fields[name] = value ~= nil and value ~= default and value
    end
  end
  return fields
end

return M
