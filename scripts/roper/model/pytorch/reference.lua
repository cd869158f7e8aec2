--- What an exported module is compared with: tokens, logits, loss, gradients and a completion.
local attention = require "roper.attention"
local core = require "roper.core"
local diagnostics = require "roper.text.diagnostics"
local eager = require "roper.attention.eager"
local format = require "roper.text.format"
local schemes = require "roper.position.scheme"
local scoped = require "roper.base.scoped"
local tables = require "roper.base.tables"
local traverse = require "roper.model.traverse"

local M = {}

local BATCH <const>, TIME <const> = 2, 24
local PROMPT <const>, COMPLETION <const> = 5, 12

-- Runs f while the parameters of a model are copies, which `change_of` returns, without gradients.
local function with_copies(model, change_of, f)
  local copies, changed = {}, {}
  local function copy(holder)
    for _, name in ipairs(tables.keys(holder)) do
      local value = holder[name]
      if format.is_tensor(value) and value:is_parameter() then
        copies[value] = copies[value] or change_of(value:detach()):clone():parameter()
        changed[#changed + 1] = { holder, name, value }
      end
    end
  end
  copy(model)
  traverse.walk(model, function(_, value)
    if type(value) == "table" then
      copy(value)
    end
  end)
  for _, change in ipairs(changed) do
    change[1][change[2]] = copies[change[3]]
  end
  return scoped.finally(f, function()
    for _, change in ipairs(changed) do
      change[1][change[2]] = change[3]
    end
  end)
end

-- Runs a function in float64 or, if a scheme of a user cannot compute in float64, in float32.
local function precisely(model, f)
  local function in_dtype(dtype)
    return with_copies(model, function(x) return x:to(dtype) end, function() return f(dtype) end)
  end
  local ok, result = pcall(in_dtype, "float64")
  if ok then
    return result, "float64"
  elseif diagnostics.is_transient(result) then
    error(result, 0)
  end
  return in_dtype "float32", "float32"
end

-- Runs f with a model in evaluation mode.
local function evaluating(model, f)
  local states = tables.map(model:named_modules(), function(entry)
    return { entry.module, entry.module.is_training }
  end)
  model:training(false)
  return scoped.finally(f, function()
    for _, state in ipairs(states) do
      state[1].is_training = state[2]
    end
  end)
end

-- The number of coordinates of positions: more than one if all schemes read coordinates.
local function coordinates_of(layers)
  local count = 1
  for _, layer in ipairs(layers) do
    local scheme = layer.scheme
    local own = schemes.is_rotary(scheme) and scheme:options().coordinates
    if not own then
      return 1
    end
    count = math.max(count, table.unpack(own))
  end
  return count
end

-- Positions of the tokens: consecutive in the first row, with gaps in the second if a table of
-- `length` positions permits it. Further coordinates differ from the first.
local function positions_of(time, length, coordinates)
  local rows, step = {}, length and (length - 1) // math.max(time - 1, 1) or 3
  for row = 1, BATCH do
    rows[row] = {}
    for t = 0, time - 1 do
      local at = row == 1 and t or t * math.min(step, 1 + t % 3)
      at = row > 1 and t > 0 and math.max(at, rows[row][t].first + 1) or at
      local place = { first = at }
      for c = 1, coordinates do
        place[c] = c == 1 and at or at // (c + 1) + c
      end
      rows[row][t + 1] = place
    end
  end
  local list = tables.map(rows, function(row)
    return tables.map(row, function(place)
      return coordinates > 1 and table.move(place, 1, coordinates, 1, {}) or place.first
    end)
  end)
  return core.tensor(list, "float64")
end

-- The prompt and its most likely continuation, computed with a cache.
local function completed(model, prompt, count)
  local tokens = prompt
  local cache = model:cache { batch = prompt:size(1), length = prompt:size(2) + count }
  local new = prompt
  for _ = 1, count do
    local logits = model(new, cache)
    new = logits:narrow(2, logits:size(2), 1):argmax(3) - 1
    tokens = core.cat({ tokens, new }, 2)
  end
  return tokens
end

--- The tensors of check.safetensors.
---@param model Transformer
---@param layers table[] each with its `scheme`
---@param length? integer number of positions that a scheme has, if it is limited
---@return table<string, tensor> tensors
---@return string dtype in which they were computed
function M.of(model, layers, length)
  local vocabulary, time = model.options.vocabulary, math.min(TIME, length or TIME)
  local tokens = scoped.with_seed(0, function()
    return (core.rand { BATCH, time } * vocabulary):to "int32":minimum(vocabulary - 1)
  end)
  local positions = positions_of(time, length, coordinates_of(layers))
  local prompt = tokens:narrow(2, 1, math.min(PROMPT, time)):contiguous()
  local count = math.min(COMPLETION, (length or time) - prompt:size(2))
  return precisely(model, function(dtype)
    return evaluating(model, function()
      local found = { tokens = tokens, positions = positions, prompt = prompt,
        completion = core.no_grad(function() return completed(model, prompt, count) end) }
      local logits = model(tokens, nil, positions)
      local loss = core.cross_entropy(logits:narrow(2, 1, time - 1):contiguous(),
        tokens:narrow(2, 2, time - 1):contiguous())
      loss:backward()
      found.logits, found.loss = logits:detach():contiguous(), loss:detach()
      for _, entry in ipairs(model:named_parameters()) do
        local gradient = entry.tensor.grad or core.zeros(entry.tensor:shape(), dtype)
        found["gradient " .. entry.name] = gradient:contiguous()
      end
      return found
    end)
  end)
end

local QUERIES <const>, KEYS <const> = 6, 9

-- The trained tensors of a scheme by name.
local function trained_in(scheme)
  local found = {}
  traverse.walk({ scheme = scheme }, function(path, value)
    if format.is_tensor(value) and value:is_parameter() then
      found[path:sub(#"scheme." + 1)] = value
    end
  end)
  return found
end

-- Random queries, keys, values and inputs of a layer, with the gradient of the output.
local function inputs_of(sizes)
  local shape = { BATCH, sizes.heads, KEYS, sizes.dim }
  local list = { v = core.randn(shape, "float64"), k = core.randn(shape, "float64"),
    x = core.randn({ BATCH, KEYS, sizes.d_model }, "float64") }
  shape[3] = QUERIES
  list.q = core.randn(shape, "float64")
  return list, core.randn(shape, "float64")
end

-- Scores, output and gradients of attention with a scheme.
local function attended(scheme, inputs, gradient, how, dtype)
  local own = {}
  for name, x in pairs(inputs) do
    own[name] = x:to(dtype):clone():parameter()
  end
  how.position, how.input = scheme, schemes.is_scheme(scheme) and own.x or nil
  local output = attention.attention(own.q, own.k, own.v, how)
  output:backward(gradient:to(dtype))
  local found = { output = output:detach(), ["gradient of output"] = gradient:to(dtype),
    scores = eager.scores(own.q, own.k, how):detach() }
  for name, x in pairs(tables.merged(own, trained_in(scheme))) do
    found["gradient " .. name] = (x.grad or core.zeros(x:shape(), dtype)):contiguous()
  end
  return found
end

--- The tensors with which attention alone is compared.
---@param scheme Scheme|rotary
---@param constants table<string, tensor> of the scheme that are not trained, by name
---@param sizes table heads, dim and d_model; optionally scale and softcap of the scores
---@param is_causal boolean
---@return table<string, tensor> tensors
---@return string dtype in which they were computed
function M.attention(scheme, constants, sizes, is_causal)
  return scoped.with_seed(0, function()
    local inputs, gradient = inputs_of(sizes)
    local positions = positions_of(KEYS, nil, coordinates_of { { scheme = scheme } })
    local holder, tensors = { position = scheme }, {}
    for name, tensor in pairs(tables.merged(trained_in(scheme), constants)) do
      tensors["initial " .. name] = tensor:detach():to("float32"):contiguous()
    end
    local function stirred(x) -- values that are 0 would hide errors
      return x + core.rand(x:shape()) * 0.25
    end
    local found, dtype = with_copies(holder, stirred, function()
      for name, tensor in pairs(tables.merged(trained_in(holder.position), constants)) do
        tensors["tensor " .. name] = tensor:detach():to("float32"):contiguous()
      end
      return precisely(holder, function(dtype)
        return attended(scheme, inputs, gradient, { causal = is_causal, key_positions = positions,
          query_positions = positions:narrow(2, KEYS - QUERIES + 1, QUERIES), scale = sizes.scale,
          softcap = sizes.softcap }, dtype)
      end)
    end)
    for name, x in pairs(inputs) do
      tensors[name] = x:to(dtype)
    end
    tensors.positions = positions
    return tables.merged(tensors, found), dtype
  end)
end

return M
