local core = require("roper.core")
local roper = require("roper")

local function options_of_rope(options)
  return function() return roper.position.rope(options) end
end

describe("option tables", function()
  it("reject unknown names", function()
    local function refused(name, message)
      assert.error_matches(options_of_rope({ dim = 8, [name] = 5 }),
        "rope: unknown option " .. message)
    end
    refused("Base", 'Base; did you mean "base"%? It takes dim, base, pairing')
    refused(1, "1; it takes")
    refused(true, "true; it takes")
    refused({}, "table: ")
  end)

  it("compare names and choices to their end", function()
    assert.error_matches(options_of_rope({ dim = 8, ["base\0"] = 5 }), "unknown option base")
    assert.error_matches(function() core.tasks.new("state_tracking", { kind = "s3\0" }) end,
      "option kind: expected one of parity, .*, got \"s3\\0\"")
    assert.error_matches(function() roper.matmul_precision("float32\0") end,
      "expected one of .*float32")
    assert.error_matches(function() roper.zeros({ 2 }, "int32\0") end, 'got "int32\\0"')
  end)

  it("convert neither strings to numbers nor numbers to strings", function()
    local function refused(name, value, message)
      local options = { dim = 8 }
      options[name] = value
      assert.error_matches(options_of_rope(options), ("rope: option %s: expected %s"):format(name,
        message))
    end
    refused("dim", "8", "an integer from 1 to %d+, got \"8\"$")
    refused("dim", true, "an integer from 1 to %d+, got true")
    refused("base", "5", "a finite number, got \"5\"$")
    refused("rotate", 5, "a string, got 5")
    refused("rotate", true, "a string, got true")
    refused("frequencies", "5", 'a list or a tensor, got "5"')
    refused("frequencies", { 1, true }, "numbers, got true as element 2")
    assert.equal(8, roper.position.rope({ dim = 8.0 }):options().dim)
  end)

  it("are read without metamethods", function()
    local options = setmetatable({ dim = 8 }, { __index = function() error("asked") end })
    assert.equal(8, core.rotary(options):options().dim)
  end)
end)

describe("values that cannot be printed", function()
  it("are named by their type", function()
    assert.error_matches(function() roper.threads({}) end, "got table")
    assert.error_matches(function() roper.zeros({ {} }) end, "got table")
    assert.error_matches(function() return roper.ones({ 2 })[print] end, "got function")
    local odd = setmetatable({}, { __name = {} })
    assert.error_matches(function() roper.add(roper.ones({ 2 }), odd) end, "got table")
    local logits, targets = roper.ones({ 1, 2 }), roper.zeros({ 1 }, "int32")
    assert.error_matches(function() roper.cross_entropy(logits, targets, { ignore = {} }) end,
      "option ignore: expected an integer .*, got table")
  end)
end)

describe("numbers at the limits", function()
  it("must be whole if integers are expected", function()
    local x = roper.ones({ 2, 2 })
    assert.same({ 2 }, x:sum(1.0):shape())
    assert.same({ 4 }, x:view({ 4.0 }):shape())
    assert.equal(1, x[2.0][1]:item())
    assert.error_matches(function() x:sum(1.5) end, "expected an integer, got 1.5")
    assert.error_matches(function() x:sum(0 / 0) end, "expected an integer, got %-?nan")
    assert.error_matches(function() x:sum(math.huge) end, "expected an integer, got inf")
    assert.error_matches(function() x:narrow(1, 1, 2 ^ 53 + 0.0) end, "outside axis 1")
  end)
end)

describe("a field of a list", function()
  it("sets the dtype of a new tensor, beside sizes or numbers", function()
    for _, make in ipairs({ roper.zeros, roper.ones, roper.rand, roper.randn }) do
      local x = make({ 2, 3, dtype = "float64" })
      assert.same({ "float64", { 2, 3 } }, { x:dtype(), x:shape() })
    end
    assert.equal("int32", roper.full({ 2, dtype = "int32" }, 5):dtype())
    local x = roper.tensor({ { 1, 2 }, { 3, 4 }, dtype = "int32" })
    assert.same({ "int32", { { 1, 2 }, { 3, 4 } } }, { x:dtype(), x:totable() })
  end)

  it("is rejected if it is not a dtype, or repeats the argument", function()
    assert.error_matches(function() roper.zeros({ 2, dtype = "half" }) end,
      '#1 to .*expected one of float32, float64, int32, got "half"')
    assert.error_matches(function() roper.randn({ 2, dtype = "int32" }) end,
      "#1 to .*expected float32 or float64, got int32")
    assert.error_matches(function() roper.zeros({ 2, dtype = 64 }) end, "got 64")
    assert.error_matches(function() roper.zeros({ 2, dtype = "int32" }, "int32") end,
      "#2 to .*the list already has a field dtype")
    assert.error_matches(function() roper.tensor({ 2, dtype = "int32" }, "int32") end,
      "#2 to .*the list already has a field dtype")
  end)

  it("is rejected if nothing reads it", function()
    local x = roper.ones({ 2 })
    for name, f in pairs({
      requires_grad = function() roper.randn({ 3, requires_grad = true }) end,
      dtyp = function() roper.tensor({ { 1 }, dtyp = "int32" }) end,
      dtype = function() roper.tensor({ { 1, dtype = "int32" } }) end,
      ["4"] = function() x:view({ 2, [4] = 1 }) end,
      keep = function() x:view({ 2, keep = true }) end,
      axis = function() roper.cat({ x, x, axis = 1 }) end,
      by = function() roper.stack({ x, x, by = 1 }) end,
      seed = function() roper.randint(1, 2, { 2, seed = 1 }) end,
    }) do
      assert.error_matches(f, "unknown field " .. name .. " of a list")
    end
  end)
end)

describe("rank", function()
  it("is at most 8, for every function that increases it", function()
    local x = roper.ones({ 1, 1, 1, 1, 1, 1, 1, 2 })
    assert.equal(8, x:rank())
    assert.equal(2, (x * x):sum():item())
    local nine = { 1, 1, 1, 1, 1, 1, 1, 1, 2 }
    for _, f in ipairs({
      function() roper.randn(nine) end,
      function() roper.randint(0, 1, nine) end,
      function() roper.full(nine, 1) end,
      function() x:view(nine) end,
      function() x:expand(nine) end,
      function() x:view(table.unpack(nine)) end,
    }) do
      assert.error_matches(f, "expected at most 8 sizes, got 9")
    end
    assert.error_matches(function() roper.stack({ x, x }) end, "fewer than 8 axes")
    assert.error_matches(function() roper.embedding(roper.ones({ 2, 2 }), x:to("int32")) end,
      "embedding: expected a table %[n, d%]")
  end)
end)

describe("surplus arguments", function()

  -- Functions that take as many arguments as there are, or a shape as numbers.
  local OPEN = { enable_grad = true, no_grad = true, interrupt_call = true,
    interrupt_defer = true, view = true, reshape = true, expand = true, permute = true }

  it("are rejected by every function and method of C", function()
    local x = roper.ones({ 2, 3 })
    local objects = { core, x, roper.position.rope({ dim = 4 }), roper.tasks.addition() }
    local fields = { core, core.tensor_metatable.methods,
      debug.getmetatable(objects[3]).__index, debug.getmetatable(objects[4]).__index }
    local count = 0
    for i, object in ipairs(objects) do
      for name, f in next, fields[i] do
        if type(f) == "function" and debug.getinfo(f).what == "C" and not OPEN[name] then
          local _, message = pcall(f, object, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
          assert.matches("expected at most %d+ arguments?, got 11", message, 1, name)
          count = count + 1
        end
      end
    end
    assert.is_true(count > 100)
  end)
end)

describe("a field that a tensor does not have", function()
  it("is an error that suggests the nearest name", function()
    local x = roper.ones({ 2 })
    assert.error_matches(function() return x.shpe end,
      '^a tensor has no field "shpe"; did you mean "shape"?')
    assert.error_matches(function() return x:zzz() end, 'a tensor has no field "zzz"$')
  end)
end)
