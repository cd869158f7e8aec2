-- Identities of angles that differ between pairs, such as those that accumulate along a text.
local mutants = require("tests.mutants")
local roper = require("roper")

local GIVEN <const> = { q = "vector", k = "vector", v = "vectors", w = "numbers", p = "angle",
  a = "angle", b = "angle", c = "angles", m = "position" }

-- Relative laws: p is the angle accumulated at the key, a and b are the steps after it.
local LAWS <const> = {
  "dot(rotate(q, p + a + b), rotate(k, p)) == dot(q, unrotate(unrotate(k, a), b))",
  "dot(rotate(q, p), rotate(k, p + a)) == dot(q, rotate(k, a))",
  "unrotate(sum(w*rotate(v, c)), p) == sum(w*rotate(v, c - p))",
  "rotation(a)*rotation(b) == rotation(b)*rotation(a) == rotation(a + b)",
  "rotate(q, 2*a + m) == rotate(rotate(rotate(q, a), m), a)",
  "transpose(rotation(a))*rotation(a + b) == rotation(b)",
}

describe("An identity of angles", function()
  for _, law in ipairs(LAWS) do
    it("holds: " .. law, function()
      local found = roper.identity({ law, given = GIVEN })
      assert(found.holds, tostring(found))
      assert.is_true(found.float32 < 1e-5 and found.float64 < 1e-13)
    end)
  end

  it("is refuted if a sign is exchanged, with a counterexample", function()
    for _, law in ipairs({ LAWS[1], LAWS[3] }) do
      local refuted = 0
      for _, mutant in ipairs(mutants.of(law, {})) do
        local found = roper.identity({ mutant, given = GIVEN })
        if not found.exact.holds then
          assert.is_false(found.is_small, mutant)
          assert.is_not_nil(found.counterexample, mutant)
          refuted = refuted + 1
        end
      end
      assert.is_true(refuted >= 4, law)
    end
  end)

  it("is refuted by the smallest angles that differ", function()
    local found = roper.identity({ "cos(a) == cos(b)", given = GIVEN })
    assert.equal("a = 0, b = 1", found.counterexample.values)
  end)

  it("names what an angle cannot do", function()
    local _, message = pcall(roper.identity, { "cos(a*theta) == 1", given = GIVEN })
    assert.equal("identity: cos(a*theta): a is an angle: it has a value for each pair, and only a "
      .. "position is multiplied by theta", message)
    _, message = pcall(roper.identity, { "a == b", given = GIVEN })
    assert.truthy(message:find("expected a value, got a position", 1, true), message)
    _, message = pcall(roper.identity, { "cos(a) == 1", given = { a = "angel" } })
    assert.truthy(message:find('"angle"', 1, true), message)
  end)
end)
