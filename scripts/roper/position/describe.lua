--- Descriptions of position schemes.
local options_of = require "roper.base.options"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"
local text = require "roper.base.text"

local M = {}

local WIDTH <const> = 80

-- Context in which most schemes can be created for a description.
local EXAMPLE <const> = { dim = 8, heads = 2, d_model = 16, length = 16 }

--- The description of a position scheme; tostring returns it as lines of text.
---@class PositionDescription
---@field name string the name of the scheme, or of the combination
---@field summary? string one line
---@field formula? string its formula
---@field source? string paper and equation
---@field relative boolean true if attention depends on relative positions only
---@field trains string trained tensors, with shapes for 2 heads of 8 features
---@field cache string the form of keys and values in a cache
---@field words? string the text that the scheme's own `describe` returns
local Description = { __name = "description" }

function Description:__tostring()
  local lines = { self.name .. (self.summary and ": " .. self.summary or "") }
  for _, line in ipairs { { "formula", self.formula }, { "source", self.source },
    { "positions", self.relative and "relative" or "absolute" }, { "trains", self.trains },
    { "cache", self.cache }, { "", self.words } } do
    if line[2] then
      lines = tables.joined(lines, text.wrap(line[2], WIDTH, ("  %-11s"):format(line[1]), 13))
    end
  end
  return table.concat(lines, "\n")
end

local function rotates(rotary, letters)
  local list = {}
  for letter in letters:gmatch "." do
    list[#list + 1] = rotary:options().rotate:find(letter, 1, true) and letter or nil
  end
  return table.concat(list)
end

-- Returns true if queries and keys, and values and output, are rotated both or not at all, so that
-- only distances matter.
local function is_paired(rotary)
  return #rotates(rotary, "qk") ~= 1 and #rotates(rotary, "vo") ~= 1
end

-- Appends the names and shapes of a scheme's trained tensors, including those of its parts.
local function trained(scheme, list)
  for name, tensor in pairs(schemes.is_rotary(scheme) and {} or scheme:parameters()) do
    list[#list + 1] = ("%s [%s]"):format(name, table.concat(tensor:shape(), ", "))
  end
  for _, part in ipairs(schemes.is_scheme(scheme) and scheme.parts or {}) do
    trained(part, list)
  end
  table.sort(list)
  return list
end

local CACHED <const> = { [""] = "keys and values unchanged",
  k = "rotated keys, values unchanged", v = "keys unchanged, rotated values",
  kv = "rotated keys and values" }

-- The fields `trains` and `cache`; the scheme is nil if it cannot be created without options.
local function tensors_of(scheme)
  if scheme == nil then
    return "depends on options", "depends on options"
  end
  local list = trained(scheme, {})
  local cache = "keys and values unchanged; positions are applied in each pass"
  if schemes.is_rotary(scheme) then
    cache = CACHED[rotates(scheme, "kv")]
  elseif scheme.embed and not scheme.turns and not scheme.bias then
    cache = "keys and values unchanged, computed from embeddings with positions"
  end
  return #list > 0 and table.concat(list, ", ") or "nothing", cache
end

-- The result of a scheme's `describe`; for a rotary, of `describe` in its definition.
local function words_of(scheme, definition, given)
  if schemes.is_scheme(scheme) then
    return scheme.describe and scheme:describe()
  elseif definition.build and definition.describe then
    local options = { dim = EXAMPLE.dim }
    for _, row in ipairs(options_of.rows_of(definition.takes)) do
      options[row[1]] = row[3] or options[row[1]]
    end
    return definition.describe(tables.merged(options, given))
  end
  return nil
end

--- Describes a scheme.
---@param definitions table[] of the scheme, or of each of its parts
---@param name string
---@param make fun(context: table): Scheme|rotary
---@param given? table options of the scheme
---@return PositionDescription
function M.one(definitions, name, make, given)
  local self = setmetatable({ name = name, relative = true }, Description)
  local ok, scheme = pcall(make, EXAMPLE)
  scheme = ok and scheme or nil
  for _, field in ipairs { "summary", "formula", "source" } do
    local parts = tables.map(definitions, function(definition) return definition[field] end)
    self[field] = #parts > 0 and table.concat(parts, "; ") or nil
  end
  for _, definition in ipairs(definitions) do
    self.relative = self.relative and definition.relative
  end
  if schemes.is_rotary(scheme) then
    self.relative = self.relative and is_paired(scheme)
  end
  if scheme and #definitions == 1 then
    self.words = words_of(scheme, definitions[1], given)
  end
  self.trains, self.cache = tensors_of(scheme)
  return self
end

local List = { __name = "descriptions" }

function List:__tostring()
  local rows = {}
  for i, one in ipairs(self) do
    rows[i] = { one.name, one.relative and "relative" or "absolute", one.summary or "" }
  end
  return table.concat(text.rows(rows, "l"), "\n")
end

--- A list of descriptions that prints as a table.
---@param list PositionDescription[]
---@return PositionDescription[]
function M.all(list)
  return setmetatable(list, List)
end

return M
