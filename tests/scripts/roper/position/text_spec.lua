local roper = require("roper")
local tables = require("roper.base.tables")
local texts = require("roper.position.text")

local function canonical(position)
  return roper.position.canonical(position)
end

describe("position.canonical", function()
  setup(function()
    roper.position.register("taking_spec", { takes = { label = "string?", many = "table?",
      any = "any?", flag = { "boolean", true }, way = { { "a", "b" }, "a" },
      call = { "callable", print }, heads = "size" } })
  end)

  it("gives texts of one scheme one form", function()
    for given, expected in pairs({
      ["yarn{factor=4.0}"] = "yarn{factor=4}", ["yarn{factor=4}"] = "yarn{factor=4}",
      ["yarn{ fast = 16 , factor = 0x4 }"] = "yarn{factor=4,fast=16}",
      ["yarn{factor=4e0}"] = "yarn{factor=4}", ["yarn{factor=2.5e+20}"] = "yarn{factor=2.5e+20}",
      ["yarn{}"] = "yarn", ["yarn{factor=2}"] = "yarn", ["yarn{factor=2.0,slow=1}"] = "yarn",
      ["yarn{ramp='turns'}"] = "yarn{ramp=turns}", ["yarn{last=true}"] = "yarn{last=true}",
      ["yarn{last=false}"] = "yarn", ["rope{base=10000}"] = "rope",
      ["rope{rotate=qk}"] = "rope", ["roper{rotate=qk}"] = "roper{rotate=qk}",
      ["rope{rotate=''}"] = 'rope{rotate=""}',
      ["rope{base=5}+t5{buckets=32}:none{}"] = "rope{base=5}+t5:none",
      ["longrope{long={1,2.0,0.1}}"] = "longrope{long={1,2,0.1}}",
      ["taking_spec{label=4}"] = 'taking_spec{label="4"}',
      ["taking_spec{label=true}"] = 'taking_spec{label="true"}',
      ["taking_spec{any=true}"] = "taking_spec{any=true}",
      ["taking_spec{any='true'}"] = 'taking_spec{any="true"}',
      ["taking_spec{any='é\"'}"] = "taking_spec{any='é\"'}",
      ["taking_spec{flag=false,way=b}"] = "taking_spec{flag=false,way=b}",
      ["taking_spec{flag=true,way=a}"] = "taking_spec",
      ["taking_spec{many={}}"] = "taking_spec{many={}}",
    }) do
      assert.equal(expected, canonical(given), given)
      assert.equal(expected, canonical(expected))
    end
  end)

  it("writes tables of options", function()
    assert.equal("yarn{factor=4}", canonical({ type = "yarn", factor = 4.0 }))
    assert.equal("t5{buckets=16}+rope:none", canonical({
      { type = "join", parts = { { type = "t5", buckets = 16 }, "rope" } }, "none" }))
    assert.equal("yarn{factor=4,fast=16}", canonical({ type = "yarn{factor=4}", fast = 16 }))
    for _, position in ipairs({ { type = "taking_spec", any = roper.zeros({ 2 }) },
                                { type = "taking_spec", any = "'\"" }, "taking_spec{any='\n'}",
                                "taking_spec{many={a,'\27[2J'}}", "taking_spec{label='\xff'}",
                                { type = "taking_spec", many = { a = 1 } } }) do
      assert.error_matches(function() canonical(position) end,
        "expected a number, true, false, a line of text without both kinds of quotes, or a list")
    end
    for _, position in ipairs({ 5, {}, roper.position.rope({ dim = 4 }) }) do
      assert.error_matches(function() canonical(position) end, "position: expected a scheme")
    end
  end)

  it("refuses what the scheme does not take", function()
    local takes = roper.position.takes("yarn")
    takes.dim = nil -- the model sets it
    takes = table.concat(tables.keys(takes), ", ")
    for given, message in pairs({
      ["yarn{facto=4}"] = 'position: yarn: unknown option facto; did you mean "factor"? It takes '
        .. takes,
      ["yarn{type=4}"] = "position: yarn: unknown option type; it takes " .. takes,
      ["none{slope=4}"] = "position: none: unknown option slope; it takes none",
      ["yarn{factor=four}"] = "position: yarn: option factor: expected a finite number of at least "
        .. '1, got "four"',
      ["yarn{factor='4'}"] = "position: yarn: option factor: expected a finite number of at least "
        .. '1, got "4"',
      ["yarn{factor=1e999}"] = "position: yarn: option factor: expected a finite number of at "
        .. 'least 1, got "1e999"',
      ["yarn{trained_length=1.5}"] = "position: yarn: option trained_length: expected a positive "
        .. "integer, got 1.5",
      ["yarn{factor={1}}"] = "position: yarn: option factor: expected a finite number of at least "
        .. "1, got a table",
      ["yarn{ramp=turn}"] = "position: yarn: option ramp: expected one of pairs, turns, got "
        .. '"turn"; did you mean "turns"?',
      ["yarn{last=yes}"] = 'position: yarn: option last: expected true or false, got "yes"',
      ["yarn{dim=8}"] = "position: yarn: option dim cannot be set here: the model sets it to the "
        .. "features of a head, d_model / heads",
      ["t5{heads=8}"] = "position: t5: option heads cannot be set here: the model sets it to the "
        .. "number of heads",
    }) do
      assert.has_error(function() canonical(given) end, message)
    end
    assert.error_matches(function() canonical("yarm{factor=4}") end, 'did you mean "yarn"%?')
    assert.error_matches(function() canonical(("a"):rep(10000)) end, "aaaa…\"")
  end)
end)

describe("a text with options", function()
  it("creates the scheme that a table creates", function()
    local function thetas(position)
      return roper.position.resolve(position, 8):thetas():totable()
    end
    assert.same(thetas({ type = "yarn", factor = 4 }), thetas("yarn{factor=4}"))
    assert.are_not.same(thetas("yarn"), thetas("yarn{factor=4}"))
    assert.same(thetas("yarn{factor=4,base=500}"), thetas({ type = "yarn{factor=4}", base = 500 }))
    local context = { dim = 8, heads = 2 }
    assert.equal(16, roper.position.resolve("t5{buckets=16}", context).table:size(1))
    assert.equal("rotary+t5", roper.position.resolve("rope{base=5}+t5{buckets=16}", context).name)
    assert.is_nil(roper.position.resolve("none{}", context))
    assert.error_matches(function()
      roper.position.resolve({ type = "yarn{factor=4}", factor = 3 }, 8)
    end, "option factor is given twice")
    assert.error_matches(function()
      roper.position.resolve({ type = "rope+alibi", base = 3 }, context)
    end, "expected options of one scheme, got base for rope%+alibi")
  end)

  it("is taken by models, saved ones too, and by descriptions", function()
    local model = roper.nn.Transformer({ vocabulary = 4, d_model = 16, heads = 2, layers = 2,
      position = { "rope{base=50}+t5{buckets=16}", "yarn{factor=4}" } })
    assert.equal(16, model.layers[1].attention.position.parts[2].table:size(1))
    local path = os.tmpname()
    model:save(path)
    local tokens = roper.tensor({ { 0, 3, 1, 2 } }, "int32")
    assert.equal(0, (roper.load(path)(tokens) - model(tokens)):abs():max():item())
    os.remove(path)
    local description = roper.position.describe("yarn{ramp=turns}")
    assert.equal("yarn{ramp=turns}", description.name)
    assert.matches("number of rotations", description.words)
    assert.is_nil(roper.position.missing("yarn{factor=4}"))
    assert.equal("nothere", roper.position.missing({ "rope", "nothere{factor=4}" }))
  end)
end)

describe("the name of a file", function()
  it("is that of a text without options, and has no special characters", function()
    for text, name in pairs({ rope = "rope", ["rope+alibi:none"] = "rope+alibi:none",
      ["yarn{factor=4}"] = "yarn-factor-4", ["yarn{factor=4}+t5{buckets=16}:rope"] =
        "yarn-factor-4+t5-buckets-16:rope", ["a{b='/../x y$é\n'}"] = "a-b-..-x-y" }) do
      assert.equal(name, texts.file_name(text))
    end
    assert.equal(200, #texts.file_name("longrope{long={" .. ("1.5,"):rep(1000) .. "1}}"))
  end)
end)
