local positions = require("tests.positions")
local roper = require("roper")

local FIXTURES = {}
for _, name in ipairs(positions.names("tests/fixtures/positions", ".safetensors")) do
  FIXTURES[name] = true
end

describe("the battery passes for", function()
  for _, name in ipairs(positions.schemes()) do
    it(name, function()
      assert.is_true(FIXTURES[name], ("%s has no fixture: write tests/fixtures/positions/%s.py")
        :format(name, name))
      local findings = roper.position.check(positions.fixture(name).position)
      assert.is_true(findings.ok, tostring(findings))
    end)
  end
end)
