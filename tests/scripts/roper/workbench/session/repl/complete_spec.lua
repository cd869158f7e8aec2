local complete = require("roper.workbench.session.repl.complete")
local roper = require("roper")
local scratch = require("tests.scratch")

describe("complete.names", function()
  setup(scratch.create)
  teardown(scratch.remove)

  local class = { turn = function() end, twist = function() end, _hidden = 1 }
  class.__index = class
  local globals = {
    roper = { attention = 1, attend = 2, nn = { Linear = 1 } },
    rope = 3,
    object = setmetatable({ turns = 5 }, class),
    tensor = roper.zeros({ 2 }),
    text = "abc",
    ["not a name"] = 1,
  }

  local function offers(expected, text)
    assert.same(expected, (complete.names(text, globals)))
  end

  it("offers globals", function()
    offers({ "rope", "roper" }, "ro")
    offers({ "rope", "roper" }, "x = f(1) + ro")
    offers({}, "xyz")
  end)

  it("offers fields, with the path in front", function()
    offers({ "roper.attend", "roper.attention" }, "roper.att")
    offers({ "roper.nn.Linear" }, "f(roper.nn.")
    offers({}, "roper.nothing.")
    offers({}, "roper.nn.Linear.")
  end)

  it("offers methods: only functions after a colon", function()
    offers({ "object:turn", "object:twist" }, "object:t")
    offers({ "object.turn", "object.turns" }, "object.turn")
    offers({ "text:rep", "text:reverse" }, "text:re")
    offers({ "tensor:matmul" }, "tensor:matm")
  end)

  it("hides names that begin with an underscore until it is typed", function()
    offers({ "object._hidden" }, "object._h")
    assert.equal(nil, table.concat(complete.names("object.", globals)):find("_"))
  end)

  it("offers nothing after text that is not a name", function()
    offers({}, "")
    offers({}, "x + ")
    offers({}, "3ro")
    offers({}, "f().ro")
  end)

  it("offers position schemes in strings that name one", function()
    local list = roper.position.list()
    table.sort(list)
    offers(list, 'roper.nn.Transformer{position = "')
    for _, text in ipairs({
      'f{position = "alib', "f{heads = 2, position='alib", 'position = "rope+alib',
      'f{position = {"rope", "alib', 'roper.position.describe "alib', 'roper.position.check("alib',
    }) do
      offers({ "alibi" .. text:match("[\"']") }, text)
    end
    offers({ "rope", "roper" }, 'f{position = "rop')
    offers({ "factor=", "fast=" }, 'f{position = "rope,yarn{fa')
    offers({ "pairs" }, "f{position = {'alibi', 'yarn{ramp=pa")
    offers({ 'alibi"' }, 'f{position = {"yarn{factor=4}", "alib')
    offers({}, 'f{position = "rope", name = "alib')
    roper.position.register("zz_spec", {})
    offers({ 'zz_spec"' }, 'f{position = "zz')
  end)

  it("offers fields and methods after a constant index and a string in parentheses", function()
    globals.m = { alpha = 1, beta = { gamma = 2, ["a b"] = 3 }, { delta = 4 } }
    offers({ "tensor[1]:matmul" }, "tensor[1]:matm")
    offers({ "tensor[1][2].matmul" }, "f(tensor[1][2].matm")
    offers({ "m[1].delta" }, "m[1].")
    offers({ 'm["beta"].gamma' }, 'm["beta"].ga')
    offers({ '("abc"):rep', '("abc"):reverse' }, 'x = ("abc"):re')
    offers({}, 'f("abc"):re')
    offers({}, "text[1]:re")
    offers({}, "a..text:re")
    local trap = setmetatable({}, { __index = function() error("called") end })
    assert.same({}, (complete.names("trap[1].x", { trap = trap })))
  end)

  it("offers keys in an index, and the choices of a method's argument, instead of files", function()
    globals.m = { alpha = 1, beta = { gamma = 2, ["a b"] = 3 }, { delta = 4 } }
    offers({ "alpha", "beta" }, 'm["')
    offers({ 'alpha"' }, 'f(m["al')
    offers({ "a b'" }, "m.beta['a")
    offers({}, 'm["zz')
    offers({}, 'tensor["')
    offers({}, 'nothing["')
    offers({ "float32", "float64", "int32" }, 'tensor:to "')
    offers({ 'int32"' }, 'tensor[1]:to("in')
  end)

  it("calls no metamethods", function()
    local trap = setmetatable({}, { __index = function() error("called") end })
    assert.same({}, (complete.names("trap.inner.x", { trap = trap })))
  end)

  it("offers modules that are loaded on first use, and loads one to list its members", function()
    local loaded = {}
    local lazy = setmetatable({}, {
      __names = function() return { "inner", "outer" } end,
      __index = function(_, name)
        loaded[#loaded + 1] = name
        return { x = 1 }
      end,
    })
    assert.same({ "lazy.inner", "lazy.outer" }, (complete.names("lazy.", { lazy = lazy })))
    assert.same({}, loaded)
    assert.same({ "lazy.inner.x" }, (complete.names("lazy.inner.", { lazy = lazy })))
    assert.same({}, (complete.names("lazy.other.", { lazy = lazy })))
    assert.same({ "inner" }, loaded)
  end)

  it("offers the options of a known function that are not set yet", function()
    local library = { roper = roper, r = roper.position }
    local function options(text)
      return (complete.names(text, library))
    end
    assert.same({ "position", "positions" }, options("roper.attention(q, k, v, {causal = true, po"))
    assert.same({ "causal = " }, options("roper.attention(q, k, v, {\n  ca"))
    assert.same({ "pairing = " }, options("r.rope{dim = 4, p"))
    assert.same({}, options("r.rope{dim = 4, di"))
    assert.same({ "base", "centre", "coordinates", "dim", "fraction", "frequencies", "growth",
      "last", "magnitude", "pairing", "rotate", "value_fraction" }, options("x = r.rope{"))
    assert.same({ "roper", "r" }, { options("r.rope{dim = rop")[1], options("unknown{r")[1] })
    assert.equal(2, select(2, complete.names("r.rope{ba", library)))
  end)

  it("offers the choices of an option or an argument", function()
    local library = { roper = roper, x = roper.zeros({ 2 }) }
    local function strings(text)
      return (complete.names(text, library))
    end
    assert.same({ "post", "pre", "reordered", "sandwich" },
      strings('roper.nn.Transformer{layers = 2, norm = "'))
    assert.same({ "s3", "s5" }, strings('roper.tasks.state_tracking{kind = "s'))
    assert.same({ 'post"' }, strings('roper.nn.Transformer({norm="po'))
    assert.same({ "half'" }, strings("roper.position.rope{dim = 4, pairing = 'h"))
    assert.same({ "float32", "float64" }, strings('x:to "flo'))
    assert.same({ 'bfloat16"' }, strings('roper.matmul_precision("b'))
    assert.same({}, strings('roper.nn.Transformer{norm = "x'))
    assert.same({ 'README.md"' }, strings('roper.load "READM'))
    assert.same({ 'README.md"' }, strings('norm = "READM'))
  end)

  it("offers files in strings and as arguments of commands", function()
    scratch.write("first.npy", "")
    scratch.write("second thing.npy", "")
    scratch.write("second's", "")
    require("roper.system.file").make(scratch.path("folder"))
    local path = scratch.path("")
    offers({ 'first.npy"' }, 'roper.load("' .. path .. "f" .. "i")
    offers({ "first.npy", "folder/" }, "roper.load('" .. path .. "f")
    offers({ "second thing.npy'" }, "roper.load('" .. path .. "second t")
    offers({ "second thing.npy'" }, "roper.load('" .. path .. "se")
    offers({ "folder/" }, "%cd " .. path .. "fo")
    offers({ "first.npy" }, "$ ls -l " .. path .. "fi")
    offers({ "first.npy" }, "!ls " .. path .. "fi")
    offers({}, "roper.load('" .. path .. "none/x")
    assert.equal(4, select(2, complete.names("x '" .. path .. "seco", globals)))
  end)

  it("offers commands", function()
    offers({ "bench " }, "%b")
    offers({ "rope", "roper" }, "%time ro")
  end)

  it("offers nothing in a comment", function()
    offers({}, "x -- ro")
  end)

  it("gives the help of an option, a position scheme or a name", function()
    local library = { roper = roper }
    local function begins(expected, text)
      assert.equal(expected, complete.help(text, library):sub(1, #expected))
    end
    begins("  causal  boolean = false: query i", "roper.attention(q, q, q, {causal")
    begins("  causal  boolean = false: query i", "x = roper.attention(q, q, q, {causal = ")
    begins("roper.position.alibi(options)", "roper.attention(q, q, q, {position = 'alibi")
    begins("roper.eye(n, dtype?)", "roper.attention(q, q, q, {mask = roper.eye(")
    assert.error_matches(function() complete.help("roper.attention(q, q, q, {cause", library) end,
      "^unknown name cause")
  end)

  it("survives cyclic metatables", function()
    local a, b = {}, {}
    setmetatable(a, { __index = b })
    setmetatable(b, { __index = a })
    b.name = 1
    assert.same({ "a.name" }, (complete.names("a.", { a = a })))
  end)
end)
