--- Checks identities of rotations in three ways: by residuals on random tensors, by a search for a
--- counterexample, and exactly over a prime field.
local arguments = require "roper.options.arguments"
local counterexample = require "roper.identity.counterexample"
local exact = require "roper.identity.exact"
local options_of = require "roper.options.rows"
local residual = require "roper.identity.residual"
local statement = require "roper.identity.statement"
local tables = require "roper.base.tables"
local with_seed = require("roper.base.scoped").with_seed

local M = {}

local Identity = {}
Identity.__index = Identity
Identity.__name = "identity"

-- Runs all checks on one equation.
local function examine(equation, given)
  local sides, variables = statement.sides(equation, given)
  local result = { sides = sides, variables = variables, exact = exact.check(sides, variables) }
  result.residuals, result.float32, result.float64 = residual.table(sides, variables)
  result.is_small = result.float32 <= residual.TOLERANCE.float32
    and result.float64 <= residual.TOLERANCE.float64
  if not result.exact.holds then
    result.counterexample = counterexample.find(sides, variables, result.exact)
  end
  return result
end

-- Checks an identity and its wrong equations with a seeded generator.
local function examine_all(o)
  local given = statement.variables(o.given)
  local result = with_seed(o.seed, function()
    local result = examine(o.equation, given)
    result.wrong = tables.map(o.wrong, function(entry)
      local has_fields = type(entry) == "table" and type(entry[1]) ~= "function"
      local wrong = examine(has_fields and entry[1] or entry, given)
      wrong.source, wrong.is_refuted = has_fields and entry.source or nil, not wrong.exact.holds
      return wrong
    end)
    return result
  end)
  result.holds = result.is_small and result.exact.holds
  for _, wrong in ipairs(result.wrong) do
    result.holds = result.holds and wrong.is_refuted
  end
  return result
end

local OPTIONS <const> = options_of.define("IdentityOptions", {
  text = "the equation is the first element, without a name",
  { "given", "table", {},
    'the kind of each name: "number", "vector", "matrix", "position" or "angle", which has a '
      .. "value for each pair and is used in place of a position; the plural of a kind gives a "
      .. "separate value for each term of a sum. Names that an equation does not use are ignored",
    type = "table<string, string>" },
  { "wrong", "table", {},
    "equations that must be refuted, as text or as {text, source = where it is printed}",
    type = "(string|table)[]" },
  { "seed", "integer", 1, "of the random values; the state of the generator is restored" },
})

---@class Identity prints as a report
---@field holds boolean true if it held in every check, and every wrong equation was refuted
---@field float32 number the largest residual in float32
---@field float64 number the largest residual in float64
---@field residuals table[] one for each shape tried
---@field exact ExactResult
---@field counterexample? table values, left, right; nil if the equation holds or none was found
---@field wrong table[] these fields for each wrong equation, its source, and is_refuted

--- Checks an identity of rotations in three ways. The first is its residual on random tensors in
--- float32 and float64, with various lengths, widths, bases and whole, fractional and negative
--- positions. The second is an exact test, in which cosines and sines are random points of
--- c^2 + s^2 = 1 over a prime field. If this test refutes the identity, the third is a search for
--- the smallest counterexample.
---
---     P(a false equation of degree D passes N exact trials) < (2D/p)^N < 1e-50
---
--- The exact test covers any number of terms in a sum and of pairs in a vector, because it tries
--- enough numbers of each to imply all others. The field has p = 2^31 - 1 elements. A residual is
--- relative to the scale of the sums: their value with all numbers replaced by absolute values, and
--- cosines and sines by 1.
---
--- An equation is text with two or more sides. They can use integers, + - * ^, x[1] and x[2]
--- (the members of a vector's pairs), rotate(x, m), unrotate, cos(m) and sin(m) (of m theta), dot,
--- pair(a, b) (the vector with these members), sum (over the terms), rotation(m) (the matrix R_m)
--- and transpose. If the left operand of * is a matrix or a transposed vector, * is the matrix
--- product; otherwise it is element-wise. A position times theta rotates by m theta^2. An angle, in
--- place of a position, rotates each pair by a number of its own, such as one that is trained or
--- computed from the content. The text is not run as Lua. A side can also be a function of a table
--- of all these names, as in {function(e) return e.cos(e.m)^2 end, function(e) return 1 -
--- e.sin(e.m)^2 end}. It is called once, and its result is checked. Plain numbers in it are Lua
--- integers, which can wrap around.
---
--- Errors: an equation cannot be parsed, uses an unknown name, has sides of different
--- kinds, is not a polynomial (a division), or is too large for the exact check.
---
---     > given = {x = "vector", m = "position", n = "position"}
---     > equation = "rotate(rotate(x, m), n) == rotate(x, m + n)"
---     > roper.identity{equation, given = given}.holds
---     true
---     > given = {q = "vector", k = "vector", a = "angle", b = "angle"}
---     > roper.identity{"dot(rotate(q, a + b), rotate(k, a)) == dot(q, unrotate(k, b))",
---     >>   given = given}.holds
---     true
---     > given = {m = "position", n = "position"}
---     > wrong = roper.identity{"cos(m + n) == cos(m) + cos(n)", given = given}
---     > wrong.counterexample.values
---     "m = 0, n = 0"
---@param options IdentityOptions
---@return Identity identity
function M.identity(options)
  local named = tables.merged(type(options) == "table" and options or nil)
  local equation = table.remove(named, 1)
  local o = options_of.check("identity", type(options) == "table" and named or options, OPTIONS)
  for i, entry in ipairs(o.wrong) do
    arguments.check("identity", "option wrong: element " .. i, "string|table", entry)
  end
  o.equation = equation
  local ok, result = pcall(examine_all, o)
  if not ok then
    error(result, 2)
  end
  return setmetatable(result, Identity)
end

Identity.__tostring = function(self)
  return require("roper.identity.report").text(self)
end

return M
