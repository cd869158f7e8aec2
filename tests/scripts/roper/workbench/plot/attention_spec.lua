local core = require("roper.core")
local plot = require("roper.workbench.plot")

before_each(function() core.seed(1) end)

describe("plot.attention", function()
  it("labels queries and keys", function()
    local svg = plot.attention({ { 1, 0 }, { 0.5, 0.5 } }, { tokens = { "the", "cat" },
      format = "svg" })
    for _, text in ipairs({ "the", "cat" }) do
      assert.equal(2, select(2, svg:gsub(">" .. text .. "<", "")))
    end
    svg = plot.attention({ { 0, 0.5, 0.5 } }, { tokens = "a\n日", format = "svg" })
    assert.equal(2, select(2, svg:gsub(">日<", "")))
    assert.equal(1, select(2, svg:gsub(">↵<", "")))
  end)

  it("leaves later keys blank if they have no weight, or on request", function()
    local function has_gap(weights, causal)
      return plot.attention(weights, { format = "text", causal = causal }):find("no key") ~= nil
    end
    assert.is_true(has_gap({ { 1, 0 }, { 0.5, 0.5 } }))
    assert.is_false(has_gap({ { 0.9, 0.1 }, { 0.5, 0.5 } }))
    assert.is_false(has_gap({ { 1, 0 }, { 0.5, 0.5 } }, false))
    assert.is_true(has_gap({ { 0.9, 0.1 }, { 0.5, 0.5 } }, true))
    assert.is_false(has_gap({ { 1, 0 } })) -- the last query sees every key
  end)

  it("fits a terminal: names take as few lines as possible, numbers are complete", function()
    local drawing = require("roper.workbench.plot.terminal")
    local function lines_of(count, columns, tokens)
      local figure = require("roper.workbench.plot.attention").figure(core.eye(count),
        { tokens = tokens })
      figure.name, figure.kind, figure.title, figure.legend = "plot.attention", "matrix", "", true
      figure.xlabel, figure.ylabel = "key", "query"
      return drawing.lines(figure, columns, false, 24)
    end
    for count = 1, 16 do
      assert.is_true(#lines_of(count, 80, ("a"):rep(count)) <= 24, count)
    end
    assert.equal(34, #lines_of(30, 80, ("a"):rep(30)))
    for _, columns in ipairs({ 20, 30, 60, 80 }) do
      for _, count in ipairs({ 5, 30, 100, 500 }) do
        for _, line in ipairs(lines_of(count, columns, ("日"):rep(count))) do
          assert.is_true(require("roper.text.width").width(line) <= columns, line)
        end
      end
    end
    assert.truthy(table.concat(lines_of(100, 60, ("a"):rep(100)), "\n"):find("\n20 "))
  end)

  it("accepts the weights of attention", function()
    local q = core.randn({ 1, 2, 70, 4 })
    local weights = require("roper.attention").attention_weights(q, q,
      { position = "roper", causal = true })
    local options = { format = "text", distance = true, tokens = ("x"):rep(70) }
    assert.truthy(plot.attention(weights[1][2], options):find("each cell is the mean", 1, true))
    assert.has_error(function() plot.attention(weights) end, "plot.attention: expected a matrix "
      .. "[rows, columns], got float32 [1, 2, 70, 70]; index it down to one matrix, such as "
      .. "x[1][1]")
    assert.has_error(function() plot.attention(core.zeros({ 3, 2 })) end,
      "plot.attention: expected no more queries than keys, got [3, 2]")
    assert.has_error(function() plot.attention({ { 1 } }, { tokens = "ab" }) end,
      "plot.attention: tokens: expected a list of 1 texts, got 2")
  end)
end)
