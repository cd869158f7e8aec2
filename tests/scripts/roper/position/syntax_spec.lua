local roper = require("roper")
local syntax = require("roper.position.syntax")

describe("the syntax of position schemes", function()
  it("has schemes joined by + for each layer", function()
    local rope, alibi, none = { type = "rope" }, { type = "alibi" }, { type = "none" }
    assert.same({ { rope } }, syntax.parse("rope", "x"))
    assert.same({ { rope, alibi }, { none }, { rope } }, syntax.parse("rope+alibi:none:rope", "x"))
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

  it("splits sets, and finds the name to complete", function()
    assert.same({ "rope", "", "rope+alibi:none" }, syntax.choices("rope,,rope+alibi:none"))
    for text, last in pairs({ ro = "ro", ["rope+"] = "", ["rope:no"] = "no", ["a,b+c:d"] = "d" }) do
      assert.equal(last, syntax.unfinished(text))
    end
  end)

  it("is that of every scheme given by name", function()
    assert.has_error(function() roper.position.resolve("rope+", 4) end, "position: expected the "
      .. 'name of a scheme at character 6 of "rope+", got the end')
    assert.has_error(function() roper.position.resolve("rope:none", 4) end, "position: expected "
      .. 'schemes of one layer, got rope:none; give a Transformer a list, {"rope", "none"}')
    local context = { dim = 4, heads = 2 }
    assert.error_matches(function() roper.position.resolve("rope+alibbi", context) end,
      'did you mean "alibi"%?')
    assert.is_nil(roper.position.missing({ type = "rope+alibi" }))
    assert.equal("alibbi", roper.position.missing({ type = "rope+alibbi" }))
  end)
end)
