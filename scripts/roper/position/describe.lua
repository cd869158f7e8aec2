--- What a position scheme is, in words.
local columns = require "roper.base.format.columns"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"

local M = {}

-- A place that fits most schemes, to make one and see.
local PLACE <const> = { dim = 8, heads = 2, d_model = 16, length = 16 }

--- What a position scheme is; it prints as lines.
---@class PositionDescription
---@field name string
---@field summary? string
---@field formula? string
---@field source? string
---@field relative boolean do scores know the distance alone?
---@field trains string what is trained, with shapes for 2 heads of 8 features
---@field cache string what of the keys and values in a cache is turned
---@field words? string what the scheme itself says
local Description = { __name = "description" }

function Description:__tostring()
  local lines = { self.name .. (self.summary and ": " .. self.summary or "") }
  for _, line in ipairs { { "formula", self.formula }, { "source", self.source },
    { "positions", self.relative and "relative" or "absolute" }, { "trains", self.trains },
    { "cache", self.cache }, { "", self.words } } do
    if line[2] then
      lines[#lines + 1] = ("  %-11s%s"):format(line[1], columns.wrap(line[2], 13))
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

-- Does each pair of turns undo what both have in common?
local function is_paired(rotary)
  return #rotates(rotary, "qk") ~= 1 and #rotates(rotary, "vo") ~= 1
end

-- The trained tensors of a scheme, those of its parts among them.
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

local CACHED <const> = { [""] = "keys and values as they are",
  k = "keys turned once, values as they are", v = "keys as they are, values turned once",
  kv = "keys and values turned once" }

-- What a made scheme shows.
local function shown(scheme)
  if scheme == nil then
    return "unknown until it is made", "unknown until it is made"
  end
  local list = trained(scheme, {})
  local cache = "keys and values as they are; positions come in with each pass"
  if schemes.is_rotary(scheme) then
    cache = CACHED[rotates(scheme, "kv")]
  elseif scheme.embed and not scheme.turns and not scheme.bias then
    cache = "keys and values as they are, made from embeddings that hold positions"
  end
  return #list > 0 and table.concat(list, ", ") or "nothing", cache
end

-- What a scheme says of its options: one made of methods itself, a rotary by its definition.
local function words_of(scheme, definition, given)
  if schemes.is_scheme(scheme) then
    return scheme.describe and scheme:describe()
  elseif definition.build and definition.describe then
    local options = { dim = PLACE.dim }
    for option, rule in pairs(definition.takes) do
      options[option] = type(rule) == "table" and rule[2] or options[option]
    end
    return definition.describe(tables.merged(options, given))
  end
  return nil
end

--- Describe a scheme.
---@param definitions table[] of it and, if it joins several, of each
---@param name string
---@param make fun(context: table): Scheme|rotary
---@param given? table the options that it is made from
---@return PositionDescription
function M.one(definitions, name, make, given)
  local self = setmetatable({ name = name, relative = true }, Description)
  local ok, scheme = pcall(make, PLACE)
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
  self.trains, self.cache = shown(scheme)
  return self
end

local List = { __name = "descriptions" }

function List:__tostring()
  local rows = {}
  for i, one in ipairs(self) do
    rows[i] = { one.name, one.relative and "relative" or "absolute", one.summary or "" }
  end
  return table.concat(columns.lines(rows, 3), "\n")
end

--- A list of descriptions that prints as a table.
---@param list PositionDescription[]
---@return PositionDescription[]
function M.all(list)
  return setmetatable(list, List)
end

return M
