local arrays = require("tests.arrays")
local roper = require("roper")

describe("eye", function()
  it("is 1 on the diagonal and 0 elsewhere", function()
    assert.same({ { 1, 0 }, { 0, 1 } }, roper.eye(2):totable())
    assert.same({ { 1 } }, roper.eye(1, "int32"):totable())
    assert.equal("float64", roper.eye(3, "float64"):dtype())
    assert.same({ 0, 0 }, roper.eye(0):shape())
    assert.equal(300, roper.eye(300):sum():item())
  end)

  it("rejects invalid sizes", function()
    for message, n in pairs({ ["out of memory"] = 1 << 20, ["more elements"] = 1 << 40 }) do
      local ok, raised = pcall(function() return roper.eye(n) end)
      assert.is_false(ok)
      assert.matches(message, raised)
      assert.not_matches("arange", raised)
    end
  end)
end)

describe("linspace", function()
  it("includes both ends, in even steps", function()
    assert.same({ 0, 0.25, 0.5, 0.75, 1 }, roper.linspace(0, 1, 5):totable())
    assert.same({ 2, -2 }, roper.linspace(2, -2, 2):totable())
    assert.same({ 3, 3, 3 }, roper.linspace(3, 3, 3):totable())
    local x = roper.linspace(0.1, 0.7, 50, "float64")
    assert.equal(0.1, x[1]:item())
    assert.equal(0.7, x[50]:item())
    arrays.close(roper.full({ 49 }, 0.6 / 49, "float64"), x:narrow(1, 2, 49) - x:narrow(1, 1, 49),
      1e-15)
  end)

  it("accepts any finite float64 as an end", function()
    assert.same({ -1e308, 0, 1e308 }, roper.linspace(-1e308, 1e308, 3, "float64"):totable())
    assert.same({ 1e308, -1e308 }, roper.linspace(1e308, -1e308, 2, "float64"):totable())
    local x = roper.linspace(-1.7e308, 1.7e308, 1001, "float64")
    arrays.close(roper.arange(-500, 501, 1, "float64") / 500, x / 1.7e308, 1e-15)
    assert.same({ 0, 5, 10 }, roper.linspace(0, 10, 3, "int32"):totable())
  end)

  it("rejects ends that are not finite", function()
    assert.error_matches(function() roper.linspace(0, math.huge, 5) end,
      "#2 to 'linspace' %(expected a finite number%)")
    assert.error_matches(function() roper.linspace(0 / 0, 1, 5) end, "#1 to 'linspace'")
    assert.error_matches(function() roper.linspace(0, 1, 1 << 40) end, "linspace: out of memory")
    assert.error_matches(function() roper.linspace(0, 1, 3, "int32") end,
      "linspace: expected integers of 32 bits for int32, got 0.5 as element 2")
  end)
end)
