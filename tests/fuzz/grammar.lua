-- Random lines of a session: calls of everything public, with arguments good and hostile.

require("roper")
local catalogue = require("roper.workbench.help.catalogue")
local sources = require("roper.workbench.help.sources")

local M = {}

-- Functions that the fuzzer does not call, because they lift the limits of its process.
local LEFT_OUT <const> = {
  ["roper.memory_limit"] = true,
  ["roper.threads"] = true, -- OpenBLAS waits for ever for the buffers of many, in few addresses
}

--- The initial values of the names in the lines.
M.SETUP = [[
x = roper.randn{2, 3}
y = roper.randn{3, 2}:transpose(1, 2)
v = roper.arange(0, 6, 1, "float64")
s = roper.tensor(2.5)
i = roper.tensor({{1, 2}, {2, 1}}, "int32")
e = roper.zeros{0, 3}
n = roper.tensor{0 / 0, 1 / 0, -1 / 0, 1e30, -1e-30}
b = roper.ones{1}:expand{4, 4}
h = roper.ones{1}:expand{1 << 31, 1 << 20}
hi = roper.ones({1}, "int32"):expand{1 << 40}
hs = x:as_strided({1 << 32, 2, 1 << 20, 3}, {0, 3, 0, 1})
hq = roper.ones{1, 1, 1, 4}:expand{1, 1 << 20, 1 << 29, 4}
hk = roper.ones{1, 1, 1, 4}:expand{1, 1 << 20, 1 << 20, 4}
ho = roper.ones{1000}:as_strided({1 << 8, 1 << 8, 1 << 8, 4}, {1, 1, 1, 1})
q = roper.randn{1, 2, 4, 4}
an = roper.randn({1, 2, 4, 2}, "float64"):parameter()
w = roper.randn{3, 3}:parameter()
g = (w * 2):sum()
a, aw = roper.attention(q, q, q, {position = "roper", causal = true, weights = true})
rope = roper.position.rope{dim = 4}
task = roper.tasks.addition{max_digits = 2, length = 40, seed = 1}
model = roper.nn.Transformer{vocabulary = task:vocabulary(), d_model = 8, layers = 1, heads = 2}
linear = roper.nn.Linear{inputs = 3, outputs = 2}
adam = roper.optim.Adam{}
deep = {} for _ = 1, 500 do deep = {deep} end
cycle = {} cycle[1] = cycle cycle.self = cycle
do local closing <close> = roper.ones{2, 3} closed = closing end
function close(...)
  local a <close> = x local b <close> = q local c <close> = w local d <close> = ...
end
odd = setmetatable({}, {__index = function() error("odd") end, __len = function() return 1e9 end})
]]

local OBJECTS <const> = { "x", "y", "v", "s", "i", "e", "n", "b", "h", "q", "w", "g", "a", "aw",
  "rope", "task", "model", "linear", "adam", "deep", "cycle", "odd", "_", "_1", "_2" }
local TENSORS <const> = { "x", "y", "v", "s", "i", "e", "n", "b", "q", "w", "g", "a", "aw", "x[1]",
  "h", "hi", "hs", "hq", "hk", "ho", "q[{1, {}, {2, 3}}]", "y:transpose(1, 2)", "x:view{3, 2}",
  "roper.ones{2, 3}", "b[2]", "an", "q[1]", "closed" }
local NUMBERS <const> = { "0", "1", "2", "3", "-1", "-2", "0.5", "-0.0", "4", "7", "64", "0/0",
  "1/0", "-1/0", "1e308", "5e-324", "2^31", "-2^31", "2^53", "1 << 62", "math.maxinteger",
  "math.mininteger", "1e15", "100000" }
local SMALL <const> = { "1", "2", "3", "-1", "4", "0" }
local STRINGS <const> = { '""', '"float32"', '"float64"', '"int32"', '"half"', '"interleaved"',
  '"qk"', '"qkvo"', '"rope"', '"roper"', '"none"', '"relu"', '"post"', '"pre"', '"addition"',
  '"mini"', '"a"', '"none/a.npy"', '"\\xff\\0\\n%s"', '("x"):rep(10000)', '"d=1+2;"', "'\\27[2J'" }
local FUNCTIONS <const> = { "print", "function(...) return ... end",
  "function(z) return z:sum() end", "function(z) return (z * z):sum() end",
  "function() error({}) end", "function(...) return roper.randn(...) end", "close",
  "coroutine.yield",
  "function(z) close(z) return z end", "function(...) collectgarbage() return ... end",
  "coroutine.wrap(function() end)" }
local SHAPES <const> = { "{}", "{0}", "{1}", "{2, 3}", "{3, 2}", "{6}", "{-1}", "{2, -1}", "{2.5}",
  "{1 << 40, 1 << 40}", "{1 << 62}", "{65536, 65536}", "{1, 1, 1, 1, 1, 1, 1, 1, 1}", "{'2'}",
  "{nil, 2}", "{[3] = 1}", "{{2}}", "{0, 1 << 40}", "{1, 2, 4, 4}", "{4, 4}", "{2, 3, 4}" }
local OPERATORS <const> = { "+", "-", "*", "/", "^", "<", "<=", "==", "..", "//", "%", "&", "or" }
local SCRAPS <const> = { "(", ")", "{", "}", "]]", "[[", "end", "=", "'", '"', "--", "local", "?",
  "??", "%", "%time", "who", ";", "\\", "\1", "\xff", "0x", "...", "goto", "::a::", "\t" }

local function pick(list)
  return list[math.random(#list)]
end

local function chance(share)
  return math.random() < share
end

-- The names of the setup by class, and their position in the hierarchy.
local OF_CLASS <const> = { tensor = TENSORS, task = { "task" }, rotary = { "rope" },
  Module = { "model", "linear", "model.layers[1]" }, Transformer = { "model" },
  Linear = { "linear" }, Adam = { "adam" }, TransformerLayer = { "model.layers[1]" },
  MultiHeadAttention = { "model.layers[1].attention" }, Cache = { "model:cache()" } }

local functions, methods = {}, {} -- the entries of the catalogue that are called
for _, entry in ipairs(catalogue.entries()) do
  if entry.kind == "function" and not LEFT_OUT[entry.path] then
    functions[#functions + 1] = entry
  elseif entry.kind == "method" and OF_CLASS[entry.path:match("^%a+")] then
    methods[#methods + 1] = entry
  end
end
assert(#functions > 100 and #methods > 80)

--- The catalogue's entries of the functions in the lines.
M.functions = functions

local value

-- A list, or a table with options of a class, mostly of the right type.
local function table_of(fields, depth)
  local items = {}
  for _, field in ipairs(fields) do
    if not field.optional and chance(0.9) or chance(0.3) then
      items[#items + 1] = field.name .. " = " .. M.value_of(field.type, depth + 1)
    end
  end
  for _ = 1, #fields > 0 and (chance(0.95) and 0 or 1) or math.random(0, 3) do
    items[#items + 1] = value(depth + 1)
  end
  return "{" .. table.concat(items, ", ") .. "}"
end

-- Values of the types in documentation comments, by the first pattern that matches.
local TYPES <const> = {
  { '^"', function(_, kind)
    local choices = {}
    for choice in kind:gmatch('"[^"]*"') do
      choices[#choices + 1] = choice
    end
    return pick(choices)
  end },
  { "^fun", function() return pick(FUNCTIONS) end },
  { "^integer%[%]", function() return pick(SHAPES) end },
  { "^tensor%[%]", function() return "{" .. pick(TENSORS) .. ", " .. pick(TENSORS) .. "}" end },
  { "^tensor", function() return pick(TENSORS) end },
  { "^integer", function() return pick(chance(0.7) and SMALL or NUMBERS) end },
  { "^number", function() return pick(chance(0.5) and { "0.5", "1", "2" } or NUMBERS) end },
  { "^string", function() return pick(STRINGS) end },
  { "^boolean", function() return pick({ "true", "false" }) end },
}

local KINDS <const> = {
  function() return pick(TENSORS) end,
  function() return pick(TENSORS) end,
  function() return pick(SMALL) end,
  function() return pick(NUMBERS) end,
  function() return pick(STRINGS) end,
  function() return pick(SHAPES) end,
  function() return pick(OBJECTS) end,
  function() return pick({ "nil", "true", "false", "roper", "roper.tasks" }) end,
  function() return pick(FUNCTIONS) end,
  function(depth) return depth > 2 and "{}" or table_of({}, depth) end,
  function(depth) return depth > 1 and "1" or M.call(depth + 1) end,
}

-- Any value.
function value(depth)
  return pick(KINDS)(depth)
end

--- A value, mostly of the given type.
---@param kind string
---@param depth integer
---@return string
function M.value_of(kind, depth)
  if chance(0.12) then
    return value(depth)
  end
  for _, rule in ipairs(TYPES) do
    if kind:find(rule[1]) then
      return rule[2](depth, kind)
    end
  end
  if OF_CLASS[kind] then
    return pick(OF_CLASS[kind])
  elseif depth <= 2 and sources.classes()[kind] then
    return table_of(sources.fields(kind), depth)
  end
  return value(depth)
end

-- The arguments of a call, sometimes too few or too many.
local function arguments(entry, depth)
  local list = {}
  for _, parameter in ipairs(entry.comment and entry.comment.parameters or {}) do
    if parameter.optional and chance(0.4) or chance(0.02) then
      break
    end
    list[#list + 1] = M.value_of(parameter.name == "..." and "any" or parameter.type, depth)
  end
  if chance(0.04) then
    list[#list + 1] = value(depth)
  end
  return list
end

--- A call of a function or a method.
---@param depth integer of calls around it
---@return string
function M.call(depth)
  if chance(0.5) then
    local entry = pick(functions)
    return entry.path .. "(" .. table.concat(arguments(entry, depth), ", ") .. ")"
  end
  local entry = pick(methods)
  local class, name = entry.path:match("^(%a+):([%w_]+)$")
  local list = arguments(entry, depth)
  if entry.same then -- its first argument is the object
    table.remove(list, 1)
  end
  local object = chance(0.97) and pick(OF_CLASS[class]) or pick(OBJECTS)
  return object .. ":" .. name .. "(" .. table.concat(list, ", ") .. ")"
end

-- A line with some bytes replaced, or truncated.
local function damaged(line)
  for _ = 1, math.random(3) do
    local at = math.random(#line)
    line = line:sub(1, at - 1) .. pick(SCRAPS) .. line:sub(at + math.random(0, 3))
  end
  return line
end

local FORMS <const> = {
  function() return M.call(0) end,
  function() return M.call(0) end,
  function() return M.call(0) end,
  function() return M.call(0) .. ";" end,
  function() return pick(OBJECTS) .. " = " .. M.call(0) end,
  function() return value(0) .. " " .. pick(OPERATORS) .. " " .. value(0) end,
  function() return pick({ "#", "-", "~", "not " }) .. value(0) end,
  function() return pick(TENSORS) .. "[" .. value(0) .. "]" end,
  function()
    return pick({ "x", "v", "i", "e", "b", "w" }) .. "[" .. value(0) .. "] = " .. value(0)
  end,
  function() return pick(OBJECTS) .. "." .. pick(methods).path:match("[%w_]+$") end,
  function() return "for _ = 1, 3 do " .. M.call(0) .. " end" end,
  function() return "pcall(function() return " .. M.call(0) .. " end)" end,
  function() return "%time " .. M.call(0) end,
  function() return pick({ "?", "??" }) .. pick(functions).path end,
  function() return pick({ "who", "_", "print(" .. value(0) .. ")" }) end,
  function() return damaged(M.call(0)) end,
}

--- A random line, often invalid; uses math.random.
---@return string
function M.line()
  return (pick(FORMS)():gsub("\n", " "))
end

return M
