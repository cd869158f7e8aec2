--- Descriptions of position schemes.
local options_of = require "roper.options.rows"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"
local text = require "roper.text.width"

local M = {}

local WIDTH <const> = 80

-- Context in which most schemes can be created for a description.
local EXAMPLE <const> = { dim = 8, heads = 2, d_model = 16, length = 16 }

--- The description of a position scheme; tostring returns it as lines of text.
---@class PositionDescription
---@field name string the name of the scheme, or of the combination
---@field summary? string one line
---@field formula? string its equations, one per line
---@field source? string paper and equation
---@field mistake? string what is wrong with it on purpose
---@field relative boolean true if attention depends on relative positions only
---@field trains string trained tensors, with shapes for 2 heads of 8 features
---@field cache string the form of keys and values in a cache
---@field words? string the text that the scheme's own `describe` returns
local Description = { __name = "description" }

function Description:__tostring()
  local lines = { self.name .. (self.summary and ": " .. self.summary or "") }
  for _, line in ipairs { { "formula", self.formula }, { "source", self.source },
    { "mistake", self.mistake }, { "positions", self.relative and "relative" or "absolute" },
    { "trains", self.trains }, { "cache", self.cache }, { "", self.words } } do
    local name = line[1]
    for words in (line[2] or ""):gmatch "[^\n]+" do
      lines = tables.joined(lines, text.wrap(words, WIDTH, ("  %-11s"):format(name), 13))
      name = ""
    end
  end
  return table.concat(lines, "\n")
end

-- The letters of the option `rotate` among the given ones.
local function rotates(rotate, letters)
  return (letters:gsub(".", function(letter)
    return rotate:find(letter, 1, true) and letter or ""
  end))
end

-- Returns true if queries and keys, and values and output, are rotated both or not at all, so that
-- only distances matter.
local function is_paired(rotate)
  return #rotates(rotate, "qk") ~= 1 and #rotates(rotate, "vo") ~= 1
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

-- Appends the names of what a scheme and its parts keep in a cache for each token.
local function kept(scheme, list)
  table.move(scheme.state or {}, 1, #(scheme.state or {}), #list + 1, list)
  for _, part in ipairs(scheme.parts or {}) do
    if schemes.is_scheme(part) then
      kept(part, list)
    end
  end
  return list
end

-- The fields `trains` and `cache`; the scheme is nil if it cannot be created without options.
local function tensors_of(scheme)
  if scheme == nil then
    return "depends on options", "depends on options"
  end
  local list = trained(scheme, {})
  local cache = "keys and values unchanged; positions are applied in each pass"
  if schemes.is_rotary(scheme) then
    cache = CACHED[rotates(scheme:options().rotate, "kv")]
  elseif scheme.embed and not scheme.turns and not scheme.bias then
    cache = "keys and values unchanged, computed from embeddings with positions"
  elseif #kept(scheme, {}) > 0 then
    cache = "keys and values; for each token also " .. table.concat(kept(scheme, {}), ", ")
  end
  return #list > 0 and table.concat(list, ", ") or "nothing", cache
end

-- The options of a part, with defaults.
local function options_with_defaults(part)
  local options = { dim = EXAMPLE.dim }
  for _, row in ipairs(options_of.rows_of(part.definition.takes)) do
    if row[3] ~= nil then
      options[row[1]] = row[3]
    end
  end
  return tables.merged(options, part.options)
end

local function formula_of(part)
  local formula = part.definition.formula
  if type(formula) == "function" then
    return formula(options_with_defaults(part))
  end
  return formula
end

-- The result of a scheme's `describe`; for a rotary, of `describe` in its definition.
local function words_of(scheme, part)
  local definition = part.definition
  if schemes.is_scheme(scheme) then
    return scheme.describe and scheme:describe()
  elseif definition.build and definition.describe then
    return definition.describe(options_with_defaults(part))
  end
  return nil
end

-- Returns true if attention with a part depends on relative positions only. A scheme of one's own
-- may have another option `rotate`.
local function is_relative(part)
  local rotate = options_with_defaults(part).rotate
  local has_letters = type(rotate) == "string" and not rotate:find "[^qkvo]"
  return part.definition.relative and (not has_letters or is_paired(rotate))
end

---@class DescribedPart
---@field definition table
---@field options table those that were given

--- Describes a scheme.
---@param parts DescribedPart[] the scheme, or the parts of a combination
---@param name string
---@param make fun(context: table): Scheme|rotary
---@return PositionDescription
function M.one(parts, name, make)
  local self = setmetatable({ name = name, relative = true }, Description)
  local ok, scheme = pcall(make, EXAMPLE)
  scheme = ok and scheme or nil
  for _, field in ipairs { "summary", "formula", "source", "mistake" } do
    local texts = tables.map(parts, function(part)
      return field == "formula" and formula_of(part) or part.definition[field]
    end)
    self[field] = #texts > 0 and table.concat(texts, field == "formula" and "\n" or "; ") or nil
  end
  for _, part in ipairs(parts) do
    self.relative = self.relative and is_relative(part)
  end
  if scheme and #parts == 1 then
    self.words = words_of(scheme, parts[1])
  end
  self.trains, self.cache = tensors_of(scheme)
  return self
end

local List = { __name = "descriptions" }

function List:__tostring()
  local rows = {}
  for i, one in ipairs(self) do
    rows[i] = { one.name, one.relative and "relative" or "absolute",
      (one.summary or "") .. (one.mistake and " (a mistake)" or "") }
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
