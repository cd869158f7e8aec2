local positions = require("tests.positions")
local roper = require("roper")

local FIXTURES = {}
for _, name in ipairs(positions.names("tests/fixtures/positions", ".safetensors")) do
  FIXTURES[name] = true
end

-- The checks that schemes of the library may refuse; they pass all others.
local REFUSABLE = { ["not causal"] = true, oracle = true, ["moved by 640"] = true,
  ["moved by 0.5"] = true, ["moved by -3"] = true }

describe("the battery passes for", function()
  for _, name in ipairs(positions.schemes()) do
    it(name, function()
      assert.is_true(FIXTURES[name], ("%s has no fixture: write tests/fixtures/positions/%s.py")
        :format(name, name))
      local findings = roper.position.check(positions.fixture(name).position)
      assert.is_true(findings.ok, tostring(findings))
      for _, finding in ipairs(findings) do
        assert.is_true(not finding.refused or REFUSABLE[finding.name], tostring(findings))
      end
    end)
  end
end)

describe("the battery", function()
  it("finds what is wrong with twice on purpose, if it claims to be relative", function()
    local definition = require("roper.position.schemes.twice")
    definition.relative = true
    local ok, findings = pcall(roper.position.check, "twice")
    definition.relative = false
    assert.is_true(ok, findings)
    assert.same({ "moved by 1", "moved by 640", "moved by 0.5", "moved by -3" }, findings.failed)
  end)
end)
