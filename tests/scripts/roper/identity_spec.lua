local mutants = require("tests.mutants")
local position = require("roper.position")
local roper = require("roper")
local statement = require("roper.identity.statement")

-- The mistakes that every reader of the derivation sees.
local TRUE = {
  { "cos(m)^2 + sin(m)^2 == 1", { m = "position" } },
  { "cos(m - n) == cos(m)*cos(n) + sin(m)*sin(n)", { m = "position", n = "position" } },
  { "rotate(rotate(x, m), n) == rotate(x, m + n)",
    { x = "vector", m = "position", n = "position" } },
  { "unrotate(rotate(x, 2*m + 1), m) == rotate(x, m + 1)", { x = "vectors", m = "positions" } },
  { "dot(rotate(q, m), rotate(k, n)) == dot(q, rotate(k, n - m))",
    { q = "vector", k = "vector", m = "position", n = "position" } },
  { "rotation(m)*x == rotate(x, m) == x*cos(m) + pair(-x[2], x[1])*sin(m)",
    { x = "vector", m = "position" } },
  { "transpose(x)*transpose(W)*rotation(n - m)*W*y == dot(rotate(W*x, m), rotate(W*y, n))",
    { x = "vector", y = "vector", W = "matrix", m = "position", n = "position" } },
  { "unrotate(sum(a*rotate(v, i)), n) == sum(a*rotate(v, i - n))",
    { a = "numbers", v = "vectors", i = "positions", n = "position" } },
  { "sum(rotate(k, i)*transpose(v))*v0 == sum(rotate(k, i)*dot(v, v0))",
    { k = "vectors", v = "vectors", v0 = "vector", i = "positions" } },
  { "unrotate(rotate(x, m*theta + 1), n*theta) == rotation((m - n)*theta)*rotate(x, 1)",
    { x = "vectors", m = "positions", n = "position" } },
}

-- Every kind of name.
local GIVEN = { a = "number", b = "number", c = "number", d = "number", x = "vector", y = "vector",
  W = "matrix", z = "numbers", v = "vectors", m = "position", n = "position", i = "positions" }

local function identity(equation, given, rest)
  local options = { equation, given = given }
  for name, value in pairs(rest or {}) do
    options[name] = value
  end
  return roper.identity(options)
end

describe("roper.identity", function()
  it("confirms true identities in each check", function()
    for _, case in ipairs(TRUE) do
      local found = identity(case[1], case[2])
      assert.is_true(found.holds, tostring(found))
      assert.is_true(found.exact.holds and found.float32 <= 1e-5 and found.float64 <= 1e-13)
      assert.is_nil(found.counterexample)
      assert.is_true(found.exact.bound <= 1e-50 and found.exact.trials >= 6)
      assert.equal(4, #found.residuals)
    end
  end)

  it("refutes each of their mutants in all checks", function()
    for _, case in ipairs(TRUE) do
      local refuted, broken = 0, mutants.of(case[1], statement.variables(case[2]))
      for _, equation in ipairs(broken) do
        local found = identity(equation, case[2])
        assert.equal(found.exact.holds, found.float64 <= 1e-13, tostring(found))
        assert.equal(found.exact.holds, found.float32 <= 1e-5, tostring(found))
        assert.equal(found.exact.holds, found.counterexample == nil, tostring(found))
        assert.equal(found.exact.holds, found.holds)
        refuted = refuted + (found.holds and 0 or 1)
      end
      assert.is_true(refuted > #broken / 2, case[1] .. (": %d of %d"):format(refuted, #broken))
    end
  end)

  it("shows the smallest counterexample", function()
    local found = identity("cos(m - n) == cos(m)*cos(n) - sin(m)*sin(n)",
      { m = "position", n = "position" })
    assert.equal("m = 1, n = 1", found.counterexample.values)
    assert.near(1, found.counterexample.left, 1e-12)
    assert.near(math.cos(2), found.counterexample.right, 1e-12)
    -- One pair turns by 1 a position: only the second shows that theta is not 1 for all.
    local slow = identity("dot(x, rotate(y, 1)) == x[1]*y[1]*cos(1) + 0",
      { x = "vector", y = "vector" })
    assert.truthy(slow.counterexample)
    local long = identity("dot(rotate(q, m), rotate(k, n)) == dot(q, rotate(k, m - n))",
      { q = "vector", k = "vector", m = "position", n = "position" })
    assert.truthy(tostring(long):gsub("%s+", " "):find("Smallest counterexample: k = (0, 1), "
      .. "m = 0, n = 1, q = (1, 0): left -0.8415, right 0.8415. ", 1, true), tostring(long))
  end)

  it("distinguishes an angle from the same angle multiplied by theta", function()
    local given = { x = "vector", m = "position", n = "position" }
    for _, wrong in ipairs { "rotate(x, (m - n)*theta)", "rotate(x, m - n*theta)",
      "rotation((m - n)*theta)*x" } do
      local found = identity("unrotate(rotate(x, m), n) == " .. wrong, given)
      assert.is_false(found.exact.holds)
      assert.is_true(found.float32 > 1e-5 and found.float64 > 1e-5)
      -- In the first pair theta is 1.
      assert.equal("m = 0, n = 1, x = (0, 0, 0, 1)", found.counterexample.values)
      assert.near(math.sin(0.01), found.counterexample.left, 1e-12)
      assert.near(math.sin(0.01 ^ 2), found.counterexample.right, 1e-12)
    end
    local once = identity("cos(2*theta - 1) == cos(1 - theta*2)")
    assert.is_true(once.holds)
    assert.equal(3, once.exact.degree)
    assert.is_true(identity("cos(theta)^2 == 1 - sin(theta)^2", { theta = "position" }).holds)
  end)

  it("counts the degree in variables, cosines and sines", function()
    local function degree(equation, given)
      return identity(equation, given).exact.degree
    end
    assert.equal(2, degree("cos(m)^2 + sin(m)^2 == 1", { m = "position" }))
    assert.equal(5, degree("x*cos(2*m - 3*n)*0 == cos(4*m + n)",
      { x = "number", m = "position", n = "position" }) - 1)
    assert.equal(4, degree("unrotate(sum(a*rotate(v, i)), n) == sum(a*rotate(v, i - n))",
      TRUE[8][2]))
  end)

  it("refutes equations that residuals in float32 cannot distinguish", function()
    local found = identity("1000000000*x + x == 1000000000*x", { x = "number" })
    assert.is_true(found.float32 <= 1e-7)
    assert.is_false(found.exact.holds)
    assert.equal("x = 1", found.counterexample.values)
    assert.is_false(found.holds)
  end)

  it("rejects coefficients that its finite field cannot distinguish, in any notation", function()
    local big = "(65536*a)*(65536*b)*(65536*c)*(65536*d)"
    for _, equation in ipairs { big .. " == 4*a*b*c*d", big .. "*(a*b)^20 == 4*a*b*c*d*(a*b)^20",
      "2147483647*a == 0*a", "-2147483648*a == -a", "a*32768*32768*4 == 2*a",
      "((((2*x)^64)^64)^64)^64 == 0*x" } do
      assert.error_matches(function() identity(equation, GIVEN) end,
        "too large for the exact check")
    end
    for _, equation in ipairs { "(-9223372036854775807 - 1)*a == -2*a",
      "4611686018427387904*4*a == 0*a", "134217728*134217728*a == a",
      "9007199254740993*a == 9007199254740992*a" } do
      assert.error_matches(function() identity(equation, GIVEN) end, "integers below 2^53",
        nil, true)
    end
    assert.is_true(identity("3*4*a - 2^3*a == (7 - 3)*a", GIVEN).holds)
    assert.is_true(identity("-a^2 == -(a^2) == -a*a == 2^0^3*a*-a", GIVEN).holds)
  end)

  it("rejects a side that is not one expression of the names given", function()
    for _, case in ipairs {
      { "cos(m), sin(m) == cos(m), cos(m)", "cos(m), sin(m): expected one value, got 2" },
      { "a == a -- b", "a -- b: unexpected '--'" },
      { "a == a --[[ b ]]", "unexpected '--'" },
      { "a; b == a", "a; b: unexpected ';'" },
      { "a == (function() ::x:: goto x end)()", "unexpected ':'" },
      { "a == (function() return a end)()", 'unknown name "function"; known are cos, dot, ' },
      { "a == x[[ a ]]", "unexpected '[['" },
      { "a == a // 1", "unexpected '//'" },
      { "a == x.kind", 'unknown name "x.kind"' },
      { "a == (...)", 'unknown name "..."' },
      { "a == a × b", "unexpected '×'" },
      { "a == a + ", "a +: unexpected end" },
      { "a == a\n(b)", "unexpected '('" },
      { "a == 2 3", "unexpected '3'" },
      { "a == cos + 1", "unexpected '+'" },
      { "a == -cos", "unexpected '-'" },
      { "a == cos()", "cos: expected 1 argument, got 0" },
      { "a == a or b", 'a or b: unknown name "or"' },
      { "a == a + #'abc' - 3", "unexpected '#'" },
      { "a == ('x'):len()*a", "unexpected '\''" },
      { "0xffffffffffffffff*a == -a", "expected an integer, got 0xffffffffffffffff" },
      { "1e0*a == a", "expected an integer, got 1e0" },
      { "a === a", "unexpected '='" },
      { "(a == a", "(a: unexpected end" },
      { "a) == a", "unexpected ')'" },
      { "cos == cos", "cos: a side of an identity: expected a quantity or an integer" },
      { "a(1) == a", "a(1): unexpected '('" },
      { "x[a] == x[1]", "a vector has no [a number]" },
      { "m[1] == a", "a position has no [1]" },
      { "2[1] == a", "a number has no [1]" },
      { "a == \xff", "unexpected '\xff'" },
      { "a == " .. ("("):rep(200) .. "a" .. (")"):rep(200), "expected fewer nested parentheses" },
      { "a == " .. ("a^"):rep(200) .. "a", "expected fewer nested parentheses" },
      { "a == " .. ("("):rep(1000000), "expected fewer nested parentheses" },
    } do
      local ok, message = pcall(identity, case[1], GIVEN)
      assert.is_false(ok, case[1])
      assert.truthy(message:find(case[2], 1, true), message)
    end
    assert.is_true(identity("a" .. (" + a"):rep(2000) .. " == 2001*a", GIVEN).exact.holds)
    local nested = ("("):rep(100) .. "a" .. (")"):rep(100)
    assert.is_true(identity(nested .. " == a", GIVEN).exact.holds)
    assert.is_true(identity("ENV*_ENV == _ENV*ENV", { ENV = "number", _ENV = "number" }).holds)
  end)

  it("distinguishes equations for any number of terms and pairs from those for some", function()
    local terms = "sum(z - z + 1)"
    local pairs_ = "dot(pair(1, 0), pair(1, 0))"
    for count = 1, 4 do
      for _, number in ipairs { terms, pairs_ } do
        local found = identity(("%s == %d"):format(number, count), GIVEN)
        assert.is_false(found.exact.holds)
        assert.is_false(found.holds)
      end
    end
    local found = identity(("(%s - 1)*(%s - 2)*(%s - 3) == 0"):format(terms, terms, terms), GIVEN)
    assert.is_false(found.exact.holds)
    assert.equal(4, found.exact.terms)
    assert.truthy(tostring(found):gsub("%s+", " "):find(
      "trial 1 modulo p = 2147483647, with 4 terms and 1 pair.", 1, true), tostring(found))
    found = identity(("(%s - 1)*(%s - 2) == 0"):format(pairs_, pairs_), GIVEN)
    assert.is_false(found.exact.holds)
    assert.equal(3, found.exact.pairs)
    assert.is_false(identity("dot(x, y) == x[1]*y[1] + x[2]*y[2]", GIVEN).holds)
    -- One pair does not show the entries beside the diagonal.
    found = identity("rotation(0) == pair(1, 0)*transpose(pair(1, 0))"
      .. " + pair(0, 1)*transpose(pair(0, 1))", GIVEN)
    assert.is_false(found.exact.holds)
    assert.equal(2, found.exact.pairs)
    for _, equation in ipairs { terms .. "*sum(z) == sum(" .. terms .. "*z)",
      "sum(sum(z)*v) == sum(z)*sum(v)", pairs_ .. "*x == x*dot(pair(0, 1), pair(0, 1))",
      "W*rotation(m)*x*transpose(y) == W*(rotate(x, m)*transpose(y))",
      "dot(sum(v), sum(v)) == sum(dot(v, sum(v)))" } do
      assert.is_true(identity(equation, GIVEN).holds, equation)
    end
  end)

  it("judges residuals by the scale of the sums", function()
    for _, equation in ipairs {
      "10000000*(cos(m)^2 + sin(m)^2 - 1) == 0",
      "10000000*(rotate(rotate(x, m), n) - rotate(x, m + n)) == 0*x",
      "rotate(rotate(x, 10000000*m), n) == rotate(x, 10000000*m + n)",
      "rotation(10000000*m)*x == rotate(x, 10000000*m)",
      "(a*b)^60 == a^60*b^60", "(dot(x, y) - dot(y, x))*(a*b)^30 == 0" } do
      local found = identity(equation, GIVEN)
      assert.is_true(found.holds, tostring(found))
    end
    for _, equation in ipairs { "(a*b)^60 == 2*a^60*b^60", "(a*b)^60 == (a*b)^60 + (a*b)^59",
      "(a*b)^60 == 0" } do
      local found = identity(equation, GIVEN)
      assert.is_true(found.float32 > 1e-5 and found.float64 > 1e-5, tostring(found))
    end
    assert.error_matches(function() identity("(a*b*c*d)^64 == (a*b*c*d)^64", GIVEN) end,
      "too large for float32: expected sums below 1e%+38, got up to 1.*e%+%d+")
  end)

  it("calls a function once, and checks what it returned", function()
    local calls = 0
    local function fickle(e)
      calls = calls + 1
      return calls == 1 and e.a or 2 * e.a
    end
    assert.is_true(identity({ fickle, function(e) return e.a end }, GIVEN).holds)
    assert.equal(1, calls)
    assert.is_false(identity({ fickle, function(e) return e.a end }, GIVEN).holds)
  end)

  it("refutes a wrong equation that random tensors do not refute", function()
    local count = "sum(z - z + 1)"
    local roots = {}
    for i, terms in ipairs { 1, 7, 64, 33 } do -- those of the residuals
      roots[i] = ("(%s - %d)"):format(count, terms)
    end
    local found = identity("a == a", GIVEN, { wrong = { table.concat(roots, "*") .. " == 0" } })
    assert.equal(0, found.wrong[1].float64)
    assert.is_true(found.wrong[1].is_refuted and found.holds)
    assert.equal("z = (0, 0)", found.wrong[1].counterexample.values)
  end)

  it("holds only if all wrong equations are refuted", function()
    local given = { x = "vector", m = "position" }
    local right = "dot(rotate(x, m), x) == dot(x, unrotate(x, m))"
    local found = identity(right, given, { wrong = {
      "dot(rotate(x, m), x) == dot(x, x)", { "rotate(x, m) == x", source = "nobody" } } })
    assert.is_true(found.holds)
    assert.equal("nobody", found.wrong[2].source)
    assert.truthy(tostring(found):find(
      "✓ refuted, as it should be (nobody): m = 1, x = (0, 1)", 1, true))
    found = identity(right, given, { wrong = { "dot(rotate(x, m), x) == dot(x, rotate(x, m))" } })
    assert.is_false(found.holds)
    assert.is_false(found.wrong[1].is_refuted)
    assert.truthy(tostring(found):find("NOT REFUTED.*\nFAILS$"))
  end)

  it("leaves out variables that an equation does not use", function()
    local given = { m = "position", n = "position", x = "vector" }
    local found = identity("cos(m)^2 + sin(m)^2 == 1", given, { wrong = { "cos(n) == 1" } })
    assert.truthy(tostring(found):find("\n    Given position m.\n", 1, true))
    assert.equal("n = 1", found.wrong[1].counterexample.values)
  end)

  it("accepts functions as sides", function()
    local function twice(e)
      return e.rotate(e.rotate(e.x, e.m), e.m)
    end
    local function doubled(e)
      return e.rotate(e.x, 2 * e.m)
    end
    local function unturned(e)
      return e.x
    end
    local given = { x = "vector", m = "position" }
    assert.is_true(identity({ twice, doubled }, given).holds)
    assert.is_false(identity({ twice, doubled, unturned }, given).holds)
  end)

  it("checks the rotation of the library, not a copy of it", function()
    local rope = position.rope
    position.rope = function(options)
      local scheme = rope(options)
      return { matrix = function(_, p) return scheme:matrix(p) end,
        rotate = function(_, x, p) return scheme:unrotate(x, p) end }
    end
    local found = identity(TRUE[6][1], TRUE[6][2])
    position.rope = rope
    assert.is_true(found.exact.holds)
    assert.is_false(found.holds)
    assert.is_true(found.float64 > 0.1)
  end)

  it("draws from its seed and leaves the generator unchanged", function()
    roper.seed(4)
    roper.rand { 5 }
    local before = { roper.random_state() }
    local case = TRUE[5]
    local one, same = identity(case[1], case[2]), identity(case[1], case[2])
    local other = identity(case[1], case[2], { seed = 2 })
    assert.same(before, { roper.random_state() })
    pcall(identity, "x == y", { x = "vector" })
    assert.same(before, { roper.random_state() })
    assert.same(one.residuals, same.residuals)
    assert.not_same(one.residuals, other.residuals)
  end)

  it("prints as a report", function()
    local report = tostring(identity(TRUE[5][1], TRUE[5][2]))
    assert.truthy(report:find("^  dot%(rotate%(q, m%), rotate%(k, n%)%) == dot"))
    assert.truthy(report:find("Given vector k, q; position m, n.", 1, true))
    assert.truthy(report:gsub("%s+", " "):find(" Exact check: both sides agree in 6 random trials "
      .. "modulo p = 2147483647, for every combination of 1 term and 1 to 2 pairs of features. An "
      .. "equation of degree D = 4 that is false for any number of terms or pairs passes with "
      .. "probability below (2D/p)^6 = 2.7e-51. ", 1, true), report)
    assert.truthy(report:find("\nholds$"))
    for line in report:gmatch("[^\n]+") do
      assert.is_true(#line <= 80, line)
    end
  end)

  it("breaks a long side before an operator, not in parentheses that fit", function()
    local long = tostring(identity("dot(x, x)*(dot(x, x) + dot(x, x)) == dot(x, x)*dot(x, x)"
      .. " + dot(x, x)*dot(x, x) - dot(x, x)*(dot(x, x) - dot(x, x))", { x = "vector" }))
    assert.truthy(long:find("\n  == dot(x, x)*dot(x, x) + dot(x, x)*dot(x, x)\n"
      .. "      - dot(x, x)*(dot(x, x) - dot(x, x))\n", 1, true), long)
    local nested = tostring(identity("x == x + 0*(" .. ("x + "):rep(30) .. "x)",
      { x = "number" }))
    for line in nested:gmatch("[^\n]+") do
      assert.is_true(#line <= 80, line)
    end
  end)

  it("reports invalid arguments", function()
    local x, m = { x = "vector" }, { m = "position" }
    for _, case in ipairs {
      { "identity: expected a table of options, got number", 7 },
      { "identity: unknown option give; did you mean \"given\"?", { "1 == 1", give = {} } },
      { "identity: expected an equation such as \"left == right\", got nil", {} },
      { "identity: expected two or more sides, as in \"left == right\", got 1",
        { "x", given = x } },
      { "identity: side 2: expected a function, got string", { { print, "x" } } },
      { "identity: x x: unexpected 'x'", { "x x == x", given = x } },
      { "identity: expected an expression on each side, got ''", { "x ==", given = x } },
      { 'given.x: expected one of number, numbers, .*, got "vectr"; did you mean "vector"',
        { "x == x", given = { x = "vectr" } } },
      { "identity: given: expected Lua names, got a b",
        { "1 == 1", given = { ["a b"] = "vector" } } },
      { "given: expected Lua names, got a, b", { "1 == 1", given = { ["a, b"] = "vector" } } },
      { "given: expected Lua names, got end", { "1 == 1", given = { ["end"] = "vector" } } },
      { "identity: given: cos is a function", { "1 == 1", given = { cos = "vector" } } },
      { 'identity: y: unknown name "y"; known are .*; to declare a variable, set '
        .. 'given = {y = "vector"}, or another kind$', { "x == y", given = x } },
      { "identity: m: expected a value, got a position", { "m == 1", given = m } },
      { "m %* m%): a position can only be multiplied by integers and by theta",
        { "cos(m * m) == 1", given = m } },
      { "a position can be multiplied by theta only once",
        { "cos(m * theta * theta) == 1", given = m } },
      { "cos%(m %+ 0.5%): expected an integer, got 0.5",
        { "cos(m + 0.5) == 1", given = m } },
      { "a position can only be added to positions and integers, got 0.5",
        { { function(e) return e.cos(e.m + 0.5) end, function() return 1 end }, given = m } },
      { "side 2, a function: expected one value, got 2",
        { { function() return 1 end, function() return 1, 2 end } } },
      { "x / 2: an identity has no division", { "x / 2 == x", given = x } },
      { "x %^ 65: %^: expected an integer from 1 to 64 as exponent, got 65",
        { "x ^ 65 == x", given = x } },
      { "%^: expected an integer from 1 to 64 as exponent, got a vector",
        { "2 ^ x == x", given = x } },
      { "m ^ 2%): a position can only be multiplied by integers",
        { "cos(m ^ 2) == 1", given = m } },
      { "x %+ 1: cannot add a vector and a number", { "x + 1 == x", given = x } },
      { "%+: expected a quantity or an integer, got 0.5",
        { { function() return 1 end, function(e) return 0.5 + e.dot(e.x, e.x) end }, given = x } },
      { "cannot multiply a matrix and a row", { "W*transpose(x) == x",
        given = { W = "matrix", x = "vector" } } },
      { "rotate: expected a vector, got a number", { "rotate(1, 2) == 1" } },
      { "rotate: expected a position or an integer, got 0.5",
        { { function(e) return e.rotate(e.x, 0.5) end, function(e) return e.x end }, given = x } },
      { "rotate: expected 2 arguments, got 3", { "rotate(x, 1, 2) == x", given = x } },
      { "sum: expected 1 argument, got 0", { "sum() == 1" } },
      { "dot: expected a vector, got a number", { "dot(1, x) == 1", given = x } },
      { "pair: expected two numbers, got a vector", { "pair(x, 1) == x", given = x } },
      { "transpose: expected a vector or a matrix, got a position",
        { "transpose(m) == 1", given = m } },
      { "sum: a vector is the same in each term", { "sum(x) == x", given = x } },
      { "a vector has no %[3%]", { "x[3] == x", given = x } },
      { "expected sides of the same kind, got a vector and a number", { "x == 1", given = x } },
      { "too large for the exact check: .* got c = %d+, n = 40$", { "cos(m)^40 == 1", given = m } },
      { "too large for the exact check: expected a degree of at most 10737418, got 1000000000",
        { "cos(1000000000 * m) == 1", given = m } },
      { "a position can be multiplied by 2%^31 at most",
        { "cos(m * 4503599627370496 * 4) == 1", given = m } },
      { "a position can be multiplied by 2%^31 at most",
        { "cos(m + 4503599627370496) == 1", given = m } },
      { "4611686018427387904: expected integers below 2%^53",
        { "cos(m + 4611686018427387904 * 2) == 1", given = m } },
    } do
      local ok, message = pcall(roper.identity, case[2])
      assert.is_false(ok)
      assert.truthy(message:find(case[1]), message)
    end
  end)

  it("gives text access to the names of an identity only", function()
    for _, text in ipairs { "os.exit(1)", "print(1)", "_G.x", "io", "_ENV", "ENV", "require(os)",
      "self", "return a", "do" } do
      local ok, message = pcall(roper.identity, { text .. " == 1" })
      assert.is_false(ok)
      assert.truthy(message:find("unknown name", 1, true), message)
    end
  end)
end)
