local core = require("roper.core")
local html = require("tests.html")
local plot = require("roper.workbench.plot")
local position = require("roper.position")
local rotation = require("roper.workbench.plot.rotation")

local NAN <const> = 0 / 0
local check_svg = html.check_svg

before_each(function() core.seed(1) end)

describe("plot.rotation", function()
  -- The ends of the arrows, before and after the rotation.
  local function tips(x, scheme, place)
    local list = {}
    for _, series in ipairs((rotation.series(x, scheme, place))) do
      if series.style == "arrow" then
        list[#list + 1] = { series.x[2], series.y[2] }
      end
    end
    return list
  end

  it("rotates each pair by position times theta", function()
    for _, pairing in ipairs({ "half", "interleaved" }) do
      local rope = position.rope({ dim = 6, pairing = pairing })
      local x = core.randn({ 6 }, "float64")
      local turned, thetas = rope:rotate(x, 2.5):totable(), rope:thetas():totable()
      local list = tips(x, rope, 2.5)
      assert.equal(6, #list)
      for t = 1, 3 do
        local a = pairing == "half" and t or 2 * t - 1
        local b = pairing == "half" and t + 3 or 2 * t
        local before, after = list[2 * t - 1], list[2 * t]
        local function close(expected, got)
          assert.is_true(math.abs(expected - got) < 1e-6)
        end
        close(x[a]:item(), before[1])
        close(x[b]:item(), before[2])
        close(turned[a], after[1])
        close(turned[b], after[2])
        local angle = math.atan(before[2], before[1]) + 2.5 * thetas[t]
        close(math.cos(angle), math.cos(math.atan(after[2], after[1])))
      end
    end
  end)

  it("names the pairs, and notes if some are left out", function()
    local x = core.randn({ 64 })
    local svg = plot.rotation(x, "rope", 3, { format = "svg", pairs = { 1, 32 } })
    assert.truthy(svg:find(">pair 1, θ = 1<", 1, true))
    assert.truthy(svg:find(">pair 32, θ = 0.000133<", 1, true))
    local text = plot.rotation(x, "rope", 3, { format = "text" })
    assert.truthy(text:find("pairs 1 to 7 of 32; pairs = {...} selects others", 1, true))
    assert.truthy(text:find("rotated by position 3", 1, true))
    assert.is_nil(plot.rotation(core.randn({ 8 }), "rope", { format = "text" }):find("of 4"))
  end)

  it("also draws vectors that are not rotated", function()
    check_svg(plot.rotation({ 0, 0, 0, 0 }, "rope", 0, { format = "svg" }))
    check_svg(plot.rotation(core.randn({ 8 }), { type = "roper", fraction = 0.5 }, -1e6,
      { format = "svg" }))
  end)

  it("rejects vectors that cannot be rotated", function()
    local function refuses(message, ...)
      local arguments = table.pack(...)
      assert.has_error(function()
        plot.rotation(table.unpack(arguments, 1, arguments.n))
      end, message)
    end
    refuses("plot.rotation: expected a vector [features], got shape [2, 4]; index it down to one, "
      .. "such as x[1][1]", core.zeros({ 2, 4 }), "rope")
    refuses("plot.rotation: expected a vector of 6 features for the scheme, got 4",
            core.zeros({ 4 }), position.rope({ dim = 6 }))
    refuses("plot.rotation: expected a finite number as position, got inf", core.zeros({ 4 }),
            "rope", 1 / 0)
    refuses("plot.rotation: pairs: expected integers from 1 to 2, got 3 as element 2",
            core.zeros({ 4 }), "rope", 1, { pairs = { 1, 3 } })
    refuses("plot.rotation: expected finite numbers in pair 1, got nan", { NAN, 0 }, "rope")
    refuses("plot.rotation: rope: fraction: expected a fraction that rotates an even number of "
      .. "features, got 1, which rotates 3 of 3; the nearest is 2 / 3", { 1, 2, 3 }, "rope")
  end)

  it("raises the error of a scheme that cannot be created", function()
    local problem = {}
    position.register("rotation_nothing", { init = function() error(problem) end })
    local ok, value = pcall(rotation.series, core.zeros({ 4 }), "rotation_nothing", 1)
    assert.is_false(ok)
    assert.equal(problem, value)
  end)
end)
