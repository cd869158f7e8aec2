local experiment = require("roper.workbench.study.experiment")
local position = require("roper.workbench.study.experiment.position")
local roper = require("roper")
local schemes = require("roper.position.scheme")

local function configure(value, fields)
  local given = { preset = "smoke", position = value, layers = 2 }
  for name, other in pairs(fields or {}) do
    given[name] = other
  end
  return experiment.configure("copy", given)
end

-- The scheme of each layer of a configuration's model.
local function names_of_layers(config)
  local list = {}
  for i, layer in ipairs(experiment.build(config).model.layers) do
    local scheme = layer.attention.position
    list[i] = scheme == nil and "none" or schemes.is_rotary(scheme) and "rotary" or scheme.name
  end
  return list
end

describe("the field position", function()
  it("takes every scheme, joined ones, and a list over the layers", function()
    for _, name in ipairs(roper.position.list()) do
      assert.equal(name, configure(name).position)
    end
    assert.same({ "rotary+alibi", "rotary+alibi" }, names_of_layers(configure("rope+alibi")))
    assert.same({ "rotary", "none" }, names_of_layers(configure("rope:none")))
    assert.same({ "rotary+alibi", "none" }, names_of_layers(configure("rope+alibi:none")))
  end)

  it("takes what was registered, and refuses it before", function()
    assert.error_matches(function() configure("flat_spec") end, "field position: expected one of")
    assert.equal("flat_spec", position.missing("rope:flat_spec"))
    roper.position.register("flat_spec", { bias = function(_, q) return q:mul(0):sum() end })
    assert.same({ "flat_spec", "rotary" }, names_of_layers(configure("flat_spec:rope")))
    assert.is_nil(position.missing("rope:flat_spec"))
  end)

  it("refuses parts that are none, with the nearest name", function()
    for _, value in ipairs({ "join", "rope+twise", 5, true }) do
      assert.error_matches(function() configure(value) end, "field position: expected one of")
    end
    assert.has_error(function() configure("rope:none:") end, "field position: expected the name "
      .. 'of a scheme at character 11 of "rope:none:", got the end')
    assert.error_matches(function() configure("rope+alibbi") end, 'did you mean "alibi"%?')
  end)

  it("hands fields to the schemes that take them, where they say something", function()
    local config = configure("rope+alibi:none", { base = 77, rotate = "k" })
    local rope = { type = "rope", base = 77, rotate = "k" }
    assert.same({ { type = "join", parts = { rope, "alibi" } }, "none" }, experiment.scheme(config))
    assert.equal("rope", experiment.scheme(configure("rope")))
  end)
end)

describe("options in the field position", function()
  local function position_of(value, fields)
    return configure(value, fields).position
  end

  it("are stored in one form", function()
    assert.equal("yarn{factor=4}", position_of("yarn{ factor = 4.0, slow=1 }"))
    assert.equal("yarn", position_of("yarn{factor=2}"))
    assert.equal("rope:yarn{factor=4}", position_of({ "rope", { type = "yarn", factor = 4 } }))
    local config = configure("rope+t5{buckets=16}:yarn{factor=4}")
    assert.same(config, configure(config.position))
    assert.same({ { type = "join", parts = { "rope", { type = "t5", buckets = 16 } } },
      { type = "yarn", factor = 4 } }, experiment.scheme(config))
    local layers = experiment.build(config).model.layers
    assert.equal(16, layers[1].attention.position.parts[2].table:size(1))
  end)

  it("leave the configuration of a position without options as it was", function()
    local plain = configure("rope")
    assert.same(plain, configure("rope{base=10000,rotate=qk}"))
    assert.equal(10000, plain.base)
  end)

  it("are refused with the reason", function()
    for value, message in pairs({
      ["yarn{facto=4}"] = '^field position: yarn: unknown option facto; did you mean "factor"?',
      ["yarn{dim=4}"] = "^field position: yarn: option dim cannot be set here: the model sets it",
      ["t5{buckets=7}"] = "^field position: t5: option buckets: expected an even number",
      ["rope:longrope{long={1,2}}"] = "^field position: longrope: option long: expected 8 numbers",
      ["rope{rotate=xy}"] = "^field position: .*rotate",
      ["yarn{factor=4"] = '^field position: expected "," or "}" at character 14',
      ["twice{factor=4}"] = "^field position: twice: unknown option factor",
      ["yarn{}{}"] = '^field position: expected "%+", ":" or the end at character 7',
    }) do
      assert.error_matches(function() configure(value) end, message)
    end
    local _, message = pcall(configure, ("yarn{factor="):rep(1000))
    assert.is_true(#message < 300)
  end)

  it("restore the random state after the check", function()
    local before = { require("roper.core").random_state() }
    configure("t5{buckets=16}")
    assert.same(before, { require("roper.core").random_state() })
  end)

  it("agree with the fields or are refused", function()
    local config = configure("rope{base=500}:yarn", { base = "500" })
    assert.same({ { type = "rope", base = 500 }, "yarn" }, experiment.scheme(config))
    assert.is_false(config.base)
    for _, base in ipairs({ "700", 10000 }) do
      assert.error_matches(function() configure("rope{base=500}", { base = base }) end,
        ("field base: %s is given, but base=500 in position=rope{base=500}; set it once"):format(
          base))
    end
    assert.error_matches(function() configure("rope{base=10000}", { base = 700 }) end,
      "field base: 700 is given, but base=10000")
    assert.same({ type = "rope", base = 500, rotate = "vo" },
      experiment.scheme(configure("rope{base=500}", { rotate = "vo" })))
    config.experiment = nil -- as a run is resumed
    local again = experiment.configure("copy", config)
    config.experiment = "copy"
    assert.same(config, again)
  end)
end)

describe("experiment.reach", function()
  it("is as far as the longest rows and problems go", function()
    assert.equal(132, experiment.reach(configure("learned")))
    local config = experiment.configure("addition", { preset = "smoke" })
    local longest = roper.tasks.addition({ max_digits = 6 }):longest()
    assert.is_true(longest > config.length)
    assert.equal(longest, experiment.reach(config))
  end)
end)
