local expression = require("roper.workbench.lesson.expression")

describe("an expression of numbers", function()
  it("has numbers, operators, names of numbers and functions of math", function()
    for _, source in ipairs({ "1", "-1.5e3", ".5", "0x10", "1/2", "math.cos(math.rad(60))",
      "2 ^ 0.5 // 1 % 3", "x + 1", "math.max(1, x)", "math.pi", "not (1 < 2) and true", "",
      "1 == 2", "1 ~= 2", "1 <= 2" }) do
      assert.is_true(expression.is_plain(source, { x = 3 }), source)
    end
  end)

  it("has nothing else", function()
    for _, source in ipairs({ "y", "os.exit()", "math.random()", "math", "x.y", "'a'", '"a"',
      "[[a]]", "{}", "x[1]", "x:f()", "1 .. 2", "1..2", "#x", "~1", "1 & 2", "1 | 2", "1 << 2",
      "x = 1", ";",
      "function() end", "while", "goto", "1 -- 2", "5--5", "1x", "math.floor.x", "é", "\0", "a.b.c",
      "_ENV", "..." }) do
      assert.is_false(expression.is_plain(source, { x = 3 }), source)
    end
  end)
end)
