--- The checks that every position scheme must pass. A check is a function of the case. It returns
--- the largest difference found, the largest difference allowed, and optionally a remark. If the
--- scheme refuses the operation, the check raises that error. `fault` says what a larger difference
--- means.
local attention = require "roper.attention"
local cases = require "roper.model.battery.case"
local checkpoint = require "roper.model.checkpoint"
local core = require "roper.core"
local diagnostics = require "roper.text.diagnostics"
local eager = require "roper.attention.eager"
local gradcheck = require "roper.tensor.gradcheck"
local position = require "roper.position"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"
local scoped = require "roper.base.scoped"
local transformer = require "roper.model.transformer"

local EXACT <const> = 1e-9 -- float64: equal up to the order of summation

local UNEVEN <const> = { 0, 1, 3, 4, 6, 7 } -- positions with gaps

local attend, difference = cases.attend, cases.difference

local M = {}

local function add(name, run, fault)
  M[#M + 1] = { name = name, run = run, fault = fault }
end

-- Returns the largest result of f over all modes.
local function worst_of(case, f)
  local worst = 0
  for _, causal in ipairs(case.modes) do
    worst = math.max(worst, f(causal))
  end
  return worst
end

local function range(first, last)
  local list = {}
  for i = first, last do
    list[#list + 1] = i
  end
  return list
end

-- Returns options with positions of the keys and of the queries, which are the last keys.
local function places(key)
  return { key_positions = key,
    query_positions = key:narrow(2, cases.KEYS - cases.QUERIES + 1, cases.QUERIES) }
end

local function text_of(scheme)
  return core.json_encode(checkpoint.options({ options = { position = scheme } }).position)
end

add("options", function(case)
  local scheme = case:make().position
  local saved = text_of(scheme)
  local recreated = text_of(position.resolve(core.json_decode(saved), case.context))
  if recreated ~= saved then
    error(("expected the scheme from options %s to have the same options, got %s"):format(saved,
      recreated), 0)
  end
  local is_one = schemes.is_scheme(scheme) and not scheme.parts
  for name, value in pairs(is_one and case.options or {}) do
    local kept = core.json_encode { core.json_decode(saved)[name] }
    local given = core.json_encode { value }
    if name ~= "type" and given ~= kept then
      error(("expected options with %s = %s, got %s"):format(name, given, kept), 0)
    end
  end
  return 0, 0
end)

-- Checks shapes, dtypes, and that the weights sum to 1. A mode that works is added to the case.
local function runs(case, causal)
  local worst = 0
  for _, dtype in ipairs { "float32", "float64" } do
    local inputs = case:inputs(dtype)
    local o, weights = attend(attention.attention, case:make(dtype), inputs,
      { causal = causal, weights = true })
    local expected = inputs[1]
    if o:dtype() ~= dtype or difference(o, o) ~= 0
      or table.concat(o:shape(), ", ") ~= table.concat(expected:shape(), ", ") then
      error(("expected %s [%s] of finite numbers, got %s [%s]"):format(dtype,
        table.concat(expected:shape(), ", "), o:dtype(), table.concat(o:shape(), ", ")), 0)
    end
    worst = math.max(worst, difference(weights:sum(4), core.ones { cases.BATCH,
      case.context.heads, cases.QUERIES }))
  end
  case.modes[#case.modes + 1] = causal
  return worst, 1e-5
end

add("not causal", function(case) return runs(case, false) end)
add("causal", function(case) return runs(case, true) end)

add("future tokens", function(case)
  local inputs = case:inputs()
  local before = attend(attention.attention, case:make(), inputs, { causal = true })
  for i, x in ipairs(inputs) do
    local axis = i == 4 and 2 or 3
    inputs[i] = core.cat({ x:narrow(axis, 1, x:size(axis) - 1),
      x:narrow(axis, x:size(axis), 1) + 1 }, axis)
  end
  local after = attend(attention.attention, case:make(), inputs, { causal = true })
  local seen = cases.QUERIES - 1
  return difference(before:narrow(3, 1, seen), after:narrow(3, 1, seen)), EXACT
end, "a query depends on later tokens")

add("fewer queries", function(case)
  local few = attend(attention.attention, case:make(), case:inputs(), { causal = true })
  local all = attend(attention.attention, case:make(), case:inputs("float64", cases.KEYS),
    { causal = true })
  return difference(all:narrow(3, cases.KEYS - cases.QUERIES + 1, cases.QUERIES), few), EXACT
end, "a query depends on how many others there are")

add("rows", function(case)
  local holder, coordinates = case:make()
  local inputs, rows = case:inputs(), { range(0, 5), UNEVEN }
  return worst_of(case, function(causal)
    local function output(given, list)
      local how = places(cases.positions(list, coordinates))
      how.causal = causal
      return attend(attention.attention, holder, given, how)
    end
    local both, worst = output(inputs, rows), 0
    for row = 1, cases.BATCH do
      local alone = tables.map(inputs, function(x) return x:narrow(1, row, 1) end)
      worst = math.max(worst, difference(output(alone, { rows[row] }), both:narrow(1, row, 1)))
    end
    return worst
  end), EXACT
end, "a row of the batch depends on another")

-- Does a scheme compute from the input of the layer at earlier tokens, even if keys are hidden?
local function has_state(scheme)
  if schemes.is_rotary(scheme) then
    return false
  end
  for _, part in ipairs(scheme.parts or {}) do
    if has_state(part) then
      return true
    end
  end
  return scheme.state ~= nil
end

add("hidden keys", function(case)
  local holder, coordinates = case:make()
  local inputs = case:inputs()
  local all = cases.positions({ range(0, 5) }, coordinates)
  local last = all:narrow(2, 3, 4)
  if has_state(holder.position) then
    local other = { inputs[1], inputs[2]:clone(), inputs[3]:clone(), inputs[4] }
    other[2]:narrow(3, 1, 2):fill(3)
    other[3]:narrow(3, 1, 2):fill(-5)
    return worst_of(case, function(causal)
      local how = tables.merged(places(all), { causal = causal,
        mask = core.tensor({ 0, 0, 1, 1, 1, 1 }, "int32") })
      return difference(attend(attention.attention, holder, inputs, how),
        attend(attention.attention, holder, other, how))
    end), EXACT
  end
  local without = { inputs[1], inputs[2]:narrow(3, 3, 4), inputs[3]:narrow(3, 3, 4),
    inputs[4]:narrow(2, 3, 4) }
  return worst_of(case, function(causal)
    return difference(
      attend(attention.attention, holder, inputs, { causal = causal, query_positions = last,
        key_positions = all, mask = core.tensor({ 0, 0, 1, 1, 1, 1 }, "int32") }),
      attend(attention.attention, holder, without, { causal = causal, query_positions = last,
        key_positions = last }))
  end), EXACT
end, "a query depends on keys that the mask hides")

add("no key", function(case)
  local o = attend(attention.attention, case:make(), case:inputs(), { causal = true,
    mask = core.zeros({ cases.KEYS }, "int32") })
  return o:abs():max():item(), 0
end, "a query that sees no key does not get 0")

add("gradients", function(case)
  local holder, coordinates = case:make()
  local parameters, put = cases.trained(holder)
  local inputs = case:inputs()
  table.move(parameters, 1, #parameters, #inputs + 1, inputs)
  return worst_of(case, function(causal)
    local largest = 0
    for _, how in ipairs { {}, places(cases.positions({ range(0, 5), UNEVEN }, coordinates)) } do
      how.causal = causal
      local _, worst = gradcheck.gradcheck(function(...)
        local given = { ... }
        put(given, 4)
        return (attend(attention.attention, holder, given, how))
      end, inputs, { limit = 12 })
      largest = math.max(largest, worst)
    end
    return largest
  end), 1e-6
end, "gradients are not those of finite differences")

-- Returns the options of attention with which two implementations are compared.
local function settings(coordinates)
  core.seed(3)
  return { {}, { offset = 2 }, places(cases.positions({ range(0, 5), UNEVEN }, coordinates)),
    places(cases.positions({ { -4.5, 2, 0.25, 3, 3, -1 } }, coordinates)),
    { mask = core.rand { cases.QUERIES, cases.KEYS }:gt(0.4) },
    { bias = core.randn({ cases.KEYS }, "float64"), scale = 0.3 } }
end

-- Like pcall, but Ctrl-C ends the battery.
local function attempt(f, how)
  local ok, result = pcall(f, how)
  if not ok and diagnostics.is_interrupt(result) then
    error(result, 0)
  end
  return ok, result
end

-- Compares two implementations of attention in all settings. Settings that both refuse are skipped;
-- if both refuse all of them, the last refusal is raised.
local function agree(case, one, other)
  local _, coordinates = case:make()
  local worst, runs_somewhere, refusal = 0, false, nil
  for _, causal in ipairs(case.modes) do
    for _, how in ipairs(settings(coordinates)) do
      how.causal = causal
      local ok, a = attempt(one, how)
      local also_ok, b = attempt(other, how)
      if ok ~= also_ok then
        error(ok and b or a, 0)
      elseif not ok then
        refusal = a
      else
        runs_somewhere = true
        for i, x in ipairs(a) do
          worst = math.max(worst, difference(x, b[i]))
        end
      end
    end
  end
  if not runs_somewhere and refusal then
    error(refusal, 0)
  end
  return worst, EXACT
end

-- Returns a function that computes the output and the gradients of all inputs and parameters.
local function with_gradients(case, by)
  return function(how)
    local holder, inputs = case:make(), case:inputs()
    for i, x in ipairs(inputs) do
      inputs[i] = x:contiguous():parameter()
    end
    local o = attend(by, holder, inputs, how)
    o:backward(core.arange(0, o:count(), 1, "float64"):sin():view(o:shape()))
    local list = { o }
    for _, group in ipairs { inputs, holder:parameters() } do
      for _, x in ipairs(group) do
        list[#list + 1] = x.grad or core.zeros(x:shape(), "float64")
      end
    end
    return list
  end
end

add("eager", function(case)
  return agree(case, with_gradients(case, eager.attention),
    with_gradients(case, attention.attention))
end, "roper.attention and roper.eager.attention differ")

-- Positions far from each other, for schemes that treat far ones differently.
local SPREAD <const> = { 0, 1, 40, 640, 20000, 200000 }

-- A gradient of exactly 0 in all settings means that no method reads the tensor.
add("trained tensors", function(case)
  local holder, coordinates = case:make()
  local unused = tables.map(holder:named_parameters(), function(entry)
    return (entry.name:gsub("^position%.", ""))
  end)
  local count, gradients = #unused, with_gradients(case, attention.attention)
  local all = settings(coordinates)
  all[#all + 1] = places(cases.positions({ SPREAD }, coordinates))
  for _, causal in ipairs(case.modes) do
    for _, how in ipairs(count > 0 and all or {}) do
      how.causal = causal
      local ok, list = attempt(gradients, how)
      for i = 1, ok and count or 0 do
        if list[#list - count + i]:ne(0):any() then
          unused[i] = false
        end
      end
    end
  end
  local names = tables.entries(unused)
  if names[1] then
    error(("expected trained tensors that change the output, got a gradient of 0 for %s; use them "
      .. "in a method or remove them"):format(table.concat(names, ", ")), 0)
  end
  return 0, 0
end)

add("oracle", function(case)
  local function by(run)
    return function(how)
      return core.no_grad(function()
        return { (attend(run, case:make(), case:inputs(), how)) }
      end)
    end
  end
  return agree(case, by(attention.oracle.attention), by(attention.attention))
end, "roper.attention and roper.oracle.attention differ")

add("float32", function(case)
  return worst_of(case, function(causal)
    local found = {}
    for i, dtype in ipairs { "float32", "float64" } do
      found[i] = attend(attention.attention, case:make(dtype), case:inputs(dtype),
        { causal = causal })
    end
    return difference(found[1], found[2])
  end), 1e-4
end, "float32 is far from float64")

for _, step in ipairs { 1, 640, 0.5, -3 } do
  add(("moved by %g"):format(step), function(case)
    local holder, coordinates = case:make()
    local inputs = case:inputs()
    local worst = worst_of(case, function(causal)
      local function output(moved)
        local how = places(cases.positions({ range(0, 5) }, coordinates) + moved)
        how.causal = causal
        return attend(attention.attention, holder, inputs, how)
      end
      return difference(output(0), output(step))
    end)
    return worst, case.relative and EXACT or math.huge,
      case.relative and "relative: output unchanged" or "not relative"
  end, "positions moved together change the output, but the scheme has relative = true")
end

-- Returns a small model, float64 by default, and tokens for it.
local function model_of(case, dtype)
  core.seed(4)
  local c = case.context
  local model = transformer.Transformer { vocabulary = 5, d_model = c.d_model, heads = c.heads,
    layers = 2, d_ff = 8, length = c.length, position = case.options }
  cases.stir(model, dtype or "float64"):training(false)
  return model, core.tensor({ { 0, 3, 1, 4, 2, 2 }, { 4, 4, 0, 1, 3, 0 } }, "int32")
end

add("cache", function(case)
  local model, tokens = model_of(case)
  local whole = model(tokens)
  local worst = 0
  for _, sizes in ipairs { { 1, 1, 1, 1, 1, 1 }, { 3, 1, 2 } } do
    local cache, first = model:cache { batch = 2, length = 6 }, 1
    for _, size in ipairs(sizes) do
      local logits = model(tokens:narrow(2, first, size), cache)
      worst = math.max(worst, difference(whole:narrow(2, first, size), logits))
      first = first + size
    end
  end
  return worst, EXACT
end, "a cache changes the output; keep values of earlier tokens with positions:keep")

add("cache moved", function(case)
  local model, tokens = model_of(case)
  local rows = tokens:index_select(1, core.tensor({ 2, 1, 2 }, "int32"))
  rows = core.cat({ rows:narrow(2, 1, 3), core.tensor({ { 3, 2, 0 }, { 1, 1, 4 }, { 0, 4, 1 } },
    "int32") }, 2)
  local whole, worst = model(rows), 0 -- first, so that the last pass before a cut is another
  local cache = model:cache { batch = 2, length = 6 }
  model(tokens:narrow(2, 1, 5), cache)
  cache:select { 2, 1, 2 }
  cache:crop(3)
  for _, at in ipairs { { 4, 2 }, { 6, 1 } } do
    local logits = model(rows:narrow(2, at[1], at[2]), cache)
    worst = math.max(worst, difference(whole:narrow(2, at[1], at[2]), logits))
  end
  return worst, EXACT
end, "the output is wrong after select and crop; declare all state and keep it by token")

add("prompts", function(case)
  local model, tokens = model_of(case)
  local cache = model:cache { batch = 2, length = 6, lengths = { 4, 2 } }
  local short = core.cat({ core.zeros({ 1, 2 }, "int32"), tokens[{ { 2, 2 }, { 1, 2 } }] }, 2)
  model(core.cat({ tokens[{ { 1, 1 }, { 1, 4 } }], short }, 1), cache)
  local worst = 0
  for step = 1, 2 do
    local list = { tokens[{ { 1, 1 }, { 4 + step, 4 + step } }],
      tokens[{ { 2, 2 }, { 2 + step, 2 + step } }] }
    local logits = model(core.cat(list, 1), cache)
    for row, length in ipairs { 4, 2 } do
      local alone = model(tokens[{ { row, row }, { 1, length + step } }])
      worst = math.max(worst, difference(alone:narrow(2, length + step, 1),
        logits:narrow(1, row, 1)))
    end
  end
  return worst, EXACT
end, "padding on the left of a shorter prompt changes the output")

add("checkpoint", function(case)
  local model, tokens = model_of(case, "float32")
  local path = os.tmpname()
  local again = scoped.finally(function()
    model:save(path)
    return checkpoint.load(path)
  end, function() os.remove(path) end)
  return math.max(difference(model(tokens), again(tokens)), model:count() - again:count()), 0
end, "a loaded model differs from the saved one")

return M
