--- Rotary position encoding in a published model's config.json: the fields `rope_theta` and
--- `rope_scaling`, or `rope_parameters`, and the scheme with the same frequencies.
local config = require "roper.model.published.config"
local core = require "roper.core"
local options_of = require "roper.options.rows"
local position = require "roper.position"
local tables = require "roper.base.tables"
local texts = require "roper.position.text"

local M = {}

local NULL <const> = core.json_null

-- The types of `rope_scaling`, each with its scheme and the fields of the scheme's options: their
-- name, option, kind and, if they may be missing, default (false for none). `length` is the option
-- for the trained length, which is the field of the config `in_config`, or the field
-- original_max_position_embeddings.
local ORIGINAL <const> = "original_max_position_embeddings"
local FACTOR <const> = { "factor", "factor", "number" }
local TYPES <const> = {
  default = { scheme = "rope" },
  linear = { scheme = "linear", FACTOR },
  dynamic = { scheme = "ntk", in_config = "max_position_embeddings", FACTOR },
  yarn = { scheme = "yarn", has_original = true, FACTOR,
    { "beta_fast", "fast", "number", 32 }, { "beta_slow", "slow", "number", 1 },
    { "attention_factor", "magnitude", "number", false } },
  longrope = { scheme = "longrope", has_original = true, { "factor", "factor", "number", false },
    { "short_factor", "short", "table" }, { "long_factor", "long", "table" },
    { "attention_factor", "magnitude", "number", false } },
  llama3 = { scheme = "llama3", has_original = true, FACTOR,
    { "low_freq_factor", "low", "number" }, { "high_freq_factor", "high", "number" } },
  proportional = { scheme = "proportional" },
}

-- Fields of every type, and those that only `read` of yarn uses.
local COMMON <const> = { "rope_type", "type", "rope_theta", "partial_rotary_factor", "finetuned" }
local OF_YARN <const> = { "mscale", "mscale_all_dim", "truncate" }

local function number_in(where, object, field, default)
  local value = object[field]
  if value == nil or value == NULL then
    value = default
  end
  if type(value) ~= "number" or value - value ~= 0 then
    config.refuse(where, field, object[field], "a finite number")
  end
  return value
end

-- YaRN's factor of the rotated features, as DeepSeek's fields give it; nil without these fields.
local function magnitude_of(where, object, factor)
  local function field(name)
    local value = object[name]
    return value ~= nil and value ~= NULL and value ~= 0 and number_in(where, object, name) or nil
  end
  local one, all = field "mscale", field "mscale_all_dim"
  if not (one and all) then
    return nil
  end
  local function m(scale)
    return factor <= 1 and 1 or 0.1 * scale * math.log(factor) + 1
  end
  return m(one) / m(all)
end

-- The number of positions in training.
local function length_of(where, given, object)
  for _, place in ipairs { { given, ORIGINAL }, { object, ORIGINAL },
    { given, "max_position_embeddings" } } do
    local value = place[1][place[2]]
    if value ~= nil and value ~= NULL then
      if math.type(value) ~= "integer" or value < 1 then
        config.refuse(where, place[2], value, "a positive integer")
      end
      return value
    end
  end
  config.refuse(where, ORIGINAL, nil, "a positive integer")
end

-- The option of a row, checked.
local function option_of(where, row, object)
  local value, kind = object[row[1]], row[3]
  if value == nil or value == NULL then
    value = row[4]
  end
  if value == false then
    return nil
  elseif kind == "table" then
    local is_list = type(value) == "table" and #value > 0
    for _, one in ipairs(is_list and value or {}) do
      is_list = is_list and type(one) == "number"
    end
    if not is_list then
      config.refuse(where, row[1], value, "a list of numbers")
    end
    return table.move(value, 1, #value, 1, {})
  end
  local expected = options_of.mismatch(kind, value)
  if expected then
    config.refuse(where, row[1], value, expected)
  end
  return value
end

-- Raises an error if a type has fields that roper does not know.
local function check_fields(where, kind, rule, object, ignored)
  local known = tables.set(tables.joined(COMMON, kind == "yarn" and OF_YARN or {},
    rule.has_original and { ORIGINAL } or {}, tables.map(rule, function(row) return row[1] end)))
  for _, field in ipairs(tables.keys(object)) do
    local value = object[field]
    if not known[field] and not ignored[field] and value ~= NULL and value ~= false then
      config.refuse(where, field, value, ("only fields of the type %s"):format(kind))
    end
  end
  if kind == "yarn" and object.truncate == false then
    config.refuse(where, "truncate", false, "true, the only value that roper supports")
  end
end

--- The fields of config.json that describe a rotation.
M.DESCRIBING = { "rope_theta", "rope_scaling", "rope_parameters", "rotary_emb_base", "rotary_pct",
  "partial_rotary_factor", ORIGINAL }

--- The fields of config.json that `read` uses.
M.FIELDS = tables.joined(M.DESCRIBING, { "max_position_embeddings" })

--- Does one of the fields describe a rotation?
---@param fields string[]
---@return boolean yes
function M.describes(fields)
  local describing = tables.set(M.DESCRIBING)
  for _, name in ipairs(fields) do
    if describing[name] then
      return true
    end
  end
  return false
end

-- Sets the fraction of rotated features of a scheme.
local function set_fraction(path, given, object, scheme, o)
  local share, field = object.partial_rotary_factor, "partial_rotary_factor"
  if share == nil or share == NULL then
    field = given.rotary_pct ~= nil and "rotary_pct" or field
    share = given[field]
  end
  if share == nil or share == NULL then
    share = o.partial or 1
  end
  local is_number = type(share) == "number" and share >= 0 and share <= 1
  if not is_number or not o.partial and share ~= 1 and scheme.type ~= "proportional" then
    config.refuse(path, field, share, o.partial and "a number from 0 to 1" or "1")
  end
  if scheme.type == "proportional" then
    scheme.fraction = share
  elseif share ~= 1 then
    local rotated = math.floor(o.head_dim * share)
    if rotated < 2 or rotated % 2 ~= 0 then
      config.refuse(path, field, share, ("an even number of rotated features in a head of %d")
        :format(o.head_dim))
    end
    scheme.fraction = rotated == o.head_dim * share and share or rotated / o.head_dim
  end
end

--- The position scheme of a config.
---
--- Errors: a type or a field that roper does not have, with its name and value.
---@param path string of config.json, for messages
---@param given table its content
---@param o table head_dim; partial = default of `partial_rotary_factor`, nil if the family rotates
---   all features; base = field of the base; theta = its default, if it is not 10,000; types: the
---   types of `rope_scaling`, if not all; is_optional: layers need not rotate; is_original_beside:
---   the trained length is also a field beside `rope_scaling`; pairing; ignored
---@return table position {type = name, ...}
function M.read(path, given, o)
  local name = "rope_scaling"
  local object = given.rope_scaling
  if object == nil or object == NULL or type(object) == "table" and next(object) == nil then
    name, object = "rope_parameters", given.rope_parameters
  end
  object = object ~= NULL and object or {}
  local where = ("%s: %s"):format(path, name)
  if type(object) ~= "table" then
    config.refuse(path, name, object, "an object")
  end
  local kind = object.rope_type or object.type or "default"
  kind = kind == "su" and "longrope" or kind -- an older name
  local rule = type(kind) == "string" and TYPES[kind]
  local types = o.types or TYPES
  if not rule or not types[kind] then
    config.refuse(where, object.rope_type and "rope_type" or "type", kind,
      "one of " .. table.concat(tables.keys(types), ", "))
  end
  check_fields(where, kind, rule, object, o.ignored)
  local scheme = { type = rule.scheme, pairing = o.pairing }
  local holder = object.rope_theta ~= nil and object.rope_theta ~= NULL and where or path
  local field = holder == where and "rope_theta" or o.base
  scheme.base = number_in(holder, holder == where and object or given, field, o.theta or 10000)
  if scheme.base <= 0 then
    config.refuse(holder, field, scheme.base, "a positive number")
  end
  for _, row in ipairs(rule) do
    scheme[row[2]] = option_of(where, row, object)
  end
  if rule.has_original or rule.in_config then
    scheme.trained_length = length_of(where, rule.has_original and given
      or { max_position_embeddings = given.max_position_embeddings },
      rule.has_original and object or {})
  end
  if kind == "yarn" then
    scheme.magnitude = scheme.magnitude or magnitude_of(where, object, scheme.factor)
  elseif kind == "longrope" and not scheme.factor then
    scheme.factor = number_in(path, given, "max_position_embeddings") / scheme.trained_length
  end
  set_fraction(path, given, object, scheme, o)
  return scheme
end

-- The schemes of one layer, each a table with its type; nil if the text is not one of one layer.
local function parts_of(given)
  if type(given) == "table" and given.parts then
    local list = {}
    for _, part in ipairs(given.parts) do
      for _, one in ipairs(parts_of(part) or { false }) do
        list[#list + 1] = one or nil
      end
    end
    return list
  end
  local name = type(given) == "table" and given.type or given
  local layers = type(name) == "string" and texts.parse(name, "position")
  if not layers or layers[2] then
    return nil
  end
  local own = type(given) == "table" and layers[1][2] == nil and given or nil
  return tables.map(layers[1], function(scheme)
    return tables.merged(scheme.options, own, { type = scheme.type })
  end)
end

-- The scheme of a layer, its window and whether it rotates; nil and a problem.
local function layer_of(given)
  local scheme, window = nil, false
  for _, part in ipairs(parts_of(given) or { given, given }) do
    if type(part) == "table" and part.type == "window" and not window then
      window = part.size or 128
      if part.sinks and part.sinks > 0 then
        return nil, ("window: sinks = %d has no counterpart; expected 0"):format(part.sinks)
      end
    elseif scheme then
      return nil, "its position scheme combines several schemes"
    elseif type(part) == "table" and part.type ~= "none" then
      scheme = part
    end
  end
  return { scheme = scheme, window = window }
end

local function is_same(a, b)
  return core.json_encode(a, { sort = true }) == core.json_encode(b, { sort = true })
end

-- The one scheme of all layers that have one, and the kinds of the layers; nil and a problem.
local function one_scheme(given, count)
  local is_text = type(given) == "string" and given:find ":"
  local list = is_text and tables.map(texts.parse(given, "position"), function(joined)
    return { parts = tables.map(joined, function(one)
      return tables.merged(one.options, { type = one.type })
    end) }
  end) or type(given) == "table" and #given > 0 and given or { given }
  local found, kinds = nil, { windows = {}, rotated = {} }
  for i = 1, count do
    local layer, problem = layer_of(list[(i - 1) % #list + 1])
    if not layer then
      return nil, problem
    elseif found and layer.scheme and not is_same(found, layer.scheme) then
      return nil, "its layers have different position schemes"
    end
    found = layer.scheme or found
    kinds.windows[i], kinds.rotated[i] = layer.window, layer.scheme ~= nil
  end
  return found or { type = "none" }, kinds
end

--- Describes the position schemes of a model, as the other functions take them.
---@param given any the option `position` of a Transformer, as from `checkpoint.options`
---@param count integer layers
---@return table? scheme {type = name, ...} with the defaults of its options; nil for several
---@return LayerKinds|string kinds of the layers, or the problem
function M.scheme_of(given, count)
  local found, kinds = one_scheme(given, count)
  if not found then
    return nil, kinds
  end
  local defaults = { base = 10000, fraction = 1, pairing = "half", rotate = found.type == "roper"
    and "qkvo" or "qk" }
  local takes = position.takes(found.type)
  for _, name in ipairs(tables.keys(found)) do
    if name ~= "type" and takes[name] == nil then -- of a rotary that the user created
      return nil, ("its position scheme has the option %s, which has no counterpart"):format(name)
    end
  end
  for name, kind in pairs(takes) do
    if type(kind) == "table" and kind[2] ~= nil then
      defaults[name] = kind[2]
    end
  end
  return tables.merged(defaults, found), kinds
end

-- The type of config.json for a scheme, with its rule.
local function type_of(scheme)
  for _, kind in ipairs(tables.keys(TYPES)) do
    local rule = TYPES[kind]
    if rule.scheme == scheme.type and (not rule.in_config or scheme.trained_length) then
      return kind, rule
    end
  end
end

--- The fields of config.json for a position scheme.
---@param scheme table from `scheme_of`
---@param o table as for `read`; `length`, the maximum number of positions; `partial_field`, the
---   field for the share of rotated features
---@return table? fields nil if the scheme has no counterpart
---@return string? problem
function M.fields(scheme, o)
  if scheme.type == "none" and o.is_optional then -- no layer rotates
    scheme = tables.merged(scheme, { type = "rope", base = o.theta })
  end
  local kind, rule = type_of(scheme)
  local base = scheme.base
  if scheme.type == "ntk" and not scheme.trained_length then
    local rotated = scheme.fraction * o.head_dim
    kind, rule, base = "default", TYPES.default, base * scheme.factor ^ (rotated / (rotated - 2))
  end
  if not kind then
    return nil, ("the position scheme %s has no counterpart; those with one are %s"):format(
      scheme.type, "rope, linear, llama3, longrope, ntk, proportional, yarn")
  elseif scheme.rotate ~= "qk" and scheme.rotate ~= "kq" then
    return nil, ("position: rotate = %q has no counterpart; expected \"qk\""):format(scheme.rotate)
  elseif scheme.last then
    return nil, "position: last = true has no counterpart"
  elseif kind == "yarn" and scheme.ramp ~= "pairs" then
    return nil, ('position: ramp = "%s" has no counterpart; expected "pairs"'):format(scheme.ramp)
  elseif not o.partial and scheme.fraction ~= 1 and kind ~= "proportional" then
    return nil, ("position: fraction = %g has no counterpart; expected 1"):format(scheme.fraction)
  end
  if o.types and not o.types[kind] then
    return nil, ("the position scheme %s has no counterpart; those with one are %s"):format(
      scheme.type, table.concat(tables.map(tables.keys(o.types), function(name)
        return TYPES[name].scheme
      end), ", "))
  end
  local length = rule.in_config and scheme.trained_length or o.length
  local fields = { [o.base] = base + 0.0, max_position_embeddings = length }
  if kind ~= "default" then
    local object = { rope_type = kind }
    for _, row in ipairs(rule) do
      local value = scheme[row[2]]
      if row[3] == "table" and type(value) ~= "table" then -- one number for all pairs
        local list = {}
        for pair = 1, math.floor(scheme.fraction * o.head_dim) // 2 do
          list[pair] = value or scheme.factor
        end
        value = list
      end
      object[row[1]] = row[3] == "number" and value and value + 0.0 or value
    end
    object[ORIGINAL] = rule.has_original and scheme.trained_length or nil
    object.partial_rotary_factor = kind == "proportional" and scheme.fraction or nil
    fields.rope_scaling = object
    fields[ORIGINAL] = o.is_original_beside and object[ORIGINAL] or nil
  end
  if o.partial then
    fields[o.partial_field] = scheme.fraction
  end
  return fields
end

return M
