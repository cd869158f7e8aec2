local models = require("tests.models")
local roper = require("roper")

local nn = roper.nn

-- A class that holds parts in every way there is.
local function own()
  local Own = nn.class("Own")
  function Own:init(o)
    self.blocks = {}
    for i = 1, o.blocks do
      self.blocks[i] = nn.Linear({ inputs = 4, outputs = 4 })
    end
    self.scale = roper.ones({ 4 }):parameter()
    self.fixed = roper.ones({ 4 })
    self.rates = { slow = roper.ones({ 2 }):parameter() }
  end
  function Own:forward(x)
    for _, block in ipairs(self.blocks) do
      x = block(x)
    end
    return x * self.scale
  end
  return Own
end

describe("nn.class", function()
  it("creates modules by init, which are called by forward", function()
    local Own = own()
    local first, second = Own({ blocks = 2 }), Own({ blocks = 1 })
    assert.same({ "blocks.1.bias", "blocks.1.weight", "rates.slow", "scale" }, models.names(second))
    assert.equal(2 * 20 + 4 + 2, first:count())
    assert.same({ 3, 4 }, first(roper.ones({ 3, 4 })):shape())
    assert.is_true(first.is_training)
    first:training(false)
    assert.is_false(first.blocks[1].is_training)
    assert.is_true(second.is_training)
    assert.equal("class Own", tostring(Own))
    second.kind = Own -- a class is no part
    assert.same({ 4, "Own: 26" }, { #models.names(second), tostring(second):match("^Own: %d+") })
  end)

  it("reports missing methods of a class", function()
    for _, name in ipairs({ "", "a b", "2nd", "x.y", "line\n", "\27[31m", false, 5 }) do
      assert.error_matches(function() nn.class(name) end,
        "class: expected a name of letters, digits and _, got ", 1, true)
    end
    assert.error_matches(function() nn.class("Own")()(1) end,
                         "Own: expected a method forward, found none")
  end)
end)

describe("named_modules", function()
  it("are all modules of a model, each once, with the names that its parameters have", function()
    local model, list = own()({ blocks = 2 }), {}
    model.again, model.above = model.blocks[2], model
    for i, entry in ipairs(model:named_modules()) do
      list[i] = entry.name
    end
    assert.same({ "", "again", "blocks.1" }, list)
    assert.equal(model, model:named_modules()[1].module)
    assert.equal(model.blocks[1], model:named_modules()[3].module)
  end)
end)

describe("a printed module", function()
  it("is a tree with shapes and counts, with equal neighbours of a list folded", function()
    local model = own()({ blocks = 12 })
    assert.equal([[
Own: 246 parameters in rates.slow [2], scale [4]
  blocks.1-12: 12 x Linear  bias [4], weight [4, 4]  20]], tostring(model))
    model.blocks[3] = nn.Linear({ inputs = 4, outputs = 4, bias = false })
    assert.equal([[
Own: 242 parameters in rates.slow [2], scale [4]
  blocks.1-2: 2 x Linear   bias [4], weight [4, 4]  20
  blocks.3: Linear         weight [4, 4]            16
  blocks.4-12: 9 x Linear  bias [4], weight [4, 4]  20]], tostring(model))
    assert.equal("Linear: 3 parameters in bias [1], weight [1, 2]",
                 tostring(nn.Linear({ inputs = 2, outputs = 1 })))
    assert.equal("Own: 0 parameters", tostring(nn.class("Own")()))
  end)

  it("folds layers that share parts, and names their position schemes", function()
    for position, shown in pairs({ rope = "position rotary qk ", alibi = "position alibi ",
      t5 = "position t5, position.table [32, 2] " }) do
      local text = tostring(models.small({ layers = 7, position = position,
        tied_embeddings = true }))
      assert.truthy(text:find("\n  layers.1-7: 7 x TransformerLayer ", 1, true), text)
      assert.truthy(text:find("attention: MultiHeadAttention   " .. shown, 1, true), text)
      assert.truthy(text:find("logits: Linear +bias %[45%], weight %[45, 16%]"), text)
    end
  end)

  it("fits 80 columns, and handles cycles and names of any bytes", function()
    local model = nn.Transformer({ vocabulary = 5, d_model = 128, layers = 13, position = "shaw" })
    model.layers[13].feed_forward.inner = nn.class("ABlockOfMyOwnWithALongName")()
    model.layers[13].feed_forward.inner["\xff\n"] = roper.ones({ 100, 100 }):parameter()
    model.layers[2].above = model
    for line in tostring(model):gmatch("[^\n]+") do
      assert.is_true(utf8.len(line) <= 80, line)
    end
    assert.truthy(tostring(model):find("\n  layers.3-12: 10 x TransformerLayer ", 1, true))
  end)

  it("is a line inside a table", function()
    assert.equal("{Own: 246 parameters in rates.slow [2], scale [4] …, 7}",
                 roper.format.value({ own()({ blocks = 12 }), 7 }))
  end)
end)
