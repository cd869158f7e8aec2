local mutant = require("roper.identity.mutant")
local position = require("roper.position")
local roper = require("roper")
local statement = require("roper.identity.statement")

-- What every reader of the derivation meets.
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

local function identity(equation, given, rest)
  local options = { equation, given = given }
  for name, value in pairs(rest or {}) do
    options[name] = value
  end
  return roper.identity(options)
end

describe("roper.identity", function()
  it("sees that true identities are true, in each check", function()
    for _, case in ipairs(TRUE) do
      local found = identity(case[1], case[2])
      assert.is_true(found.holds, tostring(found))
      assert.is_true(found.exact.holds and found.float32 <= 1e-5 and found.float64 <= 1e-13)
      assert.is_nil(found.counterexample)
      assert.is_true(found.exact.bound <= 1e-50 and found.exact.trials >= 6)
      assert.equal(4, #found.residuals)
    end
  end)

  it("tells each of their mutants as what it is, by all checks alike", function()
    for _, case in ipairs(TRUE) do
      local refuted, mutants = 0, mutant.of(case[1], statement.variables(case[2]))
      for _, equation in ipairs(mutants) do
        local found = identity(equation, case[2])
        assert.equal(found.exact.holds, found.float64 <= 1e-13, tostring(found))
        assert.equal(found.exact.holds, found.float32 <= 1e-5, tostring(found))
        assert.equal(found.exact.holds, found.counterexample == nil, tostring(found))
        assert.equal(found.exact.holds, found.holds)
        refuted = refuted + (found.holds and 0 or 1)
      end
      assert.is_true(refuted > #mutants / 2, case[1] .. (": %d of %d"):format(refuted, #mutants))
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
    assert.truthy(tostring(long):find("  smallest counterexample: k = (0, 1), m = 0, n = 1, "
      .. "q = (1, 0):\n    left -0.8415, right 0.8415\n", 1, true), tostring(long))
  end)

  it("tells an angle from the same multiplied by theta once more", function()
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

  it("refutes what residuals in float32 cannot see", function()
    local found = identity("1000000000*x + x == 1000000000*x", { x = "number" })
    assert.is_true(found.float32 <= 1e-7)
    assert.is_false(found.exact.holds)
    assert.equal("x = 1", found.counterexample.values)
    assert.is_false(found.holds)
  end)

  it("holds only if all wrong equations are refuted", function()
    local given = { x = "vector", m = "position" }
    local right = "dot(rotate(x, m), x) == dot(x, unrotate(x, m))"
    local found = identity(right, given, { wrong = {
      "dot(rotate(x, m), x) == dot(x, x)", { "rotate(x, m) == x", source = "nobody" } } })
    assert.is_true(found.holds)
    assert.equal("nobody", found.wrong[2].source)
    assert.truthy(tostring(found):find(
      "refuted, as it should be (nobody)\n    m = 1, x = (0, 1)", 1, true))
    found = identity(right, given, { wrong = { "dot(rotate(x, m), x) == dot(x, rotate(x, m))" } })
    assert.is_false(found.holds)
    assert.is_false(found.wrong[1].is_refuted)
    assert.truthy(tostring(found):find("NOT REFUTED.*\nFAILS$"))
  end)

  it("leaves out what an equation does not name", function()
    local given = { m = "position", n = "position", x = "vector" }
    local found = identity("cos(m)^2 + sin(m)^2 == 1", given, { wrong = { "cos(n) == 1" } })
    assert.truthy(tostring(found):find("\n  given position m\n", 1, true))
    assert.equal("n = 1", found.wrong[1].counterexample.values)
  end)

  it("takes sides as functions", function()
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

  it("draws from its seed and leaves the generator alone", function()
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
    assert.truthy(report:find("^dot%(rotate%(q, m%), rotate%(k, n%)%) == dot"))
    assert.truthy(report:find("given vector k, q; position m, n", 1, true))
    assert.truthy(report:find("agree in 6 random trials modulo p = 2147483647;\n", 1, true))
    assert.truthy(report:find("a false line of degree D = 4 does with", 1, true))
    assert.truthy(report:find("\nholds$"))
    for line in report:gmatch("[^\n]+") do
      assert.is_true(#line <= 80, line)
    end
  end)

  it("breaks a long side before a sign, not in parentheses that fit", function()
    local long = tostring(identity("dot(x, x)*(dot(x, x) + dot(x, x)) == dot(x, x)*dot(x, x)"
      .. " + dot(x, x)*dot(x, x) - dot(x, x)*(dot(x, x) - dot(x, x))", { x = "vector" }))
    assert.truthy(long:find("\n  == dot(x, x)*dot(x, x) + dot(x, x)*dot(x, x)\n"
      .. "    - dot(x, x)*(dot(x, x) - dot(x, x))\n", 1, true), long)
    local nested = tostring(identity("x == x + 0*(" .. ("x + "):rep(30) .. "x)",
      { x = "number" }))
    for line in nested:gmatch("[^\n]+") do
      assert.is_true(#line <= 80, line)
    end
  end)

  it("says what is wrong with what it is given", function()
    local x, m = { x = "vector" }, { m = "position" }
    for _, case in ipairs {
      { "identity: expected a table of options, got number", 7 },
      { "identity: unknown option give; did you mean \"given\"?", { "1 == 1", give = {} } },
      { "identity: expected an equation such as \"left == right\", got nil", {} },
      { "identity: expected two sides or more, as in \"left == right\", got 1",
        { "x", given = x } },
      { "identity: side 2: expected a function, got string", { { print, "x" } } },
      { "identity: cannot read 'x x': <eof> expected near 'x'", { "x x == x", given = x } },
      { "identity: cannot read '': nothing there", { "x ==", given = x } },
      { "given.x: expected one of number, numbers, .*, got vectr; did you mean \"vector\"",
        { "x == x", given = { x = "vectr" } } },
      { "identity: given: expected names, got a b", { "1 == 1", given = { ["a b"] = "vector" } } },
      { "given: expected names, got a, b", { "1 == 1", given = { ["a, b"] = "vector" } } },
      { "given: expected names, got end", { "1 == 1", given = { ["end"] = "vector" } } },
      { "identity: given: cos is a function", { "1 == 1", given = { cos = "vector" } } },
      { "identity: y: y is not given; there are ", { "x == y", given = x } },
      { "identity: m: a position is no value", { "m == 1", given = m } },
      { "m %* m%): a position is multiplied by whole numbers and by theta only",
        { "cos(m * m) == 1", given = m } },
      { "a position is multiplied by theta once at most",
        { "cos(m * theta * theta) == 1", given = m } },
      { "a position adds to positions and whole numbers, got 0.5",
        { "cos(m + 0.5) == 1", given = m } },
      { "x / 2: an identity has no division", { "x / 2 == x", given = x } },
      { "x %^ 0.5: %^: expected a whole number from 1 to 64 as exponent, got 0.5",
        { "x ^ 0.5 == x", given = x } },
      { "x %+ 1: cannot add a vector and a number", { "x + 1 == x", given = x } },
      { "%+: expected a quantity or a whole number, got 0.5",
        { "1 == 0.5 + dot(x, x)", given = x } },
      { "cannot multiply a matrix and a row", { "W*transpose(x) == x",
        given = { W = "matrix", x = "vector" } } },
      { "rotate: expected a vector, got a number", { "rotate(1, 2) == 1" } },
      { "rotate: expected a position or a whole number, got 0.5",
        { "rotate(x, 0.5) == x", given = x } },
      { "dot: expected a vector, got a number", { "dot(1, x) == 1", given = x } },
      { "pair: expected two numbers, got a vector", { "pair(x, 1) == x", given = x } },
      { "transpose: expected a vector or a matrix, got a position",
        { "transpose(m) == 1", given = m } },
      { "sum: a vector is the same in each term", { "sum(x) == x", given = x } },
      { "a vector has no %[3%]", { "x[3] == x", given = x } },
      { "the sides differ in kind: a vector and a number", { "x == 1", given = x } },
      { "too large for the exact check: 40 cosines", { "cos(m)^40 == 1", given = m } },
      { "too large for the exact check: degree 1000000000",
        { "cos(1000000000 * m) == 1", given = m } },
      { "a position is multiplied by 2%^31 at most",
        { "cos(m * 4611686018427387904 * 4) == 1", given = m } },
      { "a position is multiplied by 2%^31 at most",
        { "cos(m + 4611686018427387904 * 2) == 1", given = m } },
    } do
      local ok, message = pcall(roper.identity, case[2])
      assert.is_false(ok)
      assert.truthy(message:find(case[1]), message)
    end
  end)

  it("gives text no more than the names of an identity", function()
    for _, text in ipairs { "os.exit(1)", "print(1)", "_G.x", "io", "require('os')" } do
      local ok, message = pcall(roper.identity, { text .. " == 1" })
      assert.is_false(ok)
      assert.truthy(message:find("is not given", 1, true), message)
    end
  end)
end)
