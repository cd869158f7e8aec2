-- Random equations that are true or false by construction, checked by roper.identity.
local arrays = require("tests.arrays")
local roper = require("roper")

local GIVEN = { a = "number", b = "number", x = "vector", y = "vector", W = "matrix",
  z = "numbers", v = "vectors", m = "position", n = "position", i = "positions" }

-- Coefficients: small ones, and those at which something wraps.
local COEFFICIENTS = { "1", "2", "3", "7", "10000000", "65536", "2147483647", "2147483648",
  "4294967296", "9007199254740991", "9007199254740993", "4611686018427387904",
  "9223372036854775807", "9223372036854775808", "18446744073709551616" }

-- Code that a side cannot contain, in any place.
local JUNK = { ",", "--", ";", "#", "~", "&", "|", "<", ">", "%", "..", "{}", "'s'", "[[s]]", "0x1",
  "1e3", "0.5", "::l::", " and ", " or ", " not ", " nil ", " true ", " goto l ", " return ",
  " function() end ", "\0", "\27", "π", "\xff" }

local function pick(list)
  return list[math.random(#list)]
end

local function position()
  return ("(%d*m %s n)"):format(math.random(-9, 9), pick({ "+", "-" }))
end

-- A random number as text, which may depend on the terms of a sum if the caller asks for that.
local function number(depth, in_sum)
  if depth == 0 then
    return pick(in_sum and { "z", "v[1]", "cos(i)", "a", "dot(v, x)" }
      or { "a", "b", "x[2]", "cos(m)", "sin(2*n)", "dot(x, y)", tostring(math.random(0, 5)) })
  end
  local left, right = number(depth - 1, in_sum), number(math.random(0, depth - 1), in_sum)
  local kind = math.random(in_sum and 4 or 6)
  if kind <= 2 then
    return ("(%s + %s)"):format(left, right)
  elseif kind <= 4 then
    return ("%s*%s"):format(left, right)
  elseif kind == 5 then
    return ("sum(z - z + %s)"):format(number(depth - 1, true))
  end
  return ("(%s)^%d"):format(left, math.random(1, 3))
end

-- The same number, written in another way.
local function rewritten(e)
  local r, p, q = number(math.random(0, 1)), position(), position()
  return pick({
    ("%s - (%s) + %s"):format(r, r, e),
    ("3*(%s) - 2*(%s)"):format(e, e),
    ("(%s)*(cos(%s)^2 + sin(%s)^2)"):format(e, p, p),
    ("%s + cos(%s + %s) - cos(%s)*cos(%s) + sin(%s)*sin(%s)"):format(e, p, q, p, q, p, q),
    ("(%s + %s)^2 - (%s)^2 - 2*(%s)*(%s) + %s - (%s)^2"):format(e, r, e, e, r, e, r),
    ("%s + dot(rotate(x, %s), rotate(y, %s)) - dot(unrotate(x, %s), unrotate(y, %s))")
      :format(e, p, q, q, p),
    ("%s + dot(W*x, y) - dot(x, transpose(W)*y)"):format(e),
    ("%s + sum(z - z + 1)*sum(z) - sum(sum(z)*(z - z + 1))"):format(e),
    ("%s + sum(dot(rotate(v, i), x)) - dot(sum(rotate(v, i)), x)"):format(e),
  })
end

-- Something that is not 0, though it may be hard to see.
local function trifle()
  local c = pick(COEFFICIENTS)
  local counted = "(%s - %d)*(%s - %d)*(%s - %d)"
  local terms, features = "sum(z - z + 1)", "dot(pair(1, 0), pair(1, 0))"
  return pick({
    c .. "*a", ("%s*%s*a"):format(c, pick(COEFFICIENTS)), "(65536*a)*(65536*b)*(65536*a)*(65536*b)",
    "2147483647*a*cos(m)", "(4294967296*a)^2", "(cos(m) - cos(n))*a^30", "(a - b)*(a + b)",
    "sin(m)*sin(n)*sin(m + n)", "sin(1)", "sin(theta)", "x[1]*y[2] - x[2]*y[1]",
    counted:format(terms, 1, terms, 2, terms, math.random(3, 9)),
    counted:format(features, 1, features, 2, features, math.random(3, 9)),
    "dot(x, y) - x[1]*y[1] - x[2]*y[2]", "cos(m + 1) - cos(m)",
  })
end

-- Is it said to hold? And what was said.
local function verdict(equation)
  local ok, found = pcall(roper.identity, { equation, given = GIVEN })
  return ok and found.holds, tostring(found), ok
end

describe("roper.identity, attacked,", function()
  it("confirms true equations, or reports that they are too large #long", function()
    local held = 0
    arrays.each_seed(150, function()
      local e = number(math.random(0, 3))
      local holds, message = verdict(("%s == %s"):format(e, rewritten(e)))
      held = held + (holds and 1 or 0)
      assert.is_true(holds or message:find("too large", 1, true) ~= nil, message)
    end)
    assert.is_true(held > 100, held .. " of 150 held")
  end)

  it("never confirms false equations #long", function()
    local refuted = 0
    arrays.each_seed(400, function()
      local e = number(math.random(0, 3))
      local equation = pick({ "%s == %s + %s", "%s == %s - %s" })
      local holds, message, was_read = verdict(equation:format(e, rewritten(e), trifle()))
      refuted = refuted + (was_read and 1 or 0)
      assert.is_false(holds, message)
    end)
    assert.is_true(refuted > 200, refuted .. " of 400 were refuted, the others refused")
  end)

  it("rejects text that is not an equation", function()
    arrays.each_seed(600, function()
      local equation = ("%s == %s"):format(number(2), number(2))
      local place = math.random(0, #equation)
      equation = equation:sub(1, place) .. pick(JUNK) .. equation:sub(place + 1)
      local _, message, was_read = verdict(equation)
      assert.is_false(was_read, equation)
      assert.matches("^identity: ", message)
    end)
  end)
end)
