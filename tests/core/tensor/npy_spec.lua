local core = require("roper.core")
local scratch = require("tests.scratch")

local function fixture(name)
  return "tests/fixtures/" .. name .. ".npy"
end

-- An npy file with the given text in its header.
local function npy(header, data)
  return "\x93NUMPY\1\0" .. string.pack("<s2", header) .. (data or "")
end

describe("npy", function()
  setup(scratch.create)
  teardown(scratch.remove)

  -- The bytes that save_npy writes for `tensor`.
  local function saved(tensor)
    local path = scratch.path("saved.npy")
    core.save_npy(path, tensor)
    return scratch.read(path)
  end

  local function load_bytes(bytes)
    return core.load_npy(scratch.write("bytes.npy", bytes))
  end

  local function refused(bytes, reason)
    local path = scratch.write("bad.npy", bytes)
    local ok, message = pcall(core.load_npy, path)
    assert.is_false(ok)
    assert.matches("^load_npy: ", message)
    assert.matches('"' .. path .. '"', message, 1, true)
    assert.matches(reason, message, 1, true)
  end

  describe("load_npy", function()
    it("reads values, shape and dtype", function()
      local x = core.load_npy(fixture("float32"))
      assert.equal("float32", x:dtype())
      assert.same({ 2, 3 }, x:shape())
      assert.same({ { 0, 0.25, 0.5 }, { 0.75, 1, 1.25 } }, x:totable())
      assert.same({ 0.1, -0.0, 1 / 0, 5e-324, 1e308 }, core.load_npy(fixture("float64")):totable())
      assert.equal("int32", core.load_npy(fixture("int32")):dtype())
    end)

    it("reads versions 2.0 and 3.0", function()
      assert.equal(saved(core.load_npy(fixture("float32"))),
        saved(core.load_npy(fixture("version2"))))
      assert.equal(saved(core.load_npy(fixture("float32"))),
        saved(core.load_npy(fixture("version3"))))
    end)

    it("reads Fortran order", function()
      local x = core.load_npy(fixture("fortran"))
      assert.same({ 2, 3, 4 }, x:shape())
      local next_value = 0
      for _, matrix in ipairs(x:totable()) do
        for _, row in ipairs(matrix) do
          for _, value in ipairs(row) do
            assert.equal(next_value, value)
            next_value = next_value + 1
          end
        end
      end
      assert.equal(24, next_value)
    end)

    it("reads int64 and uint8 as int32", function()
      local long, byte = core.load_npy(fixture("int64")), core.load_npy(fixture("uint8"))
      assert.same({ -2 ^ 31, 0, 2 ^ 31 - 1 }, long:totable())
      assert.same({ { 0, 255 } }, byte:totable())
      assert.equal("int32", long:dtype())
      assert.equal("int32", byte:dtype())
    end)

    it("reads float16 as float32", function()
      local half = core.load_npy(fixture("float16"))
      assert.equal("float32", half:dtype())
      assert.same({ { 0, -0.0, 2 ^ -24, -1023 * 2 ^ -24, 2 ^ -14 },
        { 1, -1 - 2 ^ -10, 65504, math.huge, -math.huge } }, half:totable())
    end)

    it("reads booleans as a mask", function()
      local mask = core.load_npy(fixture("bool"))
      assert.same({ { 1, 0, 1 } }, mask:totable())
      assert.is_true(mask:is_mask())
      assert.same({ 4, 6 }, core.tensor({ { 4, 5, 6 } })[mask]:totable())
      assert.is_false(core.load_npy(fixture("uint8")):is_mask())
    end)

    it("converts more integers than fit in one buffer", function()
      local values = {}
      for i = 1, 10000 do
        values[i] = i % 251
      end
      local bytes = {}
      for i, value in ipairs(values) do
        bytes[i] = string.char(value)
      end
      local header = "{'descr': '|u1', 'fortran_order': False, 'shape': (10000,)}"
      assert.same(values, load_bytes(npy(header, table.concat(bytes))):totable())
    end)

    it("accepts the dictionary as Python does", function()
      local data = string.pack("<i4", 7)
      for _, header in ipairs({
        '{"shape":(1,),"descr":"<i4","fortran_order":False}',
        " { 'fortran_order' : True ,\t'shape' : ( 1 , ) , 'descr' : '<i4' , } \n",
      }) do
        assert.same({ 7 }, load_bytes(npy(header, data)):totable())
      end
    end)

    it("rejects unknown element types by name", function()
      for name, type in pairs({ bad_big_endian = ">f4", bad_complex = "<c16" }) do
        refused(scratch.read(fixture(name)), "|b1, got " .. type)
      end
      refused(scratch.read(fixture("bad_fields")), "expected a string")
    end)

    it("rejects an int64 that does not fit", function()
      refused(scratch.read(fixture("bad_int64")),
        "element 1 (from 0) is 2147483648, which does not fit int32")
    end)

    it("rejects more than eight axes", function()
      refused(scratch.read(fixture("bad_axes")), "expected at most 8 axes")
      assert.equal(8, #core.load_npy(fixture("eight_axes")):shape())
    end)

    it("rejects a file truncated at any byte, and one that is too long", function()
      for _, name in ipairs({ "float32", "version2", "scalar", "fortran" }) do
        local bytes = scratch.read(fixture(name))
        for length = 0, #bytes - 1 do
          refused(bytes:sub(1, length), "")
        end
        refused(bytes .. "\0", "follow the header")
      end
      refused(scratch.read(fixture("empty")) .. "\0", "takes 0 bytes, but 1 follow the header")
    end)

    it("rejects files that are not npy", function()
      refused("\x93NUMPZ\1\0\0\0", "is not an .npy file")
      refused("\x93NUMPY\4\0\0\0", "expected version 1.0, 2.0 or 3.0, got 4.0")
      refused("\x93NUMPY\1\1\0\0", "expected version 1.0, 2.0 or 3.0, got 1.1")
      refused("\x93NUMPY\2\0\xff\xff\xff\xff", "at most 10000 bytes, got 4294967295")
    end)

    it("rejects malformed dictionaries", function()
      local function shaped(shape)
        return "{'descr': '<f4', 'fortran_order': False, 'shape': " .. shape .. "}"
      end
      local bad = {
        "", "{", "{}", "[]", "{'descr': '<f4'}", shaped("()") .. "x", shaped("()") .. "\0",
        "{'descr': '<f4', 'descr': '<f4', 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}",
        "{'descr' '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': ()}",
        "{'descr: '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': ()}",
        "{'descr': None, 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': Falsehood, 'shape': ()}",
        shaped("(1)"), shaped("(,)"), shaped("(1 1)"), shaped("(1,,)"), shaped("(-1,)"),
        shaped("(1.0,)"), shaped("[1]"), shaped("(1,"), shaped("(+1,)"), shaped("(0x1,)"),
        shaped("(1+0,)"), shaped("(__import__('os'),)"),
      }
      for _, header in ipairs(bad) do
        refused(npy(header, string.pack("<f", 1)), "header, byte ")
      end
    end)

    it("rejects shapes that overflow", function()
      local header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s)}"
      refused(npy(header:format("9223372036854775808,")), "a size below 2^63")
      refused(npy(header:format("99999999999999999999999,")), "a size below 2^63")
      refused(npy(header:format("9223372036854775807,")), "is too large")
      refused(npy(header:format("4294967296, 4294967296")), "is too large")
      refused(npy(header:format("2, 1152921504606846976")), "is too large")
      refused(npy(header:format("0, 4294967296, 4294967296")), "is too large")
      refused(npy(header:format("1152921504606846975,")), "is too large")
      refused(npy(header:format("288230376151711743,")), "takes 2305843009213693944 bytes")
    end)

    it("survives any change of any byte", function()
      local bytes = scratch.read(fixture("int64"))
      for place = 1, #bytes do
        for _, value in ipairs({ 0, 40, 41, 48, 57, 127, 255 }) do
          local path = scratch.write("flip.npy",
            bytes:sub(1, place - 1) .. string.char(value) .. bytes:sub(place + 1))
          local ok, result = pcall(core.load_npy, path)
          assert(ok or result:find(path, 1, true), result)
        end
      end
    end)
  end)

  describe("save_npy", function()
    it("writes what numpy.save writes", function()
      for _, name in ipairs({
        "float32", "float32_bits", "float64", "int32", "scalar", "empty", "eight_axes", "bool",
      }) do
        assert.equal(scratch.read(fixture(name)), saved(core.load_npy(fixture(name))), name)
      end
    end)

    it("starts the data at a multiple of 64", function()
      for size = 1, 70 do
        local shape = ("1, "):rep(size % 8) .. size
        local header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" .. shape .. ",)}"
        if size % 8 < 7 then
          local bytes = saved(load_bytes(npy(header, ("x"):rep(size))))
          assert.equal(0, (#bytes - 4 * size) % 64)
        end
      end
    end)

    it("writes views in C order", function()
      local x = core.load_npy(fixture("float32")):transpose(1, 2)
      assert.same({ { 0, 0.75 }, { 0.25, 1 }, { 0.5, 1.25 } }, load_bytes(saved(x)):totable())
    end)
  end)

  it("is recognised by content when loading, and by name when saving", function()
    local x = core.load(scratch.write("x.dat", scratch.read(fixture("int32"))))
    core.save(scratch.path("x.npy"), x)
    assert.equal(scratch.read(fixture("int32")), scratch.read(scratch.path("x.npy")))
    assert.error_matches(function() core.save("x.txt", x) end,
      'save: expected a path that ends in .npy or .safetensors, got "x.txt"', 1, true)
  end)
end)
