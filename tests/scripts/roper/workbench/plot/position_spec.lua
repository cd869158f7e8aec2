local drawn = require("roper.workbench.plot.position")
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

  it("rejects unknown options", function()
    local function refused(message, ...)
      local arguments = table.pack(...)
      assert.error_matches(function() plot.position(table.unpack(arguments)) end, message)
    end
    refused('did you mean "rope"', "rop", { format = "text" })
    refused("plot.position: option head: expected one of 8 heads, got 9", "rope", { head = 9 })
    refused("plot.position: unknown option draw", "rope", { draw = 9 })
    refused("plot.position: expected a position scheme or a list of them, got nil")
    refused("plot.position: expected a position scheme or a list of them, got number", 3)
  end)
end)
