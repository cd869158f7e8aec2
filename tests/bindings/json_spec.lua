local core = require("roper.core")

local encode, decode, null, array = core.json_encode, core.json_decode, core.json_null,
  core.json_array

describe("json", function()
  local function encode_fails(reason, ...)
    local arguments = table.pack(...)
    assert.error_matches(function() encode(table.unpack(arguments, 1, arguments.n)) end,
      reason, 1, true)
  end

  local function is_damaged(reason, text)
    local value, problem = decode(text)
    assert.is_nil(value)
    assert.equal(1, (problem:find(reason, 1, true)), problem)
  end

  describe("json_encode", function()
    it("writes scalars", function()
      for text, value in pairs({
        ["true"] = true, ["false"] = false, ["null"] = null, ["12"] = 12, ["12.0"] = 12.0,
        ["-0.0"] = -0.0, ["0.5"] = 0.5, ["\"a\\n\\\"\\\\é\\u0000\""] = 'a\n"\\é\0',
        ["9223372036854775807"] = math.maxinteger, ["-9223372036854775808"] = math.mininteger,
      }) do
        assert.equal(text, encode(value))
      end
    end)

    it("writes NaN and infinities as null", function()
      assert.equal("[null, null, null]", encode({ 0 / 0, 1 / 0, -1 / 0 }))
    end)

    it("distinguishes arrays from objects", function()
      assert.equal("[1, [2, 3], {\"a\": 4}]", encode({ 1, { 2, 3 }, { a = 4 } }))
      assert.equal("{}", encode({}))
      assert.equal("[]", encode(array({})))
      assert.equal("[]", encode(array()))
      assert.equal("[1]", encode(array({ 1 })))
      assert.equal('{"1": 2}', encode({ ["1"] = 2 }))
    end)

    it("sorts keys by default", function()
      local value = { c = 1, a = 2, b = 3, ab = 4, [""] = 5 }
      assert.equal('{"": 5, "a": 2, "ab": 4, "b": 3, "c": 1}', encode(value))
      assert.equal(encode(value), encode(value, { sort = true }))
      assert.same(value, decode(encode(value, { sort = false })))
    end)

    it("indents", function()
      assert.equal('{\n  "a": [\n    1\n  ]\n}', encode({ a = { 1 } }, { indent = 2 }))
      assert.equal(encode({ a = { 1 } }), encode({ a = { 1 } }, { indent = 0 }))
    end)

    it("reads tables without metamethods", function()
      local odd = setmetatable({ 1 }, { __index = { 1, 2 }, __len = function() return 5 end })
      assert.equal("[1]", encode(odd))
    end)

    it("rejects tables that are neither array nor object, and names the location", function()
      encode_fails("json_encode: value: expected either 1 .. n or strings", { 1, nil, 3 })
      encode_fails("value.a[1].b: expected either", { a = { { b = { 1, x = 2 } } } })
      encode_fails("value: expected strings or 1 .. n as keys, got 1.5", { [1.5] = 1 })
      encode_fails("value: expected strings or 1 .. n as keys, got true", { [true] = 1 })
      encode_fails("value: expected strings or 1 .. n as keys, got 0", { [0] = 1 })
      encode_fails("value: expected strings or 1 .. n as keys, got -1", { [-1] = 1 })
      encode_fails("value: expected either", array({ a = 1 }))
    end)

    it("rejects values that JSON does not have, and names the location", function()
      encode_fails("value.a.b: expected a boolean, number, string, table or json_null, got "
        .. "function", { a = { b = print } })
      encode_fails("value[2]: expected a boolean", { 1, coroutine.create(print) })
      encode_fails("value: expected a boolean", io.stdout)
      encode_fails("value: expected a boolean", nil)
      encode_fails("value expected")
      encode_fails("value[1]: the key or the value is not UTF-8", { "\xff" })
      encode_fails("value.\xff: the key or the value is not UTF-8", { ["\xff"] = 1 })
      encode_fails("value: the key or the value is not UTF-8", "\xed\xa0\x80")
      encode_fails("value.a: key contains a NUL byte", { ["a\0b"] = 1 })
    end)

    it("rejects cycles and more than 200 levels", function()
      local circle = {}
      circle.next = { circle }
      encode_fails("nested deeper than 200 levels, or contains itself", circle)
      local deep = {}
      for _ = 2, 200 do
        deep = { deep }
      end
      assert.equal(("["):rep(199) .. "{}" .. ("]"):rep(199), encode(deep))
      encode_fails("nested deeper than 200 levels", { deep })
    end)

    it("checks its options", function()
      encode_fails("unknown option indents", 1, { indents = 1 })
      encode_fails("option indent: expected an integer from 0 to 31, got 32", 1,
        { indent = 32 })
      encode_fails("option indent", 1, { indent = 1.5 })
      encode_fails("option sort: expected true or false, got 1", 1, { sort = 1 })
      encode_fails("at most 2 arguments", 1, {}, 3)
    end)

    it("holds no memory after errors #memory", function()
      local large = { ("x"):rep(1000000), print }
      local function resident()
        collectgarbage()
        collectgarbage()
        local file <close> = assert(io.open("/proc/self/statm"))
        file:read("n")
        return file:read("n") * 4096
      end
      pcall(encode, large)
      local before = resident()
      for _ = 1, 200 do
        pcall(encode, large)
        collectgarbage()
      end
      assert.is_true(resident() - before < 50000000)
    end)
  end)

  describe("json_decode", function()
    it("reads scalars", function()
      for text, value in pairs({
        ["true"] = true, ["false"] = false, ["null"] = null, [" 12 "] = 12, ["12.0"] = 12.0,
        ["1e3"] = 1000.0, ['"\\u00e9\\u0000\\ud83d\\ude00"'] = "é\0😀",
        ["9223372036854775807"] = math.maxinteger,
      }) do
        assert.equal(value, decode(text))
        assert.equal(math.type(value), math.type(decode(text)))
      end
    end)

    it("reads containers", function()
      assert.same({ a = { 1, { b = "c" } }, d = {} }, decode('{"a": [1, {"b": "c"}], "d": {}}'))
    end)

    it("returns nil and the line and column of an error", function()
      is_damaged("line 2, column 3: ", "[1,\n2,]")
      is_damaged("line 1, column 0: ", "")
      is_damaged("line 1, column 3: end of file expected", "1 2")
      is_damaged("line 1, column 12: duplicate object key", '{"a": 1, "a": 2}')
      is_damaged("line 1, column 19: too big integer", "9223372036854775808")
      is_damaged("line 1, column 5: real number overflow", "1e999")
      is_damaged("line 1", "NaN")
      is_damaged("line 1", '"\xff"')
      is_damaged("line 1, column 10: NUL byte in object key", '{"a\\u0000": 1}')
    end)

    it("raises an error if the argument is not a string", function()
      for _, value in ipairs({ 12, false, {} }) do
        assert.error_matches(function() decode(value) end, "string expected")
      end
      assert.error_matches(function() decode() end, "string expected")
    end)

    it("rejects more than 200 levels", function()
      assert.is_table(decode(("["):rep(200) .. ("]"):rep(200)))
      is_damaged("the value is nested deeper than 200 levels", ("["):rep(201) .. ("]"):rep(201))
      is_damaged("the value is nested deeper than 200 levels",
        ('[{"a": '):rep(100) .. "[]" .. ("}]"):rep(100))
      is_damaged("line 1", ("["):rep(1000000))
    end)
  end)

  describe("round trips", function()
    it("keep every text", function()
      for _, text in ipairs({
        "[]", "{}", '{"a": [], "b": {}, "c": null}', "[null, 1, 1.0, [[]]]",
      }) do
        assert.equal(text, encode(decode(text)))
      end
    end)

    it("keep every bit of a float and an integer (seed 3)", function()
      math.randomseed(3)
      for _ = 1, 2000 do
        local bits = math.random(0)
        local float = string.unpack("<d", string.pack("<i8", bits))
        if float == float and float ~= 1 / 0 and float ~= -1 / 0 then
          assert.equal(string.pack("<d", float), string.pack("<d", decode(encode(float))))
        end
        assert.equal(bits, decode(encode(bits)))
      end
    end)
  end)

  describe("without memory", function()
    after_each(function() core.memory_fail_after(-1) end)

    -- Refuse the first, second, third ... allocation of f until it succeeds; each time it says so.
    local function check_every_allocation(f, ...)
      local expected, allowed, ok, result = f(...), -1
      repeat
        allowed = allowed + 1
        core.memory_fail_after(allowed)
        ok, result = pcall(f, ...)
        core.memory_fail_after(-1)
        assert(ok or result:find("out of memory: asked for %d+ bytes"), result)
      until ok
      assert.same(expected, result)
      return allowed
    end

    it("raise an error, and never return part of a name, a text or a number", function()
      local value = { [("name"):rep(9)] = ("text"):rep(30), numbers = { 1234567890123456, -0.5,
        0.12345678901234567, 1e-300, 123456789012345678 }, list = array({}), truth = true }
      assert.is_true(check_every_allocation(encode, value) > 20)
      assert.is_true(check_every_allocation(encode, value, { indent = 2, sort = false }) > 20)
      assert.is_true(check_every_allocation(decode, encode(value)) > 20)
      assert.is_true(check_every_allocation(decode, ("9"):rep(15) .. "       ") > 1)
      assert.is_true(check_every_allocation(decode, "[" .. ("true,"):rep(500) .. "false]") > 5)
      assert.is_true(check_every_allocation(decode, ("["):rep(100) .. ("]"):rep(100)) > 100)
    end)

    it("is distinguished from text that is not JSON", function()
      core.memory_fail_after(0)
      assert.error_matches(function() decode("[1") end, "out of memory: asked for %d+ bytes$")
      assert.error_matches(function() encode("x") end, "out of memory: asked for .* for JSON$")
      core.memory_fail_after(-1)
      is_damaged("line 1", "[1")
      assert.error_matches(function() encode("\xff") end, "is not UTF%-8")
    end)
  end)

  describe("json_array", function()
    it("marks the table itself", function()
      local t = { 1 }
      assert.equal(t, array(t))
      assert.equal(t, array(t))
      assert.equal("[]", encode(array(decode("[]"))))
    end)

    it("accepts plain tables only", function()
      assert.error_matches(function() array(setmetatable({}, {})) end, "without a metatable")
      assert.error_matches(function() array(1) end, "table expected")
    end)
  end)
end)
