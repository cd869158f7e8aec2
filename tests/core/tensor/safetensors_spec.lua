local core = require("roper.core")
local scratch = require("tests.scratch")

local function fixture(name)
  return "tests/fixtures/" .. name .. ".safetensors"
end

-- A file with this header, as it is, and this data.
local function file(header, data)
  return string.pack("<s8", header) .. (data or "")
end

-- One field of a header.
local function field(name, dtype, shape, from, to)
  return string.format('"%s":{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}', name, dtype, shape,
    from, to)
end

describe("safetensors", function()
  setup(scratch.create)
  teardown(scratch.remove)

  local function load_bytes(bytes)
    return core.load_safetensors(scratch.write("bytes.safetensors", bytes))
  end

  local function saved(tensors, metadata)
    local path = scratch.path("saved.safetensors")
    core.save_safetensors(path, tensors, metadata)
    return scratch.read(path)
  end

  local function refused(bytes, reason)
    local path = scratch.write("bad.safetensors", bytes)
    local ok, message = pcall(core.load_safetensors, path)
    assert.is_false(ok)
    assert.matches("^load_safetensors: ", message)
    assert.matches('"' .. path .. '"', message, 1, true)
    assert.matches(reason, message, 1, true)
  end

  describe("load_safetensors", function()
    it("reads tensors by name, and metadata", function()
      local tensors, metadata = core.load_safetensors(fixture("mixed"))
      assert.same({ format = "roper", step = "12" }, metadata)
      local shapes, dtypes = {}, {}
      for name, tensor in pairs(tensors) do
        shapes[name], dtypes[name] = tensor:shape(), tensor:dtype()
      end
      assert.same({
        wide = {}, a = { 2, 3 }, bits = { 6 }, count = { 2 }, nothing = { 0, 3 }, ["é"] = { 1, 3 },
      }, shapes)
      assert.same({
        wide = "float64", a = "float32", bits = "float32", count = "int32", nothing = "float32",
        ["é"] = "float32",
      }, dtypes)
      assert.same({ { 0, 0.25, 0.5 }, { 0.75, 1, 1.25 } }, tensors.a:totable())
      assert.same({ -1, 2 }, tensors.count:totable())
    end)

    it("reads an empty file", function()
      local tensors, metadata = core.load_safetensors(fixture("empty"))
      assert.same({ {}, {} }, { tensors, metadata })
    end)

    it("reads unaligned data, int64 and uint8", function()
      local tensors = core.load_safetensors(fixture("foreign"))
      assert.same({ 0, 7, 255 }, tensors.bytes:totable())
      assert.same({ -2 ^ 31, 2 ^ 31 - 1 }, tensors.long:totable())
      assert.same({ { 0, 0.25, 0.5 }, { 0.75, 1, 1.25 } }, tensors.a:totable())
      assert.equal("int32", tensors.bytes:dtype())
      assert.equal("int32", tensors.long:dtype())
    end)

    it("reads float16 and bfloat16 as float32", function()
      local tensors = core.load_safetensors(fixture("halves"))
      for _, name in ipairs({ "half", "brain" }) do
        assert.equal("float32", tensors[name]:dtype())
        for i, value in ipairs(tensors["wide_" .. name]:totable()) do
          local got = tensors[name]:totable()[i]
          assert.equal(value, got)
          assert.equal(1 / value, 1 / got) -- the sign of zero
        end
      end
    end)

    it("reads all float16 and bfloat16, in more elements than fit in one buffer", function()
      local all = {}
      for bits = 0, 0xFFFF do
        all[bits + 1] = string.pack("<I2", bits)
      end
      local tensors = load_bytes(file("{" .. field("half", "F16", "[65536]", 0, 1 << 17) .. ","
        .. field("brain", "BF16", "[65536]", 1 << 17, 1 << 18) .. "}", table.concat(all):rep(2)))
      for name, widths in pairs({ half = { 5, 10 }, brain = { 8, 7 } }) do
        local largest, fraction = (1 << widths[1]) - 1, 1 << widths[2]
        for i, got in ipairs(tensors[name]:totable()) do
          local bits = i - 1
          local sign, exponent = bits >> 15 == 1 and -1 or 1, bits >> widths[2] & largest
          local rest = bits % fraction / fraction
          local value = exponent == 0 and rest * 2.0 ^ (1 - largest // 2)
            or (1 + rest) * 2.0 ^ (exponent - largest // 2)
          local expected = exponent < largest and sign * value or rest == 0 and sign * math.huge
          if got ~= expected and (expected or got == got) then
            error(("%s 0x%04X: expected %s, got %.9g"):format(name, bits, expected or "NaN", got))
          end
        end
      end
    end)

    it("reads booleans as masks", function()
      local tensors = core.load_safetensors(fixture("masks"))
      assert.same({ { 1, 0, 1 } }, tensors.mask:totable())
      assert.same({ true, false }, { tensors.mask:is_mask(), tensors.w:is_mask() })
    end)

    it("accepts white space around the header, any order and unknown inner fields", function()
      local header = ' \t\r\n{"b":{"more":[1.5,{"x":null}],"data_offsets":[4,8],"shape":[],'
        .. '"dtype":"I32"},' .. field("none", "F64", "[3,0]", 4, 4) .. ","
        .. field("a", "I32", "[1,1]", 0, 4) .. "}\n  "
      local tensors, metadata = load_bytes(file(header, string.pack("<i4i4", 5, 6)))
      assert.same({ { 5 } }, tensors.a:totable())
      assert.equal(6, tensors.b:totable())
      assert.same({ 3, 0 }, tensors.none:shape())
      assert.same({}, metadata)
    end)

    it("rejects a file truncated at any byte, and one that is too long", function()
      for _, name in ipairs({ "mixed", "empty", "foreign", "halves" }) do
        local bytes = scratch.read(fixture(name))
        for length = 0, #bytes - 1 do
          refused(bytes:sub(1, length), "")
        end
        refused(bytes .. "\0", "bytes of data after the header, got")
      end
    end)

    it("rejects an invalid header length", function()
      for _, length in ipairs({ 3, 100000001, 1 << 32, 1 << 63, -1 }) do
        refused(string.pack("<i8", length) .. "{}",
          "expected the size of the header in the first 8 bytes, at most 2, got ")
      end
      refused(string.pack("<i8", 0) .. "{}", "header, line 1")
      refused(string.pack("<i8", 1) .. "{}", "header, line 1")
    end)

    it("rejects headers that are not a JSON object", function()
      for _, header in ipairs({ "", "{", "}", "nul", '{"a"}', "{} {}", "{}x", "\0{}", "{},",
        '{"\xff":{}}', '{"a\\u0000":{}}', ("["):rep(5000) }) do
        refused(file(header), "header, line 1, column")
      end
      refused(file("[]"), "the header is not an object")
      refused(file('{\n"a":\n1,,}'), "header, line 3, column")
    end)

    it("rejects duplicate keys", function()
      local a = field("a", "F32", "[1]", 0, 4)
      refused(file("{" .. a .. "," .. a .. "}", "1234"), "duplicate object key")
      refused(file('{"__metadata__":{"k":"1","k":"2"}}'), "duplicate object key")
      refused(file('{"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}}', "1234"),
        "duplicate object key")
    end)

    it("rejects metadata that are not strings", function()
      refused(file('{"__metadata__":{"step":12}}'), 'metadata "step" is not a string')
      refused(file('{"__metadata__":{"a":null}}'), 'metadata "a" is not a string')
      refused(file('{"__metadata__":["a"]}'), "__metadata__ is not an object")
      refused(file('{"__metadata__":null}'), "__metadata__ is not an object")
    end)

    it("rejects unknown dtypes by name", function()
      refused(scratch.read(fixture("bad_dtype")),
        'tensor "w": expected dtype F32, F64, F16, BF16, I32, I64, U8 or BOOL, got F8_E4M3')
      refused(file("{" .. field("a", "f32", "[1]", 0, 4) .. "}", "1234"), "got f32")
      refused(file('{"a":{"shape":[],"data_offsets":[0,4]}}', "1234"), 'tensor "a" has no dtype')
      refused(file('{"a":{"dtype":4,"shape":[],"data_offsets":[0,4]}}', "1234"), "has no dtype")
      refused(file('{"a":[]}'), "has no dtype")
    end)

    it("rejects an int64 that does not fit", function()
      refused(scratch.read(fixture("bad_int64")),
        "n: element 1 (from 0) is 2147483648, which does not fit int32")
    end)

    it("rejects shapes that are not lists of sizes", function()
      for _, shape in ipairs({ "null", "4", "{}", '"1"', "[1,1,1,1,1,1,1,1,1]" }) do
        refused(file("{" .. field("a", "F32", shape, 0, 4) .. "}", "1234"),
          'tensor "a": expected a shape of at most 8 sizes')
      end
      for _, size in ipairs({ "-1", "1.0", '"1"', "null", "[1]", "true" }) do
        local shape = "[1," .. size .. "]"
        refused(file("{" .. field("a", "F32", shape, 0, 4) .. "}", "1234"),
          'tensor "a": size 2 is not an integer')
      end
      refused(file('{"a":{"dtype":"F32","data_offsets":[0,4]}}', "1234"), "expected a shape")
    end)

    it("rejects sizes whose product overflows", function()
      for _, shape in ipairs({
        "[9223372036854775807]", "[4294967296,4294967296]", "[2305843009213693952,2]",
        "[0,9223372036854775807,3]", "[9223372036854775807,3,0]",
      }) do
        refused(file("{" .. field("a", "F32", shape, 0, 0) .. "}"), "is too large")
      end
      refused(file("{" .. field("a", "F32", "[9223372036854775808]", 0, 0) .. "}"), "integer")
    end)

    it("rejects offsets that are not two integers", function()
      for _, offsets in ipairs({
        "null", "[]", "[0]", "[0,4,8]", "[0,4.0]", "[-4,0]", '["0",4]', "{}",
      }) do
        refused(file('{"a":{"dtype":"F32","shape":[1],"data_offsets":' .. offsets .. "}}", "1234"),
          "data_offsets are not two integers")
      end
      refused(file('{"a":{"dtype":"F32","shape":[1]}}', "1234"), "data_offsets are not two")
    end)

    it("rejects offsets that do not match the shape", function()
      for _, case in ipairs({ { "[1]", 0, 8 }, { "[2]", 4, 4 }, { "[1]", 4, 0 }, { "[0]", 0, 4 },
        { "[]", 0, 0 } }) do
        refused(file("{" .. field("a", "F32", table.unpack(case)) .. "}", "12345678"),
          "got data_offsets [" .. case[2] .. ", " .. case[3] .. "]")
      end
    end)

    it("rejects holes, overlaps and a late start", function()
      local function pair(from, to, size)
        return file("{" .. field("a", "I32", "[1]", 0, 4) .. ","
          .. field("b", "I32", "[1]", from, to) .. "}", ("x"):rep(size))
      end
      assert.is_truthy(load_bytes(pair(4, 8, 8)).b)
      refused(pair(5, 9, 9), "expected data from byte 4 on, got data_offsets [5, 9]")
      refused(pair(3, 7, 7), "expected data from byte 4 on, got data_offsets [3, 7]")
      refused(pair(0, 4, 4), "expected data from byte 4 on, got data_offsets [0, 4]")
      refused(file("{" .. field("a", "I32", "[1]", 4, 8) .. "}", "12345678"),
        "expected data from byte 0 on, got data_offsets [4, 8]")
      refused(pair(4, 8, 7), "expected 8 bytes of data after the header, got 7")
    end)

    for _, name in ipairs({ "mixed", "foreign" }) do
      it("survives random changes of " .. name .. " (seed 20)", function()
        math.randomseed(20)
        local bytes = scratch.read(fixture(name))
        for _ = 1, 2000 do
          local changed = bytes
          for _ = 1, math.random(3) do
            local place = math.random(#changed)
            changed = changed:sub(1, place - 1) .. string.char(math.random(0, 255))
              .. changed:sub(place + 1)
          end
          local path = scratch.write("flip.safetensors", changed)
          local ok, result = pcall(core.load_safetensors, path)
          assert(ok and type(result) == "table" or result:find(path, 1, true), result)
        end
      end)
    end
  end)

  describe("save_safetensors", function()
    it("writes the canonical bytes", function()
      for _, name in ipairs({ "mixed", "masks", "empty" }) do
        assert.equal(scratch.read(fixture(name)), saved(core.load_safetensors(fixture(name))), name)
      end
      assert.equal("\8\0\0\0\0\0\0\0{}      ", saved({}))
      assert.equal("\8\0\0\0\0\0\0\0{}      ", saved({}, {}))
    end)

    it("pads every header to a multiple of 8", function()
      local x = core.load_npy("tests/fixtures/scalar.npy")
      for length = 1, 16 do
        local bytes = saved({ [("n"):rep(length)] = x })
        assert.equal(0, string.unpack("<i8", bytes) % 8)
        assert.equal("{", bytes:sub(9, 9))
        assert.equal(2.5, load_bytes(bytes)[("n"):rep(length)]:totable())
      end
    end)

    it("writes the same bytes for the same contents in another order", function()
      local x = core.load_npy("tests/fixtures/float32.npy")
      local first, second, words, again = {}, {}, {}, {}
      for i = 1, 50 do
        first["t" .. i], words["k" .. i] = x, tostring(i)
        second["t" .. 51 - i], again["k" .. 51 - i] = x, tostring(51 - i)
      end
      assert.equal(saved(first, words), saved(second, again))
    end)

    it("writes views in C order", function()
      local x = core.load_npy("tests/fixtures/float32.npy"):transpose(1, 2)
      assert.same({ { 0, 0.75 }, { 0.25, 1 }, { 0.5, 1.25 } },
        load_bytes(saved({ x = x })).x:totable())
    end)

    it("keeps any UTF-8 in names and metadata", function()
      local x = core.load_npy("tests/fixtures/scalar.npy")
      local text = 'a"\\\n\t\1é漢😀'
      local words = { [text] = text, [""] = "" }
      local tensors, metadata = load_bytes(saved({ [text] = x, [""] = x }, words))
      assert.same(words, metadata)
      assert.is_truthy(tensors[text] and tensors[""])
    end)

    it("rejects invalid contents and leaves the old file", function()
      local x = core.load_npy("tests/fixtures/scalar.npy")
      local path = scratch.write("old.safetensors", "old")
      local function bad(reason, ...)
        local arguments = table.pack(path, ...)
        assert.error_matches(function()
          core.save_safetensors(table.unpack(arguments, 1, arguments.n))
        end, reason, 1, true)
        assert.equal("old", scratch.read(path))
      end
      bad('"a": expected a tensor, got number', { a = 1 })
      bad('name of a tensor: "a" is followed by a NUL byte', { ["a\0b"] = x })
      bad('"\xff": name or value is not UTF-8', { ["\xff"] = x })
      bad('the name "__metadata__" cannot be used', { __metadata__ = x })
      bad("step: expected a string, got number", {}, { step = 12 })
      bad('step: "1" is followed by a NUL byte', {}, { step = "1\0" })
      bad('"step": name or value is not UTF-8', {}, { step = "\xff" })
    end)
  end)

  describe("without memory", function()
    after_each(function() core.memory_fail_after(-1) end)

    -- Refuse the first, second, third ... allocation of f until it succeeds; look after each.
    local function check_every_allocation(f, look)
      local allowed, ok, message = -1
      repeat
        allowed = allowed + 1
        core.memory_fail_after(allowed)
        ok, message = pcall(f)
        core.memory_fail_after(-1)
        assert(ok or message:find("out of memory: asked for %d+ bytes"), message)
        look(ok)
      until ok
      return allowed
    end

    it("save_safetensors raises an error, and leaves the old file", function()
      local x = core.zeros({ 2, 3 })
      local tensors, words = { [("t"):rep(40)] = x }, { [("k"):rep(40)] = ("w"):rep(200) }
      for i = 1, 10 do
        tensors["layers." .. i], words["word" .. i] = x:narrow(2, 1, 2), "x"
      end
      local expected = saved(tensors, words)
      local old = saved({ old = x })
      local path, files = scratch.path("saved.safetensors"), scratch.list()
      assert.is_true(100 < check_every_allocation(function()
        core.save_safetensors(path, tensors, words)
      end, function(ok)
        assert.is_true(scratch.read(path) == (ok and expected or old))
        assert.same(files, scratch.list())
      end))
    end)

    it("load_safetensors raises an error", function()
      local tensors
      assert.is_true(40 < check_every_allocation(function()
        tensors = core.load_safetensors(fixture("mixed"))
      end, function(ok)
        assert.equal(ok, tensors ~= nil)
      end))
      assert.same({ { 0, 0.25, 0.5 }, { 0.75, 1, 1.25 } }, tensors.a:totable())
    end)
  end)

  it("is recognised by content when loading, and by name when saving", function()
    local tensors, metadata = core.load(scratch.write("x.dat", scratch.read(fixture("mixed"))))
    core.save(scratch.path("x.safetensors"), tensors, metadata)
    assert.equal(scratch.read(fixture("mixed")), scratch.read(scratch.path("x.safetensors")))
    assert.error_matches(function() core.load(scratch.write("short", "\x93NUM")) end,
      "load_safetensors: ", 1, true)
  end)
end)
