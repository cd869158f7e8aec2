--- Position schemes by name. Each file in `schemes` defines one; `register` adds your own.
local arguments = require "roper.base.arguments"
local describe = require "roper.position.describe"
local join = require "roper.position.join"
local options_of = require "roper.base.options"
local positions = require "roper.position.positions"
local schemes = require "roper.position.scheme"
local suggest = require "roper.base.suggest"
local syntax = require "roper.position.syntax"
local tables = require "roper.base.tables"
local uv = require "luv"

local M = {}

M.convert_pairing = require("roper.position.pairing").convert_pairing

---@class RopeOptions: RotaryOptions
---@field dim? integer = 2; features of a head

-- Options that are filled in from the model or the input, if a scheme takes them.
local CONTEXT <const> = { "dim", "heads", "d_model", "length" }

local definitions, names = {}, {}

local function add(name, definition)
  if not definitions[name] then
    names[#names + 1] = name
  end
  schemes.complete(name, definition)
  definitions[name], M[name] = definition, definition.make
end

for file in uv.fs_scandir_next, assert(uv.fs_scandir(
  require("roper.base.paths").LIBRARY .. "/position/schemes")) do
  local name = file:match "^([%l%d_]+)%.lua$"
  if name then
    add(name, require("roper.position.schemes." .. name))
  end
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
--- Errors: the name of a built-in scheme or of a function of the library; an unknown member.
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
  add(name, tables.merged(scheme))
end

local function find(name)
  local definition = definitions[name]
  if not definition then
    error(("position: expected one of %s, got %s%s"):format(table.concat(names, ", "),
      options_of.shown(name), suggest.hint(tostring(name), names)), 0)
  end
  return definition
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
  local takes = {}
  for _, row in ipairs(options_of.rows_of(find(name).takes)) do
    takes[row[1]] = row[3] ~= nil and { row[2], row[3] } or row[2]
  end
  return takes
end

--- The revision of a scheme. It increases when the same options begin to give different results.
---
--- Errors: an unknown name; the message suggests the nearest one.
---
---     > roper.position.revision "rope"
---     1
---@param name string
---@return integer revision
function M.revision(name)
  return find(name).revision or 1
end

-- The options for a definition, with missing ones filled in from the context.
local function fill(definition, options, context)
  local known = {}
  for _, name in ipairs(CONTEXT) do
    known[name] = definition.takes[name] and context[name]
  end
  local result = tables.merged(known, options)
  result.type = nil
  return result
end

--- The first name in an option `position` that is not the name of a scheme, such as that of your
--- own scheme before you register it.
---
---     > roper.position.missing {"rope", {type = "mine"}}
---     "mine"
---@param position any in a form that `resolve` or Transformer takes
---@return string? name nil if all are known
function M.missing(position)
  local list = type(position) == "string" and syntax.parse(position, "position") or position
  if type(list) ~= "table" or schemes.is_scheme(list) then
    return nil
  end
  for _, part in ipairs(list.parts or list) do
    local name = M.missing(part)
    if name then
      return name
    end
  end
  local name = list.type
  if type(name) ~= "string" or definitions[name] or list.parts then
    return nil
  end
  if name:find "[^%w_]" then
    return M.missing(name)
  end
  return name
end

-- The schemes that a text combines in one attention.
local function joined(text)
  local layers = syntax.parse(text, "position")
  if layers[2] then
    error(("position: expected schemes of one layer, got %s; give a Transformer a list, {%s}")
      :format(text, table.concat(tables.map(layers, function(parts)
        return ("%q"):format(syntax.text { parts })
      end), ", ")), 0)
  end
  return layers[1]
end

--- Creates a scheme from its name or from a table of options with the field `type`. Names joined by
--- "+" create a combination of schemes. A scheme is returned unchanged.
---
--- Errors: an unknown name; the message suggests the nearest one.
---
---     > roper.position.resolve("rope", 4)
---     rotary{dim = 4, base = 10000.0, pairing = "half", rotate = "qk"}
---     > roper.position.resolve({type = "rope", rotate = "vo"}, 4)
---     rotary{dim = 4, base = 10000.0, pairing = "half", rotate = "vo"}
---     > roper.position.resolve("rope+alibi", {dim = 4, heads = 2}).name
---     "rotary+alibi"
---@param position? string|table|Scheme|rotary
---@param context integer|table features of a head, or a table with dim, heads, d_model, length
---@return Scheme|rotary|nil scheme nil for nil and "none"
function M.resolve(position, context)
  if position == nil or position == "none" then
    return nil
  elseif schemes.is_rotary(position) or schemes.is_scheme(position) then
    return position
  end
  context = type(context) == "table" and context or { dim = context }
  local options = type(position) == "table" and position or { type = position }
  local name = options.type
  local parts = options.parts or type(name) == "string" and not definitions[name] and joined(name)
  if parts and (parts[2] or options.parts) then
    return join.join(tables.map(parts, function(part) return M.resolve(part, context) end))
  end
  local definition = find(name)
  return definition.make(fill(definition, options, context))
end

-- The definitions of a scheme or of its parts, and its name.
local function parts_of(scheme)
  if schemes.is_rotary(scheme) then
    return { find "rope" }, "rotary"
  end
  local list = {}
  if type(scheme) == "table" and scheme.parts then
    local shown = {}
    for i, part in ipairs(scheme.parts) do
      local definitions_of_part, part_name = parts_of(part)
      table.move(definitions_of_part, 1, #definitions_of_part, #list + 1, list)
      shown[i] = part_name
    end
    return list, table.concat(shown, "+")
  end
  local name = scheme
  if type(scheme) == "table" then
    name = schemes.is_scheme(scheme) and scheme.name or scheme.type
  end
  if type(name) ~= "string" then
    error(("position: expected a scheme, its name or {type = name, ...}, got %s%s"):format(
      type(scheme) == "table" and "type = " or "", tostring(name)), 0)
  end
  return tables.map(joined(name), function(part) return find(part.type) end), name
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
---     > roper.position.describe()[1].name
---     "none"
---@param scheme? string|table|Scheme|rotary a name, {type = name, ...}, or a scheme
---@return PositionDescription|PositionDescription[] description
function M.describe(scheme)
  if scheme == nil then
    return describe.all(tables.map(names, M.describe))
  end
  local parts, name = parts_of(scheme)
  return describe.one(parts, name, function(context)
    local options = type(scheme) == "string" and { type = scheme } or scheme
    return M.resolve(options, context)
  end, type(scheme) == "table" and not schemes.is_scheme(scheme) and scheme or nil)
end

local GIVEN <const> = "number|number[]|tensor"

options_of.define("AttentionPositions", {
  { "causal", "boolean", false, "query i sees keys j <= i + Tk - Tq" },
  { "offset", "number", 0, "position of the first key, if no positions are given" },
  { "positions", "any?", nil, "positions of both queries and keys: one for all, a list, or a "
    .. "tensor [time], [batch, time] or [batch, time, coordinates]", type = GIVEN },
  { "query_positions", "any?", nil, "by default offset, offset + 1, ..., shifted with `causal` so "
    .. "that the last query has the position of the last key", type = GIVEN },
  { "key_positions", "any?", nil, "by default offset, offset + 1, ...", type = GIVEN },
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
  return positions.new(q, k, o, o.scale or q:size(-1) ^ -0.5)
end

return M
