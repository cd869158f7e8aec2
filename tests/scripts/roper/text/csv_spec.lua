local core = require("roper.core")
local csv = require("roper.text.csv")
local parse = require("tests.csv").parse

describe("csv.encode", function()
  it("writes no text that a spreadsheet runs as a formula, and loses nothing", function()
    local texts = { "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'=1", "'", "",
      '=HYPERLINK("x","y")' }
    local rows = {}
    for i, text in ipairs(texts) do
      rows[i] = { ["=a"] = text, ["-b"] = -1.5, c = -1 / 0 }
    end
    local found, columns = parse(csv.encode({ "=a", "-b", "c" }, rows))
    assert.same({ "'=a", "'-b", "c" }, columns)
    for i, row in ipairs(found) do
      assert.is_nil(row["'=a"]:find("^[=+@\t\r\n-]"))
      assert.equal(texts[i], (row["'=a"]:gsub("^'", "")))
      assert.same({ "-1.5", "-Inf" }, { row["'-b"], row.c })
    end
  end)

  it("gives back every number and text", function()
    local numbers = { 0.1, 1 / 3, 1e-300, -2.5e17, 0.1 + 0.2, 1e22, 123456789012345678, -0.5 }
    local rows = {}
    for i, number in ipairs(numbers) do
      rows[i] = { a = number }
    end
    for i, row in ipairs(parse(csv.encode({ "a" }, rows))) do
      assert.equal(numbers[i], tonumber(row.a))
    end
    local texts = { "a,b", 'say "x"', "two\nlines\r\n", "plain", "λ − 1", " space ", '"', "" }
    rows = {}
    for i, text in ipairs(texts) do
      rows[i] = { a = text, b = i }
    end
    for i, row in ipairs((parse(csv.encode({ "a", "b" }, rows)))) do
      assert.equal(texts[i], row.a)
      assert.equal(tostring(i), row.b)
    end
  end)

  it("tells missing values from values that are not finite", function()
    assert.equal("a,b,c,d,e\n,NaN,Inf,-Inf,NaN\n", csv.encode({ "a", "b", "c", "d", "e" },
      { { b = 0 / 0, c = math.huge, d = -math.huge, e = core.json_null } }))
    assert.equal("a\n", csv.encode({ "a" }, {}))
  end)
end)
