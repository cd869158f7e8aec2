local attention = require("roper.attention")
local identities = require("roper.identity.rotations")
local position = require("roper.position")
local roper = require("roper")

describe("identities.residuals", function()
  it("are within rounding error in both precisions, for any seed", function()
    for seed = 1, 5 do
      for _, one in ipairs(identities.residuals(seed)) do
        local name = ("%s, seed %d: %g, %g"):format(one.statement, seed, one.float32, one.float64)
        assert.is_true(one.holds, name)
        assert.is_true(one.float32 < 1e-5 and one.float64 < 1e-13, name)
      end
    end
    assert.equal(7, #identities.residuals())
  end)

  it("are measured: float32 shows its rounding, and a seed gives the same result", function()
    local first, second, other = identities.residuals(3), identities.residuals(3),
      identities.residuals(4)
    assert.same(first, second)
    assert.not_same(first, other)
    for _, one in ipairs(first) do
      assert.is_true(one.float32 > 1e-9, one.statement)
    end
  end)

  it("leave the generator unchanged", function()
    roper.seed(8)
    roper.rand({ 3 })
    local before = { roper.random_state() }
    identities.residuals()
    assert.same(before, { roper.random_state() })
  end)

  it("are large for wrong schemes", function()
    local rope, make = position.rope, position.roper
    local function broken()
      local failing = {}
      for _, one in ipairs(identities.residuals()) do
        if not one.holds then
          failing[#failing + 1] = one.statement
        end
      end
      return failing
    end
    position.roper = function(options) -- the output is not rotated back
      options.rotate = "qkv"
      return rope(options)
    end
    local half = broken()
    position.roper = make
    assert.same({ "RoPER: the same output after a shift" }, half)
    position.rope = function(options) -- keys are not rotated
      options.rotate = "q"
      return rope(options)
    end
    local one_sided = broken()
    position.rope = rope
    assert.same({ "RoPE: the same scores after a shift" }, one_sided)
    local attend = attention.attention
    attention.attention = function(...) -- nothing that float32 could show
      return attend(...) * (1 + 1e-10)
    end
    local imprecise = broken()
    attention.attention = attend
    assert.same({ "RoPER: o_i = sum_j a_ij R_{j-i} v_j" }, imprecise)
    assert.same({}, broken())
  end)
end)
