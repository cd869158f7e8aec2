local roper = require("roper")
local syntax = require("roper.position.syntax")

describe("the syntax of position schemes", function()
  it("has schemes joined by + for each layer", function()
    local rope, alibi, none = { type = "rope" }, { type = "alibi" }, { type = "none" }
    assert.same({ { rope } }, syntax.parse("rope", "x"))
    assert.same({ { rope, alibi }, { none }, { rope } }, syntax.parse("rope+alibi:none:rope", "x"))
  end)

  it("has options in braces", function()
    local function options_of(text)
      return syntax.parse(text, "x")[1][1].options
    end
    assert.same({ { "a", { word = "4" } } }, options_of("yarn{a=4}"))
    assert.same({ { "a", { word = "-1e+3" } }, { "b", { quoted = "x, }" } } },
      options_of("yarn{ a = -1e+3 , b = 'x, }' }"))
    assert.same({ { "a", { list = { { word = "1" }, { word = "b" } } } }, { "c", { list = {} } } },
      options_of("yarn{a={1, b},c={}}"))
    assert.is_nil(options_of("yarn{}"))
    assert.is_nil(options_of("yarn{ }"))
    local layers = syntax.parse("rope{a=1}+t5{b=2}:x{c=3}", "x")
    assert.same({ "rope", "t5", "x" }, { layers[1][1].type, layers[1][2].type, layers[2][1].type })
  end)

  it("prints what it parsed", function()
    for _, text in ipairs({ "rope", "rope+alibi", "rope:none", "rope+alibi:none:t5+xpos" }) do
      assert.equal(text, syntax.text(syntax.parse(text, "x")))
    end
  end)

  it("says where a text is wrong, and what was expected there", function()
    local name, going_on = "the name of a scheme", '"+", ":" or the end'
    for text, problem in pairs({
      [""] = { name, 1, "the end" }, [":"] = { name, 1, '":"' }, ["rope:"] = { name, 6, "the end" },
      ["+alibi"] = { name, 1, '"+"' }, ["rope++alibi"] = { name, 6, '"+"' },
      ["rope none"] = { going_on, 5, '" "' }, ["rope,none"] = { going_on, 5, '","' },
      ["ropé"] = { going_on, 4, '"é"' }, ["rope\xff"] = { going_on, 5, '"\xff"' },
    }) do
      assert.has_error(function() syntax.parse(text, "x") end,
        ('x: expected %s at character %d of "%s", got %s'):format(problem[1], problem[2], text,
          problem[3]))
    end
  end)

  it("refuses hostile options, and names the character", function()
    local option, value, more = "the name of an option", "a number, true, false or a string",
      '"," or "}"'
    for text, problem in pairs({
      ["a{"] = { option, 3, "the end" }, ["a{b"] = { '"="', 4, "the end" },
      ["a{b="] = { value, 5, "the end" }, ["a{b=1"] = { more, 6, "the end" },
      ["a{b=1,"] = { option, 7, "the end" }, ["a{b=1,}"] = { option, 7, '"}"' },
      ["a{,}"] = { option, 3, '","' }, ["a{{b=1}}"] = { option, 3, '"{"' },
      ["a{b={{1}}}"] = { value, 6, '"{"' }, ["a{b={c=1}}"] = { more, 7, '"="' },
      ["a{b=c{d=1}}"] = { more, 6, '"{"' }, ["a{é=1}"] = { option, 3, '"é"' },
      ["a{b=é}"] = { value, 5, '"é"' }, ["a{b='c}"] = { "a closing '", 8, "the end" },
      ["a{b=1}}"] = { '"+", ":" or the end', 7, '"}"' }, ["{b=1}"] = { "the name of a scheme", 1,
        '"{"' }, ["a {b=1}"] = { '"+", ":" or the end', 2, '" "' },
      ["a{b=1\n}"] = { more, 6, '"\n"' },
    }) do
      assert.has_error(function() syntax.parse(text, "x") end,
        ('x: expected %s at character %d of "%s", got %s'):format(problem[1], problem[2], text,
          problem[3]))
    end
    assert.has_error(function() syntax.parse("a{b=1,b=1}", "x") end,
      "x: a: option b is given twice")
  end)

  it("advises quotes for what a shell makes of braces", function()
    assert.error_matches(function() syntax.parse("yarnfactor=4", "x") end,
      "at character 11 .* put options in braces, .* in single quotes")
  end)

  it("shows the part of a long text that is wrong", function()
    for _, text in ipairs({ ("yarn{factor="):rep(1000), ("{"):rep(10000), ("a"):rep(10000) .. "!",
                            ("é"):rep(5000), "a{b=" .. ("{"):rep(10000), ("a:"):rep(5000),
                            "a{b='" .. ("é"):rep(5000) }) do
      local ok, message = pcall(syntax.parse, text, "x")
      assert.is_false(ok)
      assert.truthy(utf8.len(message), message)
      assert.is_true(#message < 300, #message)
    end
    local _, message = pcall(syntax.parse, ("rope:"):rep(1000) .. "!rope", "x")
    assert.matches("at character 5001 .*rope:!rope", message)
    assert.equal(5000, #syntax.parse(("a:"):rep(4999) .. "a", "x"))
  end)

  it("splits sets outside braces", function()
    assert.same({ "rope", "yarn{a=1,b=2}", "t5{c='},'}+x:y", "" },
      syntax.choices("rope,yarn{a=1,b=2},t5{c='},'}+x:y,"))
    for _, text in ipairs({ "", "a{b=1,c=2", "a{b='1,2", "a}b" }) do
      assert.same({ text }, syntax.choices(text))
    end
    assert.same({ "rope", "a{b=1,c" }, syntax.choices("rope,a{b=1,c"))
  end)

  it("finds the option to complete", function()
    assert.same({ start = "fa", scheme = "yarn", given = {} }, syntax.unfinished("rope,yarn{fa"))
    assert.same({ start = "", scheme = "yarn", given = { a = true } },
      syntax.unfinished("t5{x=1}+yarn{a=1, "))
    assert.same({ start = "pa", scheme = "yarn", option = "ramp", given = {} },
      syntax.unfinished("yarn{ramp=pa"))
    assert.same({ start = "al" }, syntax.unfinished("yarn{a=1,b=2}+al"))
    for _, text in ipairs({ "yarn{a=1}", "yarn{a={1,", "yarn{a='b", "{", "yarn{é" }) do
      assert.is_nil(syntax.unfinished(text))
    end
  end)

  it("splits sets, and finds the name to complete", function()
    assert.same({ "rope", "", "rope+alibi:none" }, syntax.choices("rope,,rope+alibi:none"))
    for text, last in pairs({ ro = "ro", ["rope+"] = "", ["rope:no"] = "no", ["a,b+c:d"] = "d" }) do
      assert.same({ start = last }, syntax.unfinished(text))
    end
  end)

  it("is that of every scheme given by name", function()
    assert.has_error(function() roper.position.resolve("rope+", 4) end, "position: expected the "
      .. 'name of a scheme at character 6 of "rope+", got the end')
    assert.has_error(function() roper.position.resolve("rope:none", 4) end, "position: expected "
      .. 'schemes of one layer, got rope:none; give a Transformer a list, {"rope", "none"}')
    local context = { dim = 4, heads = 2 }
    assert.has_error(function() roper.position.resolve({ "rope", "alibi" }, 4) end, "position: "
      .. "expected the scheme of one layer, got a list of 2, the schemes of several layers; pass "
      .. "one of them")
    assert.error_matches(function() roper.position.resolve("rope+alibbi", context) end,
      'did you mean "alibi"%?')
    assert.is_nil(roper.position.missing({ type = "rope+alibi" }))
    assert.equal("alibbi", roper.position.missing({ type = "rope+alibbi" }))
  end)
end)
