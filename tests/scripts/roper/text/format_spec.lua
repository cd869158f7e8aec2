local format = require("roper.text.format")
local roper = require("roper")

-- The text as lines, with the margin of this file removed.
local function lines(text)
  return (text:gsub("\n +|", "\n"):gsub("^ *|", ""):gsub("\n *$", ""))
end

describe("format.tensor", function()
  local function shows(expected, tensor, columns)
    assert.equal(lines(expected), format.tensor(tensor, columns or 80))
  end

  it("aligns columns under dtype and shape", function()
    shows([[
      |float32 [2, 3]
      | 1.5000 -2.0000  0.2500
      |10.0000  0.0000  0.1250]],
      roper.tensor({ { 1.5, -2, 0.25 }, { 10, 0, 0.125 } }))
  end)

  it("shows integers without a point, and -0 as 0", function()
    shows([[
      |float64 [3]
      | 1 -2  0]], roper.tensor({ 1, -2, -0.0 }, "float64"))
    shows([[
      |int32 [2, 1]
      |-2000000000
      |         12]], roper.tensor({ { -2000000000 }, { 12 } }, "int32"))
  end)

  it("factors out a common scale of large and small magnitudes", function()
    shows([[
      |float64 [3], times 1e-06
      |1.2000 9.5000 0.0000]], roper.tensor({ 1.2e-6, 9.5e-6, 0 }, "float64"))
    shows([[
      |float64 [2], times 1e+07
      | 2.5000 -1.0000]], roper.tensor({ 25000000.5, -10000000 }, "float64"))
    shows([[
      |float32 [1], times 1e-09
      |1.0000]], roper.tensor({ 1e-9 })) -- a little less in float32
  end)

  it("never shows a number other than 0 as 0", function()
    shows([[
      |float64 [3]
      |5.0000e-01 0.0000e+00 2.0000e-09]], roper.tensor({ 0.5, 0, 2e-9 }, "float64"))
    shows([[
      |float64 [2]
      |4.9407e-324  0.0000e+00]], roper.tensor({ 4.9406564584125e-324, 0 }, "float64"))
    shows([[
      |float32 [2]
      |0.0001 9.0000]], roper.tensor({ 0.00006, 9 }))
  end)

  it("uses one notation: a common scale, or an exponent for each", function()
    shows([[
      |float32 [3]
      |1.0000e+10 1.0000e+00 1.0000e-05]], roper.tensor({ 1e10, 1, 1e-5 }))
    shows([[
      |float32 [2, 2]
      |-1.0000e+30         inf
      |        nan  1.0000e-30]], roper.tensor({ { -1e30, 1 / 0 }, { 0 / 0, 1e-30 } }))
    shows([[
      |float64 [2], times 1e+08
      |1.0000 0.0015]], roper.tensor({ 1e8, 150000.5 }, "float64"))
    shows([[
      |float64 [2]
      |1.0000e+08 5.0000e-01]], roper.tensor({ 1e8, 0.5 }, "float64"))
    shows([[
      |float32 [2]
      |100000      1]], roper.tensor({ 1e5, 1 }))
  end)

  it("prints nan and inf", function()
    shows([[
      |float32 [4]
      |   nan    inf   -inf 0.5000]], roper.tensor({ 0 / 0, 1 / 0, -1 / 0, 0.5 }))
    shows([[
      |float32 [2]
      |nan nan]], roper.tensor({ 0 / 0, -(0 / 0) }))
  end)

  it("shows rank 0 as a number that is a tensor", function()
    assert.equal("0.1 (float32)", format.tensor(roper.tensor(0.1)))
    assert.equal("5.9605e-08 (float32)", format.tensor(roper.tensor(2.0 ^ -24)))
    assert.equal("1234567 (float32)", format.tensor(roper.tensor(1234567)))
    assert.equal("nan (float32)", format.tensor(roper.tensor(0 / 0)))
    assert.equal("-inf (float32)", format.tensor(roper.tensor(-1 / 0)))
    assert.equal("7 (int32)", format.tensor(roper.tensor(7, "int32")))
  end)

  it("reports that a tensor has no elements", function()
    assert.equal("float32 [0, 3], empty", format.tensor(roper.zeros({ 0, 3 })))
  end)

  it("labels the blocks of more than one matrix", function()
    shows([[
      |int32 [2, 2, 1, 2]
      |[1, 1]
      |0 1
      |[1, 2]
      |2 3
      |[2, 1]
      |4 5
      |[2, 2]
      |6 7]], roper.arange(0, 8):to("int32"):view({ 2, 2, 1, 2 }))
    shows([[
      |int32 [1, 1, 2]
      |0 1]], roper.arange(0, 2):to("int32"):view({ 1, 1, 2 }))
  end)

  it("wraps rows that are too wide", function()
    shows([[
      |int32 [7]
      |10 11 12
      |13 14 15
      |16]], roper.arange(10, 17):to("int32"), 10)
    shows([[
      |int32 [2, 4]
      |columns 1 to 3
      |10 11 12
      |14 15 16
      |columns 4 to 4
      |13
      |17]], roper.arange(10, 18):to("int32"):view({ 2, 4 }), 8)
  end)

  it("shows the edges of a large tensor", function()
    shows([[
      |int32 [40, 30]
      |   0    1    2 …   27   28   29
      |  30   31   32 …   57   58   59
      |  60   61   62 …   87   88   89
      |   …
      |1110 1111 1112 … 1137 1138 1139
      |1140 1141 1142 … 1167 1168 1169
      |1170 1171 1172 … 1197 1198 1199]],
      roper.arange(0, 1200):to("int32"):view({ 40, 30 }))
    shows([[
      |int32 [5, 1, 500]
      |[1]
      |   0    1    2 …  497  498  499
      |…
      |[5]
      |2000 2001 2002 … 2497 2498 2499]],
      roper.arange(0, 2500):to("int32"):view({ 5, 1, 500 }))
  end)

  it("stays within the width", function()
    local seed = os.time()
    roper.seed(seed)
    for _, shape in ipairs({ { 3 }, { 30, 30 }, { 2000 }, { 4, 5, 6, 7 }, { 2, 3, 4, 500 } }) do
      for line in format.tensor(roper.randn(shape), 40):gmatch("[^\n]+") do
        assert.is_true(utf8.len(line) <= 40, ("seed %d: %s"):format(seed, line))
      end
    end
  end)

  it("shows views and differentiable results", function()
    local x = roper.tensor({ { 1, 2 }, { 3, 4 } }):parameter()
    shows([[
      |float32 [2, 2]
      |2 6
      |4 8]], (x * 2):transpose(1, 2))
  end)

  it("is used by print and tostring", function()
    assert.equal("float32 [2]\n1 2", tostring(roper.tensor({ 1, 2 })))
  end)
end)

describe("format.value", function()
  it("prints strings as Lua literals", function()
    assert.equal([["a\"b\\\n\0\27"]], format.value('a"b\\\n\0\27'))
    assert.equal('"é"', format.value("é"))
    assert.equal([["a\xFF"]], format.value("a\xFF"))
    assert.equal([["\u{202E}é\xFF"]], format.value("\u{202E}é\xFF"))
    assert.equal([["\u{9B}2J§"]], format.value("\u{9B}2J§"))
    assert.equal([["\u{9B}\xFF"]], format.value("\xC2\x9B\xFF"))
  end)

  it("prints numbers, nil and booleans as Lua does", function()
    assert.equal("1 1.0 nan nil true",
      table.concat({ format.value(1), format.value(1.0), format.value(0 / 0), format.value(nil),
        format.value(true) }, " "))
  end)

  it("rounds numbers in tables", function()
    assert.equal("{0.3333333, 2.0, 3.333333e-11, 123456789.5, 1234567.8, 1.00000001, -inf}",
      format.value({ 1 / 3, 2.0, 1e-10 / 3, 123456789.5, 1234567.8, 1.00000001, -1 / 0 }))
    assert.equal("0.33333333333333", format.value(1 / 3))
    roper.print_options({ precision = 2 })
    assert.equal("{loss = 3.1809}", format.value({ loss = 3.1808590888977 }))
    roper.print_options({ precision = 4 })
  end)

  it("sorts the keys of tables", function()
    assert.equal('{1, 2, [5] = 3, a = 4, b = {}, ["c d"] = 5, ["end"] = 6, [true] = 7}',
      format.value({ 1, 2, [5] = 3, b = {}, a = 4, ["end"] = 6, ["c d"] = 5, [true] = 7 }))
  end)

  it("breaks lines that are too long", function()
    assert.equal(lines([[
      |{
      |  first = {1, 2, 3},
      |  second = "0123456789"
      |}]]), format.value({ first = { 1, 2, 3 }, second = "0123456789" }, 30))
    assert.equal(lines([[
      |{
      |  100, 101, 102,
      |  103, 104
      |}]]), format.value({ 100, 101, 102, 103, 104 }, 18))
    assert.equal('{\n  "日本", "日本",\n  "日本"\n}', format.value({ "日本", "日本", "日本" }, 20))
  end)

  it("stays within the width, including names and commas of inner tables", function()
    local nested = { count = 0, options = { base = 1, list = { 1, 2, { 3, 4 } }, dim = 2 }, z = {} }
    for columns = 20, 80 do
      for line in format.value(nested, columns):gmatch("[^\n]+") do
        assert.is_true(#line <= columns, columns .. ": " .. line)
      end
    end
  end)

  it("prints the entries of a long table side by side", function()
    local long = {}
    for i = 1, 26 do
      long[string.char(96 + i)] = i
    end
    assert.truthy(format.value(long, 40):find("^{\n  a = 1, b = 2, c = 3, d = 4, e = 5,\n  f = 6,"))
  end)

  it("handles cycles and deep nesting", function()
    local cyclic = { name = "x" }
    cyclic.self, cyclic.list = cyclic, { cyclic }
    assert.equal('{list = {{cycle}}, name = "x", self = {cycle}}', format.value(cyclic))
    local shared = { 1 }
    assert.equal("{{1}, {1}}", format.value({ shared, shared }))
    assert.equal("{{{{{…}}}}}", format.value({ { { { { { 1 } } } } } }))
  end)

  it("abbreviates large tables", function()
    local list = {}
    for i = 1, 1000 do
      list[i] = i
    end
    assert.truthy(format.value(list):find("99, 100, … 900 more", 1, true))
  end)

  it("prints tensors, functions and objects in brief", function()
    local object = setmetatable({}, { __tostring = function() return "an object" end })
    assert.equal("{an object, float32 [2, 3], function}",
      format.value({ object, roper.zeros({ 2, 3 }), print }))
    assert.equal("function (C)", format.value(print))
    assert.truthy(format.value(lines):find("^function %(format_spec.lua:%d+%)$"))
  end)
end)

describe("format.results", function()
  it("prints short values side by side and long ones below each other", function()
    assert.equal('1\t"a"\tnil', format.results(table.pack(1, "a", nil)))
    assert.equal('1\t"a"', format.results({ 1, "a" }))
    assert.equal("1\nfloat32 [1]\n2", format.results(table.pack(1, roper.tensor({ 2 }))))
  end)

  it("prints as many of them as the option entries says", function()
    local text = format.results({ n = 100000 })
    assert.equal(("nil\t"):rep(100) .. "… 99900 more", text)
    assert.equal(("nil\t"):rep(99) .. "nil", format.results({ n = 100 }))
  end)
end)
