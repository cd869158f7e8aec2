local arrays = require("tests.arrays")
local roper = require("roper")

describe("xpos", function()
  before_each(function() roper.seed(1) end)

  it("gives the same scores for any centre", function()
    local q = roper.randn({ 1, 2, 6, 8 }, "float64")
    local near = roper.attention_weights(q, q, { position = "xpos" })
    for _, centre in ipairs({ 3, -500, 2000 }) do
      arrays.close(near, roper.attention_weights(q, q, { position = { type = "xpos",
        centre = centre } }), 1e-12)
    end
  end)

  it("keeps the length of values and output", function()
    local x, places = roper.randn({ 5, 8 }, "float64"), roper.arange(600, 605)
    local xpos = roper.position.xpos({ dim = 8, rotate = "qkvo" })
    local rope = roper.position.rope({ dim = 8 })
    arrays.close(rope:rotate(x, places), xpos:rotate(x, places, "v"), 0)
    arrays.close(rope:unrotate(x, places), xpos:unrotate(x, places, "o"), 0)
    assert.is_true((rope:rotate(x, places) - xpos:rotate(x, places, "q")):abs():max():item() > 0.1)
  end)

  it("rejects a span that is not positive, and invalid rotary options", function()
    local function refused(message, options)
      options.dim = options.dim or 8
      assert.error_matches(function() roper.position.xpos(options) end, message)
    end
    refused("xpos: option span: expected a finite positive number, got 0", { span = 0 })
    refused("xpos: expected fraction %* dim to be an even integer from 2 to dim, got 0.4 %* 8",
      { fraction = 0.4 })
    refused("from 2 to dim, got 1 %* 5", { dim = 5 })
    refused("from 2 to dim, got 0 %* 8", { fraction = 0 })
    refused('rotate: expected letters of "qkvo"', { rotate = "x" })
  end)
end)
