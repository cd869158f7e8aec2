local format = require("roper.text.format")
local roper = require("roper")

describe("print_options", function()
  local before = roper.print_options()
  after_each(function() roper.print_options(before) end)

  it("keep their values until they are changed", function()
    assert.same({ precision = 4, threshold = 1000, edge_items = 3, line_width = 0, depth = 4,
      entries = 100 }, before)
    local changed = roper.print_options({ precision = 2, depth = 1 })
    assert.same({ 2, 1, 1000 }, { changed.precision, changed.depth, changed.threshold })
    assert.same(changed, roper.print_options({}))
    changed.precision = 17
    assert.equal(2, roper.print_options().precision)
  end)

  it("change the printed text", function()
    local x = roper.arange(1, 9) / 8
    roper.print_options({ precision = 2 })
    assert.equal("float32 [8]\n0.12 0.25 0.38 0.50 0.62 0.75 0.88 1.00", tostring(x))
    assert.equal("0.125 (float32)", tostring(x[1]))
    roper.print_options({ threshold = 7, edge_items = 1 })
    assert.equal("float32 [8]\n0.12 … 1.00", tostring(x))
    roper.print_options({ threshold = 1000, line_width = 10 })
    assert.equal("float32 [8]\n0.12 0.25\n0.38 0.50\n0.62 0.75\n0.88 1.00", tostring(x))
    roper.print_options({ depth = 1, entries = 2, line_width = 80 })
    assert.equal("{a = {…}, b = 2, … 1 more}", format.value({ a = { 1 }, b = 2, c = 3 }))
    roper.print_options({ precision = 0 })
    assert.equal("float32 [2]\n2 4", tostring(roper.tensor({ 1.5, 3.6 })))
  end)

  it("reject unknown options and values", function()
    for message, options in pairs({
      ['unknown option precison; did you mean "precision"'] = { precison = 2 },
      ["option precision: expected an integer from 0 to 17, got 18"] = { precision = 18 },
      ['option depth: expected an integer from 1 to 100, got "deep"'] = { depth = "deep" },
      ["option edge_items: expected an integer from 1 to 1000, got 0"] = { edge_items = 0 },
    }) do
      assert.error_matches(function() roper.print_options(options) end, message, 1, true)
    end
    assert.same(before, roper.print_options())
    assert.error_matches(function() roper.print_options(5) end, "expected a table of options")
  end)
end)
