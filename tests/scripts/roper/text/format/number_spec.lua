local numbers = require("roper.text.format.number")

describe("number.exact", function()
  it("is the shortest text that reads back as the same number", function()
    for text, x in pairs({ ["0.003"] = 0.003, ["1e-30"] = 1e-30, ["1e+300"] = 1e300,
      ["0.30000000000000004"] = 0.1 + 0.2, ["5e-324"] = 4.9406564584125e-324, ["7"] = 7,
      ["7.0"] = 7.0, ["-0.5"] = -0.5, ["inf"] = 1 / 0 }) do
      assert.equal(text, numbers.exact(x))
    end
  end)
end)

describe("number.brief", function()
  it("drops digits, but never shows a fraction as an integer", function()
    for text, x in pairs({ ["0.333"] = 1 / 3, ["3.33e-11"] = 1e-10 / 3, ["1234.5"] = 1234.5,
      ["1.0001"] = 1.0001, ["2.0"] = 2.0, ["7"] = 7, ["1e+300"] = 1e300 }) do
      assert.equal(text, numbers.brief(x, 3))
    end
  end)
end)
