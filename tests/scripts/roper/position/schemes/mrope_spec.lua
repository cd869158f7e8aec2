local arrays = require("tests.arrays")
local roper = require("roper")

describe("mrope", function()
  before_each(function() roper.seed(1) end)

  it("assigns a coordinate to each pair, by sections or interleaved", function()
    local function coordinates(options)
      return table.concat(roper.position.mrope(options):options().coordinates)
    end
    assert.equal("11112222233333", coordinates({ dim = 28, sections = { 4, 5, 5 } }))
    assert.equal("1112233", coordinates({ dim = 14 }))
    assert.equal("123123", coordinates({ dim = 12, interleaved = true }))
    assert.equal("12312312111", coordinates({ dim = 22, sections = { 6, 3, 2 },
      interleaved = true }))
  end)

  it("rotates each pair by its coordinate, at the frequencies of RoPE", function()
    local x = roper.randn({ 2, 12 }, "float64")
    local mrope = roper.position.mrope({ dim = 12, sections = { 3, 2, 1 } })
    local rope = roper.position.rope({ dim = 12 })
    arrays.close(rope:thetas(), mrope:thetas(), 1e-16)
    local y = mrope:rotate(x, { { { 1, 2, 3 }, { 4, 0, -5 } } })
    for token, places in ipairs({ { 1, 2, 3 }, { 4, 0, -5 } }) do
      for t, coordinate in ipairs({ 1, 1, 1, 2, 2, 3 }) do
        local turned = rope:rotate(x[token], places[coordinate])
        arrays.close(turned[t], y[token][t], 1e-15)
        arrays.close(turned[t + 6], y[token][t + 6], 1e-15)
      end
    end
  end)

  it("is RoPE for text, with one number per token", function()
    local q = roper.randn({ 3, 2, 3, 8 }, "float64")
    for _, interleaved in ipairs({ false, true }) do
      local how = { position = { type = "mrope", interleaved = interleaved, rotate = "qkvo" },
        causal = true, positions = roper.randn({ 3, 3 }) }
      local o = roper.attention(q, q, q, how)
      how.position = "roper"
      arrays.close(roper.attention(q, q, q, how), o, 1e-14)
    end
  end)

  it("rejects sections that do not add up to the pairs", function()
    local function refused(message, options)
      assert.error_matches(function() roper.position.mrope(options) end, message)
    end
    refused("mrope: option sections: expected a sum of 4, the number of rotated pairs, got 5",
      { dim = 8, sections = { 2, 2, 1 } })
    refused("mrope: option sections: expected non%-negative integers, got 1.5",
      { dim = 8, sections = { 1.5, 2.5 } })
    refused("mrope: option sections: expected non%-negative integers, got %-1",
      { dim = 8, sections = { 5, -1 } })
  end)
end)
