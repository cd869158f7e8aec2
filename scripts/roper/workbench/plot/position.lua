--- Attention scores of random queries and keys with a position scheme, or of random inputs in a
--- model, by distance.
local checked = require "roper.attention.checked"
local core = require "roper.core"
local data = require "roper.workbench.plot.data"
local eager = require "roper.attention.eager"
local options_of = require "roper.options.rows"
local position = require "roper.position"
local record = require "roper.interpret.record"
local schemes = require "roper.position.scheme"
local scoped = require "roper.base.scoped"
local tables = require "roper.base.tables"
local trace = require "roper.model.trace"

local M = {}

-- Defaults of options.
local DIM <const>, HEADS <const>, DISTANCE <const> = 64, 8, 64

-- Returns a label for the legend: the scheme's name and the options that were passed.
local function label_of(scheme)
  local name, parts = position.describe(scheme).name, {}
  if type(scheme) == "table" and not schemes.is_scheme(scheme) then
    for option, value in pairs(scheme) do
      parts[#parts + 1] = option ~= "type" and ("%s = %s"):format(option, type(value) == "table"
        and "{…}" or tostring(value)) or nil
    end
  end
  table.sort(parts)
  return #parts > 0 and ("%s{%s}"):format(name, table.concat(parts, ", ")) or name
end

-- Returns random queries [draws, heads, 1, dim], keys [draws, heads, keys, dim] with the same
-- vector at every distance, and layer inputs [draws, keys, heads dim].
local function draw(o)
  local q = core.randn { o.draws, o.heads, 1, o.dim }
  local k = o.same and q or core.randn { o.draws, o.heads, 1, o.dim }
  return q, k:expand { o.draws, o.heads, o.distance + 1, o.dim },
    core.randn { o.draws, o.distance + 1, o.heads * o.dim }
end

-- The inputs [batch, time, features] of a layer, with positions.
local function embedded(scheme, x, positions)
  return checked.result(scheme, "embed", scheme:embed(x, positions), x:dtype(), x:shape(), true)
end

-- The same for the features of heads.
local function embedded_heads(scheme, x, positions)
  local draws, heads, time, dim = table.unpack(x:shape())
  local rows = x:transpose(2, 3):contiguous():view { draws, time, heads * dim }
  return embedded(scheme, rows, positions):contiguous():view { draws, time, heads, dim }
    :transpose(2, 3)
end

-- Returns the scores of the last query with all keys, [draws, heads, keys]; -inf if it does not see
-- a key.
local function scores_of(scheme, o)
  local q, k, x = draw(o)
  scheme = scheme or position.none { dim = o.dim }
  if schemes.is_scheme(scheme) and scheme.embed then
    local places = position.positions(q, k, { causal = true })
    q, k = embedded_heads(scheme, q, places.query), embedded_heads(scheme, k, places.key)
  end
  return eager.scores(q, k, { position = scheme, causal = true, input = x }):squeeze(3)
end

-- Returns the queries, keys and options of an attention for random inputs that are the same at all
-- positions.
local function inputs_of(attention, norm, x, o)
  local count, scheme, found = o.distance + 1, attention.position, nil
  x = x:expand { o.draws, count, x:size(3) }
  if schemes.is_scheme(scheme) and scheme.embed then
    x = embedded(scheme, x, core.arange(0, count, 1, "float64"):unsqueeze(1))
  end
  x = x:contiguous()
  trace.visit(attention, { attention = function(_, _, call) found = call end },
    norm and norm(x) or x)
  return found
end

-- Returns the scores of the last of several random inputs of a trained attention.
local function scores_of_attention(attention, norm, o)
  local last = o.distance
  local x = core.randn { o.draws, 1, attention.query.weight:size(2) }
  local keys = inputs_of(attention, norm, o.same and x or core.randn(x:shape()), o)
  local q = inputs_of(attention, norm, x, o).q:narrow(3, last + 1, 1)
  return eager.scores(q, keys.k, tables.merged(keys.options, { query_positions = { last },
    key_positions = core.arange(0, last + 1, 1, "float64") })):squeeze(3)
end

-- Returns distances from 0, the mean of the scores, and the mean minus and plus the standard
-- deviation.
local function statistics(scores, head)
  scores = (head and scores:narrow(2, head, 1) or scores):to "float64"
  local count = scores:size(1) * scores:size(2)
  local all = scores:contiguous():view { count, scores:size(3) }
  local mean = all:mean(1)
  local spread = (all - mean):square():mean(1):sqrt():totable()
  mean = mean:totable()
  local x, y, low, high = {}, {}, {}, {}
  for i = 1, #mean do
    local j = #mean + 1 - i
    x[i], y[i], low[i], high[i] = i - 1, mean[j], mean[j] - spread[j], mean[j] + spread[j]
  end
  return x, y, low, high
end

-- Raises an error if a number is above the number of heads or layers.
local function check_index(option, value, count)
  if value and value > count then
    error(("plot.position: option %s: expected one of %d %ss, got %d"):format(option, count, option,
      value), 0)
  end
end

-- Returns the name of a layer's scheme; for a rotary, also what it rotates.
local function name_of(scheme)
  return schemes.is_rotary(scheme) and "rotary " .. scheme:options().rotate
    or scheme and position.describe(scheme).name or "none"
end

-- Returns the attentions of a model to draw: {label, attention, norm}. Layers that would look the
-- same are not left out, since their queries and keys differ.
local function layers_of(model, o)
  local norms = {} -- the norm before an attention
  for _, entry in ipairs(model:named_modules()) do
    local module = entry.module
    norms[module.attention or false] = module.norm == "pre" and module.attention_norm or nil
  end
  local attentions = record.multi_head("plot.position", model)
  check_index("layer", o.layer, #attentions)
  local list = {}
  for i = o.layer or 1, o.layer or #attentions do
    local attention = attentions[i].module
    check_index("head", o.head, attention.heads)
    list[#list + 1] = { label = ("layer %d: %s"):format(i, name_of(attention.position)),
      attention = attention, norm = norms[attention] }
  end
  return list
end

-- Returns what to draw: for each scheme, {label, scheme}; for a model, the entries of `layers_of`.
local function entries_of(given, o)
  local is_module = not options_of.mismatch("module", given)
  if type(given) ~= "string" and type(given) ~= "table" and not schemes.is_rotary(given) then
    error("plot.position: expected a position scheme, a list of them, or a model, got "
      .. data.kind(given), 0)
  end
  if is_module then
    if o.dim or o.heads then
      error(("plot.position: option %s: expected none, a model has its own"):format(
        o.dim and "dim" or "heads"), 0)
    end
    return layers_of(given, o)
  end
  if o.layer then
    error("plot.position: option layer: expected a model, got " .. data.kind(given), 0)
  end
  check_index("head", o.head, o.heads or HEADS)
  local is_list = type(given) == "table" and not schemes.is_scheme(given) and given[1] ~= nil
  return tables.map(is_list and given or { given }, function(scheme)
    return { label = label_of(scheme), scheme = scheme }
  end)
end

-- The largest distance to draw by default: that of the longest input of a model.
local function farthest(given)
  local length = not options_of.mismatch("module", given) and type(given.options) == "table"
    and given.options.length
  return length and math.max(1, math.min(DISTANCE, length - 1)) or DISTANCE
end

--- Returns the series of `plot.position`, one for each scheme or layer of a model.
---@param given any a scheme, a list of them, or a model
---@param options table the options
---@return table[] series
function M.series(given, options)
  local entries = entries_of(given, options)
  local o = tables.merged({ dim = DIM, heads = HEADS, distance = farthest(given) }, options)
  local series = {}
  for i, entry in ipairs(entries) do
    local scores
    if entry.attention then
      scores = scoped.with_seed(o.seed, function()
        return scoped.without_training(given, function()
          return scores_of_attention(entry.attention, entry.norm, o)
        end)
      end)
    else
      local made = position.resolve(entry.scheme, { dim = o.dim, heads = o.heads,
        d_model = o.dim * o.heads, length = o.distance + 1 })
      scores = scoped.with_seed(o.seed, function()
        return core.no_grad(scores_of, made, o)
      end)
    end
    local x, y, low, high = statistics(scores, o.head)
    series[i] = { x = x, y = y, low = low, high = high, label = entry.label }
  end
  return series
end

return M
