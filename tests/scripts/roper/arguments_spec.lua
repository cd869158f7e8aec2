-- Public functions called with invalid arguments: each raises an error of its own that names the
-- expected value.

local catalogue = require("roper.workbench.help.catalogue")
local roper = require("roper")
local scratch = require("tests.scratch")
local stdout = require("tests.stdout")

-- Those that change what all others run in, or that wait for a terminal.
local LEFT_OUT <const> = { ["roper.memory_limit"] = true, ["roper.threads"] = true }

-- An object of each class with methods.
local function objects()
  local o = {}
  o.tensor, o.rotary = roper.ones({ 2, 3 }), roper.position.rope({ dim = 4 })
  o.task = roper.tasks.addition({ max_digits = 2, length = 40, seed = 1 })
  o.Transformer = roper.nn.Transformer({ vocabulary = o.task:vocabulary(), d_model = 8,
    layers = 1, heads = 2 })
  o.Module, o.Cache = o.Transformer, o.Transformer:cache({ batch = 1, length = 8 })
  o.CacheLayer, o.TransformerLayer = o.Cache:layer(1), o.Transformer.layers[1]
  o.MultiHeadAttention, o.Embedding = o.TransformerLayer.attention, o.Transformer.embedding
  o.FeedForward, o.Linear = o.TransformerLayer.feed_forward, o.Transformer.logits
  o.LayerNorm = roper.nn.LayerNorm({ features = 3 })
  o.RMSNorm = roper.nn.RMSNorm({ features = 3 })
  o.Sequential, o.Dropout = roper.nn.Sequential(o.Linear), roper.nn.Dropout()
  o.ReLU, o.GELU = roper.nn.ReLU(), roper.nn.GELU()
  o.Adam, o.SGD = roper.optim.Adam(), roper.optim.SGD()
  o.Scheme, o.TaskRandom = roper.position.alibi({ heads = 2 }), roper.tasks.random(1)
  local q = roper.ones({ 1, 1, 3, 4 })
  o.Positions = roper.position.positions(q, q)
  o.TextTask = roper.tasks.text({ files = scratch.write("text", "One.\n\nTwo three four.\n"),
    documents = "paragraphs", tokenizer = "bytes", length = 4, validation = 0.5,
    cache = scratch.path("cache") })
  o.PublishedTask = select(2, roper.import("tests/fixtures/published/gpt2"))
  return o
end

-- Lists of arguments.
local function wrong(of)
  local list = { {}, { n = 1 }, { n = 2 }, { n = 3 }, { false }, { 5 }, { -1 }, { "none/such" },
    { {} }, { type }, { { 5 } }, { { {} } }, { { a = 1 } }, { { "x" }, "y" }, { 5, { 5 } },
    { of.tensor }, { of.Transformer }, { of.task }, { {}, {} }, { {}, 5 },
    { "none/such", 5 }, { "none/such", {} }, { of.tensor, "x" }, { of.tensor, {}, {} },
    { of.Transformer, of.task, 5 }, { {}, of.task }, { type, of.task },
    { of.Transformer, of.task, {}, 5 } }
  for _, arguments in ipairs(list) do
    arguments.n = arguments.n or #arguments
  end
  return list
end

describe("wrong arguments", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("to any public function raise an error that names it, with and without the object", function()
    local of, count, problems = objects(), 0, {}
    local function try(path, f, ...)
      local given = table.pack(...)
      stdout.capture_both(function()
        local ok, message = pcall(f, table.unpack(given, 1, given.n))
        count = count + 1
        if not ok and tostring(message):find("attempt to", 1, true) then
          problems[path] = message
        end
      end)
    end
    for _, entry in ipairs(catalogue.entries()) do
      local class, name = entry.path:match("^(%w+):([%w_]+)$")
      local f = entry.value or class and assert(of[class], class)[name]
      for _, arguments in ipairs(not LEFT_OUT[entry.path] and type(f) == "function"
        and wrong(of) or {}) do
        try(entry.path, f, table.unpack(arguments, 1, arguments.n))
        if class then
          try(entry.path, f, of[class], table.unpack(arguments, 1, arguments.n))
        end
      end
    end
    assert.same({}, problems)
    assert.is_true(count > 8000)
  end)

  it("are named, with the expected value", function()
    local of = objects()
    for expected, f in pairs({
      ["answers: task: expected a task, got nil"] = function()
        roper.evaluate.answers(of.Transformer)
      end,
      ["fresh: task: expected a task, got a tensor"] = function()
        roper.evaluate.fresh(of.tensor, 1)
      end,
      ["count: expected a Module, got nil; call it with a colon: object:count(...)"] =
        function() of.Linear.count() end,
      ["forward: expected a Linear, got a tensor; call it with a colon: object:forward(...)"] =
        function() of.Linear.forward(of.tensor) end,
      ["step: expected an Adam, got a table; call it with a colon: object:step(...)"] = function()
        of.Adam.step({ of.tensor })
      end,
      ["options: expected a Scheme, got nil; call it with a colon: object:options(...)"] =
        function() of.Scheme.options() end,
      ["bad argument #1 to 'no_grad' (function expected, got number)"] = function()
        roper.no_grad(5)
      end,
    }) do
      local ok, message = pcall(f)
      assert.is_false(ok)
      assert.truthy(message:find(expected, 1, true), message)
    end
  end)
end)
