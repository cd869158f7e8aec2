local positions = require("tests.positions")

-- The results of a fixture that a scheme misses by more than the tolerance.
local function missed(fixture, dtype, tolerance)
  local found, list = positions.differences(fixture, fixture.position, dtype), {}
  assert.is_not_nil(next(found), "the fixture has no result")
  for name, difference in pairs(found) do
    if difference > tolerance then
      list[#list + 1] = ("%s differs by %g"):format(name, difference)
    end
  end
  return list
end

describe("position schemes agree with an independent implementation:", function()
  for _, name in ipairs(positions.names("tests/fixtures/positions", ".safetensors")) do
    it(name, function()
      local fixture = positions.fixture(name)
      assert.same({}, missed(fixture, "float64", 1e-10))
      assert.same({}, missed(fixture, "float32", 1e-5))
    end)
  end
end)
