-- The option `rotate` of all schemes that have it.

local models = require("tests.models")
local positions = require("tests.positions")
local roper = require("roper")

local CONTEXT = { dim = 8, heads = 3, d_model = 24, length = 16 }

-- How a scheme gets the angles of RoPE: options, and `fix`, a function that changes the scheme;
-- false if its maps are no rotations.
local AS_ROPE = {
  accumulated = { fix = function(scheme) scheme.weight:fill(0) end },
  axial = { base = 10000, coordinates = 1 },
  grape_m = { fix = function(scheme)
    scheme.log_theta = roper.position.rope({ dim = CONTEXT.dim }):thetas():log():parameter()
    scheme.step_bias:fill(1e4) -- steps of 1
  end },
  hope = { trained_length = 1 << 40 },
  linear = { factor = 1 },
  llama3 = { factor = 1 },
  longrope = { factor = 1 },
  ntk = { factor = 1 },
  proportional = { fraction = 1 },
  selective = { base = 10000, bias = true, fix = function(scheme) scheme.up_weight:fill(0) end },
  xpos = { span = 1e15 },
  path = false,
  yarn = { factor = 1 },
  learned_frequencies = { fix = function(scheme) -- in float32 by default
    scheme.theta = roper.position.rope({ dim = CONTEXT.dim }):thetas():parameter()
  end },
}

local function rotating_schemes()
  local list = {}
  for _, name in ipairs(positions.schemes()) do
    local rotates = roper.position.takes(name).rotate and AS_ROPE[name] ~= false
    list[#list + 1] = rotates and name or nil
  end
  return list
end

local function as_rope(name, rotate)
  local options, fix = { type = name, rotate = rotate }, nil
  for option, value in pairs(AS_ROPE[name] or {}) do
    if option == "fix" then
      fix = value
    else
      options[option] = value
    end
  end
  local scheme = roper.position.resolve(options, CONTEXT)
  if fix then
    fix(scheme)
  end
  return scheme
end

describe("rotate", function()
  local q, k, v, x
  before_each(function()
    roper.seed(1)
    q, k = roper.randn({ 2, 3, 5, 8 }, "float64"), roper.randn({ 2, 3, 7, 8 }, "float64")
    v, x = roper.randn({ 2, 3, 7, 8 }, "float64"), roper.randn({ 2, 7, 24 }, "float64")
  end)

  local function output(scheme)
    return roper.attention(q, k, v, { position = scheme, causal = true, input = x })
  end

  it("is an option of all rotary schemes", function()
    local found = table.concat(rotating_schemes(), " ")
    assert.truthy(found:find("axial", 1, true) and found:find("learned_frequencies", 1, true)
      and found:find("xpos", 1, true) and found:find("roper", 1, true))
  end)

  for _, name in ipairs(rotating_schemes()) do
    it("makes " .. name .. " equal to RoPE and RoPER if it has the angles of RoPE", function()
      for _, rotate in ipairs({ "qk", "vo", "qkvo" }) do
        local expected = output({ type = "rope", rotate = rotate })
        local found = output(as_rope(name, rotate))
        assert.is_true(models.difference(expected, found) < 1e-12, ("with rotate = %q; if its "
          .. "angles are not those of RoPE by default, add it to AS_ROPE"):format(rotate))
      end
      assert.is_true(models.difference(output("roper"), output("rope")) > 0.1)
    end)

    it("of " .. name .. " needs a positive base", function()
      for _, base in ipairs({ 0, -1, math.huge }) do
        assert.error_matches(function()
          roper.position.resolve({ type = name, base = base }, { dim = 8, heads = 2, d_model = 16 })
        end, "base: expected .*number.*, got " .. ("%g"):format(base):gsub("%-", "%%-"))
      end
    end)

    it("lets " .. name .. " rotate values and output too", function()
      local findings = roper.position.check({ type = name, rotate = "qkvo" })
      assert.is_true(findings.ok, tostring(findings))
      local text = roper.position.describe({ type = name, rotate = "qkvo" }).formula
      assert.truthy(text:find("\n", 1, true) and text:find("oᵢ = ", 1, true), text)
    end)
  end
end)
