local drawn = require("roper.workbench.plot.position")
local models = require("tests.models")
local plot = require("roper").plot
local roper = require("roper")
local scratch = require("tests.scratch")

local function series(schemes, options)
  local o = { distance = 8, dim = 4, heads = 2, draws = 200, same = false, seed = 1 }
  for name, value in pairs(options or {}) do
    o[name] = value
  end
  return drawn.series(schemes, o)
end

local function near(expected, got, tolerance)
  assert.is_true(math.abs(expected - got) <= tolerance, ("expected %g, got %g"):format(expected,
    got))
end

describe("plot.position", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("shows the mean and the spread over draws, at each distance", function()
    local none = series("none")[1]
    assert.same({ 0, 1, 2, 3, 4, 5, 6, 7, 8 }, none.x)
    for i = 1, 9 do
      near(none.y[1], none.y[i], 1e-6)
      near(0, none.y[i], 0.15)
      near(1, none.high[i] - none.y[i], 0.15) -- of a sum of 4 products, each of variance 1, / 2
      near(none.y[i] - none.low[i], none.high[i] - none.y[i], 1e-9)
    end
  end)

  it("has gaps at keys that a scheme hides", function()
    local window, none = series("window{size=3,sinks=1}")[1], series("none")[1]
    for i = 1, 9 do
      assert.equal(i <= 3 or i == 9, window.low[i] == window.low[i]) -- not NaN
      assert.equal(i <= 3 or i == 9, window.y[i] == none.y[i])
    end
    assert.has_no_error(function()
      plot.position("window{size=3}", { distance = 8, format = "svg" })
    end)
  end)

  it("draws one head, or all heads if they are equal", function()
    local first, second = series("alibi", { head = 1 })[1], series("alibi", { head = 2 })[1]
    local all = series("alibi")[1]
    for i = 1, 9 do
      near(-(i - 1) / 16, first.y[i] - first.y[1], 1e-5)
      near(-(i - 1) / 256, second.y[i] - second.y[1], 1e-5)
      near((first.y[i] + second.y[i]) / 2, all.y[i], 1e-6)
    end
  end)

  it("shows the score of a token with an equal one", function()
    local rope = series({ "rope", { type = "rope", base = 4 } }, { same = true })
    for i, base in ipairs({ 10000, 4 }) do
      for distance = 0, 8 do -- E[q · R q] / 2, each of the two pairs has E[|q|²] = 2
        local expected = math.cos(distance) + math.cos(distance * base ^ -0.5)
        near(expected, rope[i].y[distance + 1], 0.15)
      end
    end
    assert.same({ "rope", "rope{base = 4}" }, { rope[1].label, rope[2].label })
  end)

  it("includes additions to embeddings", function()
    roper.position.register("plot_embedding", {
      embed = function(_, x, positions)
        return x + positions:unsqueeze(3):to(x:dtype())
      end,
    })
    local one = series("plot_embedding", { draws = 20, distance = 2 })[1]
    near(4, one.y[1] - one.y[2], 2) -- the query stands at 2: 2 * 4 / 2 less for each step away
    assert.is_true(one.y[1] > one.y[2] and one.y[2] > one.y[3])
  end)

  it("is the same for the same seed, and leaves the generator unchanged", function()
    roper.seed(3)
    local expected = roper.rand({ 1 }):item()
    roper.seed(3)
    local one = series("roper")[1]
    assert.equal(expected, roper.rand({ 1 }):item())
    assert.same(one.y, series("roper")[1].y)
    assert.not_same(one.y, series("roper", { seed = 2 })[1].y)
  end)

  it("draws several schemes in one chart, as text and as SVG", function()
    local text = plot.position({ "rope", "alibi" }, { format = "text", width = 60 })
    for _, word in ipairs({ "rope", "alibi", "score", "distance i %- j" }) do
      assert.truthy(text:find(word), word)
    end
    local path = plot.position({ "rope", "alibi" }, scratch.path("scores.svg"))
    local svg = scratch.read(path)
    for _, text_of in ipairs({ ">rope<", ">alibi<", "distance i - j" }) do
      assert.truthy(svg:find(text_of, 1, true), text_of)
    end
  end)

  it("draws every scheme, as text and as SVG", function()
    for _, name in ipairs(roper.position.list()) do
      local options = { distance = 6, dim = 8, heads = 2, draws = 4, width = 60, height = 6 }
      for format, start in pairs({ text = "score\n", svg = "<?xml " }) do
        options.format = format
        local drawing = plot.position(name, options)
        assert.equal(start, drawing:sub(1, #start), name)
        assert.is_nil(drawing:find("nan", 1, true), name)
      end
      options.format = nil
      local path = scratch.path(name .. ".svg")
      assert.equal(path, plot.position(name, path, options))
    end
  end)

  it("adds a bias that depends on the query or the key", function()
    for _, name in ipairs({ "shaw", "transformer_xl", "deberta" }) do
      local y = series({ { type = name, clip = 3 } })[1].y
      for i = 5, 9 do
        near(y[4], y[i], 1e-6) -- distances from 3 on count as one
      end
      assert.is_true(math.abs(y[1] - y[4]) > 1e-5, name)
    end
  end)

  it("draws each layer of a model, for every scheme", function()
    for _, name in ipairs(roper.position.list()) do
      local model = models.small({ position = name, length = 12 })
      local text = plot.position(model, { format = "text", draws = 4, width = 60 })
      assert.truthy(text:find("layer 1: ", 1, true), name)
      assert.truthy(text:find("layer 2: ", 1, true), name)
      assert.is_nil(text:find("nan", 1, true), name)
      local path = scratch.path("model.svg")
      assert.equal(path, plot.position(model, path, { layer = 2, head = 1, draws = 4 }))
    end
  end)

  it("shows the scores of random inputs through the trained maps of a model", function()
    local model = models.small({ position = "rope", layers = 3 })
    local attention = model.layers[2].attention
    for part, values in pairs({ query = { 2, 0, 0, 0, 0, 0, 0, 0 },
      key = { 3, 0, 0, 0, 4, 0, 0, 0 } }) do -- the first pair, at 0 and at atan2(4, 3)
      attention[part].weight:detach():fill(0)
      attention[part].bias:detach():narrow(1, 1, 8):copy(roper.tensor(values))
      attention[part].bias:detach():narrow(1, 9, 8):fill(0)
    end
    local function of(options)
      return drawn.series(model, require("roper.base.tables").merged(
        { draws = 3, same = false, seed = 1, distance = 8 }, options))
    end
    local one = of({ layer = 2, head = 1 })
    assert.same({ 1, "layer 2: rotary qk" }, { #one, one[1].label })
    for distance = 0, 8 do
      near(10 * math.cos(math.atan(4, 3) - distance) / 8 ^ 0.5, one[1].y[distance + 1], 1e-5)
      near(one[1].low[distance + 1], one[1].high[distance + 1], 1e-9)
      near(0, of({ layer = 2, head = 2 })[1].y[distance + 1], 1e-9)
    end
    assert.equal(3, #of())
    assert.is_true(model.is_training)
  end)

  it("shows a trained bias, and keeps within the length of a model", function()
    local model = models.small({ position = "t5", layers = 1 })
    for _, part in ipairs({ "query", "key" }) do
      model.layers[1].attention[part].weight:detach():fill(0)
      model.layers[1].attention[part].bias:detach():fill(0)
    end
    local table_of = model.layers[1].attention.position.table
    local y = drawn.series(model, { draws = 2, same = false, seed = 1, head = 2,
      distance = 10 })[1].y
    for distance = 0, 10 do
      near(table_of[{ distance + 1, 2 }]:item(), y[distance + 1], 1e-7)
    end
    local short = models.small({ position = "learned", length = 12 })
    assert.equal(12, #drawn.series(short, { draws = 2, same = false, seed = 1 })[1]
      .x)
  end)

  it("rejects a scheme that embeds as something else", function()
    roper.position.register("plot_nothing", { embed = function() return {} end })
    assert.error_matches(function() plot.position("plot_nothing") end,
      "position: plot_nothing: embed: expected float32 %[%d+, %d+, %d+%], got table")
  end)

  it("rejects unknown options", function()
    local function refused(message, ...)
      local arguments = table.pack(...)
      assert.error_matches(function() plot.position(table.unpack(arguments)) end, message)
    end
    refused('did you mean "rope"', "rop", { format = "text" })
    refused("plot.position: option head: expected one of 8 heads, got 9", "rope", { head = 9 })
    local model = models.small()
    refused("plot.position: option layer: expected one of 2 layers, got 3", model, { layer = 3 })
    refused("plot.position: option head: expected one of 2 heads, got 3", model, { head = 3 })
    refused("plot.position: option dim: expected none, a model has its own", model, { dim = 8 })
    refused("plot.position: option layer: expected a model, got string", "rope", { layer = 1 })
    refused("plot.position: expected a model with MultiHeadAttention, found none", model.logits)
  end)
end)
