--- Position schemes by name, with options in braces: "yarn{factor=4}". Each file in `schemes`
--- defines one; `register` adds your own.
local arguments = require "roper.options.arguments"
local describe = require "roper.position.describe"
local files = require "roper.system.file"
local join = require "roper.position.join"
local options_of = require "roper.options.rows"
local positions = require "roper.position.positions"
local registered = require "roper.options.registered"
local schemes = require "roper.position.scheme"
local registry = require "roper.position.registry"
local syntax = require "roper.position.syntax"
local tables = require "roper.base.tables"
local texts = require "roper.position.text"
require "roper.position.by_distance" -- methods of Positions

local M = {}

M.convert_pairing = require("roper.position.pairing").convert_pairing

---@class RopeOptions: RotaryOptions
---@field dim? integer = 2; features of a head

local definitions, names, find = registry.definitions, registry.names, registry.find

local function add(name, definition)
  registry.add(name, definition)
  M[name] = definition.make
end

local SCHEMES <const> = require("roper.system.paths").LIBRARY .. "/position/schemes"
for _, name in ipairs(files.modules(SCHEMES)) do
  add(name, require("roper.position.schemes." .. name))
end
table.sort(names, function(a, b)
  if (a == "none") ~= (b == "none") then
    return a == "none"
  end
  return a < b
end)
local built_in = tables.set(names)

--- The names of all schemes.
---
---     > roper.position.list()[1]
---     "none"
---@return string[] names
function M.list()
  return table.move(names, 1, #names, 1, {})
end

--- Registers a scheme of your own, so that its name can be used like that of any other scheme.
--- `?Scheme` lists the methods. All methods are optional.
---
--- Errors: the name of a built-in scheme, of a function of the library, or of a scheme that another
--- file registered; an unknown member.
---
---     > roper.position.register("near", {bias = function(self, q, k, positions)
---     >>   return positions:by_distance(function(distance)
---     >>     return -distance:square():unsqueeze(1)
---     >>   end)
---     >> end})
---     > q = roper.zeros{1, 1, 2, 4}
---     > roper.attention_weights(q, q, {position = "near"})[1][1]
---     float32 [2, 2]
---     0.7311 0.2689
---     0.2689 0.7311
---@param name string letters, digits and "_"; begins with a letter
---@param scheme Scheme a table with any of its methods
function M.register(name, scheme)
  if type(name) ~= "string" or not name:match "^%a[%w_]*$" or M[name] and not definitions[name] then
    error(("register: expected a name of letters, digits and _, not that of a function, got %s")
      :format(options_of.shown(name)), 2)
  end
  if built_in[name] then
    error(("register: %s is a built-in scheme; choose another name"):format(name), 2)
  end
  schemes.check(name, scheme)
  registered.claim("position scheme", name, 2)
  add(name, tables.merged(scheme))
end

--- Returns true if a name is that of a built-in scheme, or of several, joined by "+" or ":".
---
---     > roper.position.is_built_in "rope+alibi", roper.position.is_built_in "mine"
---     true	false
---@param name string
---@return boolean yes
function M.is_built_in(name)
  arguments.check("position.is_built_in", "name", "string", name)
  for part in name:gmatch "[^+:]+" do
    if part ~= "rotary" and not built_in[part] then
      return false
    end
  end
  return true
end

--- The options of a scheme, each with the kind of its value.
---
--- Errors: an unknown name; the message suggests the nearest one.
---
---     > roper.position.takes "alibi"
---     {heads = "size"}
---@param name string
---@return table<string, any> takes
function M.takes(name)
  arguments.check("position.takes", "name", "string", name)
  local takes = {}
  for _, row in ipairs(options_of.rows_of(find(name).takes)) do
    takes[row[1]] = row[3] ~= nil and { row[2], row[3] } or row[2]
  end
  return takes
end

-- Creates a scheme, with missing options filled in from the context.
local function make(name, options, context)
  local definition, known = find(name), {}
  for option in pairs(texts.CONTEXT) do
    known[option] = definition.takes[option] and context[option]
  end
  return definition.make(tables.merged(known, options))
end

-- The first unknown name in a value.
local function missing(position)
  local list = type(position) == "string" and syntax.parse(position, "position") or position
  if type(list) ~= "table" or schemes.is_scheme(list) then
    return nil
  end
  for _, part in ipairs(list.parts or list) do
    local name = missing(part)
    if name then
      return name
    end
  end
  local name = list.type
  if type(name) ~= "string" or definitions[name] or list.parts then
    return nil
  end
  if name:find "[^%w_]" then
    return missing(name)
  end
  return name
end

-- The first name in an option `position` that is not the name of a scheme, such as that of your
--- own scheme before you register it.
---
---     > roper.position.missing {"rope", {type = "mine"}}
---     "mine"
---@param position? string|table|Scheme|rotary in a form that `resolve` or Transformer takes
---@return string? name nil if all are known
function M.missing(position)
  arguments.check("position.missing", "position", "position?", position)
  return missing(position)
end

-- The schemes that a text combines in one attention.
local function joined(text)
  local layers = texts.parse(text, "position")
  if layers[2] then
    error(("position: expected schemes of one layer, got %s; give a Transformer a list, {%s}")
      :format(syntax.brief(text), table.concat(tables.map(layers, function(parts)
        return ("%q"):format(syntax.text { parts })
      end), ", ")), 0)
  end
  return layers[1]
end

--- Creates a scheme from its name or from a table of options with the field `type`. Options can
--- follow the name in braces. Names joined by "+" create a combination of schemes. A scheme is
--- returned unchanged.
---
--- Errors: an unknown name or option; the message suggests the nearest one.
---
---     > roper.position.resolve("rope", 4)
---     rotary{dim = 4, base = 10000.0, pairing = "half", rotate = "qk"}
---     > roper.position.resolve({type = "rope", rotate = "vo"}, 4)
---     rotary{dim = 4, base = 10000.0, pairing = "half", rotate = "vo"}
---     > roper.position.resolve("rope{rotate=vo}", 4)
---     rotary{dim = 4, base = 10000.0, pairing = "half", rotate = "vo"}
---     > roper.position.resolve("rope+alibi", {dim = 4, heads = 2}).name
---     "rotary+alibi"
---@param position? string|table|Scheme|rotary
---@param context integer|table features of a head, or a table with dim, heads, d_model, length
---@return Scheme|rotary|nil scheme nil for nil and "none"
function M.resolve(position, context)
  arguments.check("position.resolve", "position", "position?", position, "context",
    "integer|table", context)
  if position == nil or position == "none" then
    return nil
  elseif schemes.is_rotary(position) or schemes.is_scheme(position) then
    return position
  end
  context = type(context) == "table" and context or { dim = context }
  local options = type(position) == "table" and position or { type = position }
  local name = options.type
  if name == nil and #options > 0 then
    error(("position: expected the scheme of one layer, got a list of %d, the schemes of several "
      .. "layers; pass one of them"):format(#options), 0)
  elseif options.parts then
    return join.join(tables.map(options.parts, function(part) return M.resolve(part, context) end))
  end
  local own = tables.merged(options)
  own.type = nil
  if definitions[name] or type(name) ~= "string" then
    return make(name, own, context)
  end
  local parts = joined(name)
  if next(own) then
    parts = { texts.with(parts, own, "position") }
  end
  local made = tables.map(parts, function(part)
    return part.type ~= "none" and make(part.type, part.options or {}, context) or nil
  end)
  return parts[2] and join.join(made) or made[1]
end

--- The canonical text of position schemes: options are sorted by name, and left out if they have
--- their default value. Methods, runs and trials are named by it.
---
--- Errors: an unknown name or option; an option that the model sets itself, such as dim; a value
--- that text cannot represent, such as a tensor.
---
---     > roper.position.canonical "yarn{slow=1, factor=4.0}"
---     "yarn{factor=4}"
---     > roper.position.canonical {{type = "t5", buckets = 16}, "rope+alibi"}
---     "t5{buckets=16}:rope+alibi"
---@param position string|table in a form that Transformer takes, except created schemes
---@return string text
function M.canonical(position)
  arguments.check("position.canonical", "position", "position", position)
  return texts.canonical(position, "position")
end

-- The definitions and options of a scheme or of its parts, and its name.
local function parts_of(scheme)
  if schemes.is_rotary(scheme) then
    return { { definition = find "rope", options = scheme:options() } }, "rotary"
  end
  local list = {}
  if type(scheme) == "table" and scheme.parts then
    local shown = {}
    for i, part in ipairs(scheme.parts) do
      local of_part, part_name = parts_of(part)
      table.move(of_part, 1, #of_part, #list + 1, list)
      shown[i] = part_name
    end
    return list, table.concat(shown, "+")
  end
  local name, own = scheme, {}
  if type(scheme) == "table" then
    name, own = scheme.type, scheme
    if schemes.is_scheme(scheme) then
      name, own = scheme.name, scheme.given
    end
  end
  if type(name) ~= "string" then
    error(("position: expected a scheme, its name or {type = name, ...}, got %s%s"):format(
      type(scheme) == "table" and "type = " or "", tostring(name)), 0)
  end
  local parts = joined(name)
  return tables.map(parts, function(part)
    return { definition = find(part.type), options = tables.merged(part.options, own) }
  end), syntax.text { parts }
end

--- Describes a scheme: its formula and source, whether attention depends on relative positions
--- only, its trained tensors, and what a cache stores. Without an argument, lists all schemes.
---
--- Errors: an unknown name; the message suggests the nearest one.
---
---     > roper.position.describe "rope"
---     rope: queries and keys are rotated
---       formula    sᵢⱼ = qᵢ · R_{j−i} kⱼ / √d
---       source     RoFormer, Su et al. 2021, eq. 13-16
---       positions  relative
---       trains     nothing
---       cache      rotated keys, values unchanged
---     > print(roper.position.describe("axial{rotate=qkvo}").formula)
---     sᵢⱼ = qᵢ · R_{rⱼ−rᵢ, cⱼ−cᵢ} kⱼ / √d
---     oᵢ = Σⱼ aᵢⱼ R_{rⱼ−rᵢ, cⱼ−cᵢ} vⱼ
---     > roper.position.describe()[1].name
---     "none"
---@param scheme? string|table|Scheme|rotary a name, {type = name, ...}, or a scheme
---@return PositionDescription|PositionDescription[] description
function M.describe(scheme)
  arguments.check("position.describe", "scheme", "position?", scheme)
  if scheme == nil then
    return describe.all(tables.map(names, function(name) return M.describe(name) end))
  end
  local parts, name = parts_of(scheme)
  return describe.one(parts, name, function(context)
    local options = type(scheme) == "string" and { type = scheme } or scheme
    return M.resolve(options, context)
  end)
end

local KIND <const>, TYPE <const> = "positions?", "number|number[]|tensor"

options_of.define("AttentionPositions", {
  { "causal", "boolean", false, "query i sees keys j <= i + Tk - Tq" },
  { "offset", "number", 0, "position of the first key, if no positions are given" },
  { "positions", KIND, nil, "positions of both queries and keys: one for all, a list, or a "
    .. "tensor [time], [batch, time] or [batch, time, coordinates]", type = TYPE },
  { "query_positions", KIND, nil, "by default offset, offset + 1, ..., shifted with `causal` so "
    .. "that the last query has the position of the last key", type = TYPE },
  { "key_positions", KIND, nil, "by default offset, offset + 1, ...", type = TYPE },
})

local OPTIONS <const> = options_of.define("PositionsOptions", {
  parent = "AttentionPositions",
  { "scale", "number?", nil, "factor of the scores", shown = "1 / sqrt(d)" },
})

--- The positions of queries and keys, as attention passes them to the methods of a scheme.
---
---     > q = roper.zeros{1, 1, 3, 4}
---     > roper.position.positions(q, q, {offset = 5}).query
---     float64 [1, 3]
---     5 6 7
---@param q tensor [batch, heads, queries, d]
---@param k tensor [batch, heads, keys, d]
---@param options? PositionsOptions those of attention
---@return Positions positions
function M.positions(q, k, options)
  arguments.check("positions", "q", "tensor", q, "k", "tensor", k)
  local o = options_of.check("positions", options, OPTIONS)
  return positions.new(q, k, o, o.scale or q:size(-1) ^ -0.5, "positions")
end

return M
