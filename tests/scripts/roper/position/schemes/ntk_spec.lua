local arrays = require("tests.arrays")
local roper = require("roper")

-- Attention of one token after another over the keys of those before.
local function attend(q, position)
  return roper.attention(q, q, q, { position = position, causal = true })
end

describe("ntk", function()
  before_each(function() roper.seed(1) end)

  it("keeps the fastest pair and slows the slowest by the factor", function()
    local rope, ntk = roper.position.rope({ dim = 8 }), roper.position.ntk({ dim = 8, factor = 5 })
    local ratio = (rope:thetas() / ntk:thetas()):totable()
    assert.equal(1, ratio[1])
    assert.is_true(math.abs(ratio[4] - 5) < 1e-12)
    assert.is_true(1 < ratio[2] and ratio[2] < ratio[3] and ratio[3] < 5)
  end)

  it("adapts to the length of the text if a trained length is given", function()
    local dynamic = roper.position.ntk({ dim = 8, factor = 3, trained_length = 5,
      rotate = "qkvo" })
    for length, factor in pairs({ [4] = 1, [5] = 1, [6] = 1.6, [10] = 4 }) do
      local q = roper.randn({ 1, 2, length, 8 }, "float64")
      local expected = attend(q, { type = "ntk", factor = factor, rotate = "qkvo" })
      arrays.close(expected, attend(q, dynamic), 1e-13)
      arrays.close(expected, roper.attention(q, q, q, { position = dynamic, causal = true,
        offset = 1000 }), 1e-12)
    end
  end)

  it("adapts to the length of each row of a batch, without the keys that the mask hides", function()
    for name, dynamic in pairs({ ntk = { factor = 3 }, longrope = { factor = 4 } }) do
      dynamic.type, dynamic.trained_length, dynamic.rotate = name, 4, "qkvo"
      local q = roper.randn({ 3, 2, 6, 8 }, "float64")
      local places = roper.tensor({ { 0, 1, 2, 3, 4, 5 }, { 0, 2, 4, 6, 8, 10 },
        { -3, -2, -1, 0, 1, 2 } }, "float64")
      local mask = places:ge(0):view({ 3, 1, 1, 6 })
      local function attend_to(rows, first)
        local x = q:narrow(1, rows[1], #rows):narrow(3, first, 7 - first)
        return roper.attention(x, x, x, { position = dynamic, causal = true,
          positions = places:narrow(1, rows[1], #rows):narrow(2, first, 7 - first),
          mask = first == 1 and mask:narrow(1, rows[1], #rows) or nil })
      end
      local together = attend_to({ 1, 2, 3 }, 1)
      arrays.close(attend_to({ 1 }, 1), together:narrow(1, 1, 1), 1e-13)
      arrays.close(attend_to({ 2 }, 1), together:narrow(1, 2, 1), 1e-13)
      arrays.close(attend_to({ 3 }, 4), together:narrow(1, 3, 1):narrow(3, 4, 3), 1e-13)
    end
  end)

  it("passes the battery if rows have other lengths, except for the cache", function()
    local findings = roper.position.check("ntk{trained_length=3,rotate=qkvo}")
    assert.same({ "cache", "cache moved", "prompts" }, findings.failed)
    assert.is_true(roper.position.check("longrope{trained_length=6,rotate=qkvo}").ok)
  end)

  it("rejects factors below 1 and a single pair", function()
    local function refused(message, options)
      assert.error_matches(function() roper.position.ntk(options) end, message)
    end
    refused("ntk: option factor: expected a finite number of at least 1, got 0",
      { dim = 8, factor = 0 })
    refused("ntk: expected at least 4 rotated features, got 2", { dim = 2 })
    refused("ntk: expected at least 4 rotated features, got 2",
      { dim = 8, fraction = 0.25, trained_length = 10 })
    refused("ntk: option trained_length: expected a positive integer, got 0",
      { dim = 8, trained_length = 0 })
  end)
end)
