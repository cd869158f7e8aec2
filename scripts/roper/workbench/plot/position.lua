--- Attention scores of random queries and keys with a position scheme, by distance.
local core = require "roper.core"
local data = require "roper.workbench.plot.data"
local position = require "roper.position"
local schemes = require "roper.position.scheme"
local setting = require "roper.attention.setting"
local scoped = require "roper.base.scoped"

local M = {}

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

local function embedded(scheme, x, positions)
  local draws, heads, time, dim = table.unpack(x:shape())
  local rows = x:transpose(2, 3):contiguous():view { draws, time, heads * dim }
  return scheme:embed(rows, positions):view { draws, time, heads, dim }:transpose(2, 3)
end

-- Returns the scores of the last query with all keys, [draws, heads, keys].
local function scores_of(scheme, o)
  local q, k, x = draw(o)
  scheme = scheme or position.none { dim = o.dim }
  if schemes.is_scheme(scheme) and scheme.embed then
    local places = position.positions(q, k, { causal = true })
    q, k = embedded(scheme, q, places.query), embedded(scheme, k, places.key)
  end
  return setting.new(scheme, q, k, { causal = true, input = x }):scores(q, k):squeeze(3)
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

--- Returns the series of `plot.position`, one for each scheme.
---@param given any a scheme or a list of them
---@param o table the options
function M.series(given, o)
  if o.head and o.head > o.heads then
    error(("plot.position: option head: expected one of %d heads, got %d"):format(o.heads,
      o.head), 0)
  end
  if type(given) ~= "string" and type(given) ~= "table" and not schemes.is_rotary(given) then
    error("plot.position: expected a position scheme or a list of them, got "
      .. data.kind(given), 0)
  end
  local is_list = type(given) == "table" and not schemes.is_scheme(given) and given[1] ~= nil
  local series = {}
  for i, scheme in ipairs(is_list and given or { given }) do
    local made = position.resolve(scheme, { dim = o.dim, heads = o.heads,
      d_model = o.dim * o.heads, length = o.distance + 1 })
    local x, y, low, high = statistics(scoped.with_seed(o.seed, function()
      return core.no_grad(scores_of, made, o)
    end), o.head)
    series[i] = { x = x, y = y, low = low, high = high, label = label_of(scheme) }
  end
  return series
end

return M
