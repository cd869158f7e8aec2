--- The position schemes of a model as classes of Python.
local core = require "roper.core"
local format = require "roper.text.format"
local options_of = require "roper.options.rows"
local python = require "roper.model.pytorch.python"
local registry = require "roper.position.registry"
local schemes = require "roper.position.scheme"
local settings = require "roper.model.settings"
local tables = require "roper.base.tables"
local texts = require "roper.position.text"

local M = {}

--- A scheme of an attention, without those that are combined with it.
---@class PytorchScheme
---@field name string
---@field definition table
---@field options table<string, any> with their defaults
---@field shapes table<string, integer[]> of its trained tensors
---@field constants table<string, tensor> that its text uses
---@field flags table<string, any> for `python.selected`
---@field text string its methods in Python
---@field class string
---@field is_stub boolean whether its text is to be filled in

-- The schemes of one layer in a position option: their names and the options that the user set.
local function named(position)
  if type(position) == "string" then
    return texts.parse(position, "position")[1]
  elseif position.parts then
    return tables.joined(table.unpack(tables.map(position.parts, named)))
  end
  local given = tables.merged(position)
  given.type = nil
  local parts = registry.definitions[position.type] and { { type = position.type, given = {} } }
    or texts.parse(position.type, "position")[1]
  parts[1].given = tables.merged(parts[1].given, given)
  return parts
end

--- The schemes in an option `position`, for the layers in turn.
---@param position any
---@return table[][] layers of {type, given}
function M.named(position)
  position = settings.plain(position)
  local layers
  if type(position) == "string" then
    layers = texts.parse(position, "position")
  else
    layers = tables.map(position.type == nil and not position.parts and position or { position },
      named)
  end
  return tables.map(layers, function(parts)
    return tables.map(parts, function(part) return part.type ~= "none" and part or nil end)
  end)
end

--- The name of schemes, for titles: the text of a position option, or without one their names.
---@param position any
---@return string name
function M.title(position)
  if type(position) == "string" then
    return position
  end
  return table.concat(tables.map(M.named(position), function(parts)
    local names = tables.map(parts, function(part) return part.type end)
    return names[1] and table.concat(names, "+") or "none"
  end), ":")
end

local function is_same(a, b)
  return core.json_encode(a, { sort = true }) == core.json_encode(b, { sort = true })
end

-- Options with their defaults, without value_fraction if it is that of queries and keys.
local function completed(definition, options)
  local all = tables.merged(options)
  for _, row in ipairs(options_of.rows_of(definition.takes)) do
    if all[row[1]] == nil then
      all[row[1]] = row[3]
    end
  end
  if all.value_fraction == all.fraction then
    all.value_fraction = nil
  end
  return all
end

-- The name and the options of a rotary: those in the option `position` if they create it.
local function rotary(scheme, part, context)
  local all = options_of.completed("RotaryOptions", scheme:options())
  local definition = part and registry.find(part.type)
  if part and (part.type == "rope" or part.type == "roper") then
    return part.type, all
  elseif definition then
    local options = tables.merged(part.given)
    for name in pairs(texts.CONTEXT) do
      options[name] = definition.takes[name] and context[name] or nil
    end
    if is_same(definition.make(options):options(), scheme:options()) then
      return part.type, options
    end
  end
  return "rope", all
end

-- The flags of a scheme: options that are set and differ from a number that is their default, and
-- "name=value" for words.
local function flags_of(definition, options)
  local flags, defaults = {}, {}
  for _, row in ipairs(options_of.rows_of(definition.takes)) do
    defaults[row[1]] = row[3]
  end
  for name, value in pairs(options) do
    if type(value) == "string" then
      flags[name .. "=" .. value] = true
    elseif value and value ~= (math.type(value) and defaults[name]) then
      flags[name] = true
    end
  end
  return flags
end

-- The trained tensors of a scheme, by name.
local function shapes_of(parameters, prefix)
  local shapes = {}
  for _, entry in ipairs(parameters) do
    if entry.name:sub(1, #prefix) == prefix then
      shapes[entry.name:sub(#prefix + 1)] = entry.tensor:shape()
    end
  end
  return shapes
end

-- "learned_frequencies" as "LearnedFrequenciesPosition".
local function class_name(name)
  return ("_" .. name):gsub("_(%w)", string.upper):gsub("_", "") .. "Position"
end

local NO_TEXT <const> = [[
def forward(self, q, k, v, positions, x):
    # q is [batch, heads, queries, features], those of the last tokens; k and v are [batch,
    # heads, keys, features]; positions are [1 or batch, keys]; x, the input of the layer, is
    # [batch, keys, d_model]. Return what the scheme changes, by the names in `attend`.
    raise NotImplementedError("fill in forward of %s, the position scheme %s")]]

-- A scheme of an attention: a Scheme or a rotary. `part` is from `named`.
local function described(scheme, part, context, parameters, prefix, causal)
  local name, options
  if schemes.is_rotary(scheme) then
    name, options = rotary(scheme, part, context)
  else
    name, options = scheme.name, scheme.given
  end
  local definition = registry.find(name)
  options = completed(definition, options)
  local flags = flags_of(definition, options)
  flags.causal = causal or nil
  local source = definition.pytorch
  local text = python.selected(source or NO_TEXT:format(class_name(name), name), flags,
    { scale = context.scale and python.literal(context.scale) or "q.shape[-1] ** -0.5" })
  local shapes, constants = shapes_of(parameters, prefix), {}
  for field, value in pairs(type(scheme) == "table" and scheme or {}) do
    if format.is_tensor(value) and not shapes[field]
      and python.mentions(text, "self." .. field) then
      constants[field] = value
    end
  end
  return { name = name, definition = definition, options = options, shapes = shapes,
    constants = constants, flags = flags, text = text, is_stub = not source }
end

--- The schemes of an attention.
---@param scheme Scheme|rotary|nil
---@param parts table[] from `named`
---@param context table dim, heads, d_model and length; optionally the scale of the scores
---@param parameters NamedParameter[] of the model
---@param prefix string of the names of the scheme's parameters
---@param causal boolean
---@return PytorchScheme[] list
function M.of(scheme, parts, context, parameters, prefix, causal)
  if scheme == nil then
    local none = registry.find "none"
    return { { name = "none", definition = none, options = {}, shapes = {}, constants = {},
      flags = {}, text = python.selected(none.pytorch, {}), is_stub = false } }
  end
  local has_scale = not context.scale and schemes.is_scheme(scheme) and scheme.scale
  context = has_scale and tables.merged(context, { scale = scheme:scale(context.dim) }) or context
  if type(scheme) == "userdata" or not scheme.parts then
    return { described(scheme, parts[1], context, parameters, prefix, causal) }
  end
  local list, scaling = {}, nil
  for i, part in ipairs(scheme.parts) do
    local one = described(part, parts[i], context, parameters, prefix .. "parts." .. i .. ".",
      causal)
    if one.text:find('"query_scale"', 1, true) then
      if scaling then
        error(("export_pytorch: expected at most one scheme of a combination that multiplies the "
          .. "scores of queries, got %s and %s"):format(scaling, one.name), 0)
      end
      scaling = one.name
    end
    list[i] = one
  end
  return list
end

--- The tensors of the schemes of an attention that are not trained, by name.
---@param parts PytorchScheme[]
---@return table<string, tensor> tensors
function M.constants(parts)
  local tensors = {}
  for i, one in ipairs(parts) do
    for name, tensor in pairs(one.constants) do
      tensors[parts[2] and ("parts.%d.%s"):format(i, name) or name] = tensor
    end
  end
  return tensors
end

-- The options that the text of a scheme reads, or all if it has none.
local function read_options(one, flags)
  local names = {}
  local function add(name, default)
    names[name] = one.options[name] == nil and default or one.options[name]
  end
  for name, value in pairs(one.options) do
    local is_writable = type(value) ~= "userdata" and type(value) ~= "function"
    if is_writable and (one.is_stub or python.mentions(one.text, "self." .. name)) then
      add(name)
    end
  end
  if flags.mixed and python.mentions(one.text, "turned") then
    add("rotate", "qkvo")
  end
  if python.mentions(one.text, "turned") or python.mentions(one.text, "magnified") then
    for name, default in pairs { pairing = "half", last = false } do
      if flags[name == "last" and name or "interleaved"] then
        add(name, default)
      end
    end
  end
  return names
end

local WIDTH <const> = 92 -- of lines in a method

-- The statements that set options, as few as fit their lines.
local function assignments(options)
  local lines, names, values = {}, "", ""
  for _, name in ipairs(tables.keys(options)) do
    local value = python.literal(options[name])
    local both, all = names .. ", self." .. name, values .. ", " .. value
    if names == "" or #both + #all + 3 > WIDTH then
      lines[#lines + 1], both, all = true, "self." .. name, value
    end
    names, values = both, all
    lines[#lines] = names .. " = " .. values
  end
  return lines
end

-- The statements of a class that set options and tensors.
local function statements_of(one, flags)
  local lines, seen = assignments(read_options(one, flags)), {}
  for _, name in ipairs(tables.keys(one.shapes)) do
    for holder in name:gmatch "()%." do
      holder = name:sub(1, holder - 1)
      lines[#lines + 1] = not seen[holder] and ("self.%s = nn.Module()"):format(holder) or nil
      seen[holder] = true
    end
    lines[#lines + 1] = ("self.%s = nn.Parameter(torch.zeros%s)"):format(name,
      python.literal(one.shapes[name]))
  end
  for _, name in ipairs(tables.keys(one.constants)) do
    lines[#lines + 1] = ('self.register_buffer("%s", torch.zeros%s)'):format(name,
      python.literal(one.constants[name]:shape()))
  end
  return lines
end

-- A text with long lines broken at blanks.
local function wrapped(text)
  return (text:gsub("[^\n]+", function(line)
    local lines = {}
    while utf8.len(line) > WIDTH do
      local at = utf8.offset(line, WIDTH)
      local cut = line:sub(1, at):match "^.*%S() +%S"
      if not cut then
        break
      end
      lines[#lines + 1], line = line:sub(1, cut - 1), line:sub(cut):gsub("^ +", "")
    end
    lines[#lines + 1] = line
    return table.concat(lines, "\n")
  end))
end

-- The documentation of a scheme: summary, formula, source.
local function documentation(one)
  local definition = one.definition
  local formula = definition.formula
  formula = type(formula) == "function" and formula(one.options) or formula
  local text = (definition.summary or "the position scheme " .. one.name):gsub("^%l", string.upper)
    .. "."
  if formula then
    text = text .. "\n\n" .. python.indented(wrapped((formula:gsub(",   ", ",\n"))))
  end
  if definition.source then
    text = text .. (formula and "\n" or "\n\n") .. "Source: " .. definition.source
  end
  return text
end

--- The class of a scheme.
---@param one PytorchScheme with its `class`
---@param flags table<string, any> from `classes`
---@return string text
function M.class(one, flags)
  local text, lines = documentation(one), statements_of(one, flags)
  local parts = { ('"""%s%s"""'):format(text, text:find "\n" and "\n" or "") }
  if lines[1] then
    parts[2] = "def __init__(self):\n    super().__init__()\n"
      .. python.indented(table.concat(lines, "\n"))
  end
  parts[#parts + 1] = one.text
  if not one.text:find "def forward" then
    parts[#parts + 1] = "def forward(self, q, k, v, positions, x):\n    return {}"
  end
  return ("class %s(nn.Module):\n%s"):format(one.class,
    python.indented(table.concat(parts, "\n\n")))
end

-- Sets the field `class` of the schemes, and returns each class once.
local function name_classes(all, flags)
  local classes, count, known = {}, {}, {}
  for _, one in ipairs(all) do
    local key = table.concat(statements_of(one, flags), "\n") .. one.name .. "\n" .. one.text
    if not known[key] then
      count[one.name] = (count[one.name] or 0) + 1
      known[key] = class_name(one.name) .. (count[one.name] > 1 and count[one.name] or "")
      classes[#classes + 1] = one
    end
    one.class = known[key]
  end
  return classes
end

-- The names of what schemes may change in attention.
local TERMS <const> = { "output", "bias", "products", "scale", "query_scale", "hidden", "scores",
  "add", "mix" }

local function is_same_set(a, b)
  return not a:find("[^" .. b .. "]") and not b:find("[^" .. a .. "]")
end

-- Does one of the schemes compute from the input of its layer?
local function reads_x(all)
  for _, one in ipairs(all) do
    local body = one.text:match "def forward%b()(.*)"
    if body and python.mentions(body, "x") then
      return true
    end
  end
  return false
end

--- Names the classes of schemes, and collects what they need of the module.
---@param all PytorchScheme[] of all layers
---@param causal boolean
---@return PytorchScheme[] classes each class once
---@return table<string, any> flags for the pieces
function M.classes(all, causal)
  local flags, rotated = { causal = causal or nil }, nil
  local joined = table.concat(tables.map(all, function(one) return one.text end), "\n")
  local function set(name, condition)
    flags[name] = condition and true or flags[name]
  end
  for _, one in ipairs(all) do
    local rotate = python.mentions(one.text, "turned") and (one.options.rotate or "qkvo")
    for letter in (rotate or ""):gmatch "." do
      flags[letter] = true
    end
    if rotate then
      set("mixed", rotated and not is_same_set(rotated, rotate))
      rotated = rotate
    end
    set("interleaved", one.options.pairing == "interleaved")
    set("last", one.options.last)
    set("constants", next(one.constants))
    set("stub", one.is_stub)
    set("scheme", one.name ~= "none")
  end
  for _, name in ipairs(TERMS) do
    set(name, joined:find('"' .. name .. '"', 1, true))
  end
  set("output", flags.o)
  set("turns", flags.q or flags.k or flags.v or joined:find '"[qkv]"')
  set("embed", joined:find("def embed", 1, true))
  set("reads_x", flags.stub or reads_x(all))
  for _, name in ipairs(flags.stub and TERMS or {}) do
    flags[name] = true
  end
  set("turns", flags.stub)
  set("explicit", flags.scores or flags.add or flags.mix)
  set("plain", not (flags.bias or flags.products or flags.hidden))
  return flags.scheme and name_classes(all, flags) or {}, flags
end

return M
