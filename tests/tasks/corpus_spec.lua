local uv = require("luv")

local core = require("roper.core")
local process = require("tests.process")
local scratch = require("tests.scratch")

-- Write documents, lists of ids or texts, as a corpus; the last `held_out` are for validation.
local function write(name, vocabulary, documents, held_out)
  local path = scratch.path(name)
  local writer = core.corpus_create(path, vocabulary, 77)
  for i, document in ipairs(documents) do
    if type(document) == "string" then
      writer:bytes(document)
    else
      writer:ids(table.concat(document, " "))
    end
    writer:end_document(i > #documents - (held_out or 0) and "validation" or "training", 10 * i)
  end
  writer:finish()
  return path
end

-- The ids 1 to n.
local function count_to(n)
  local list = {}
  for i = 1, n do
    list[i] = i
  end
  return list
end

describe("corpus", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  it("returns its documents, each with its end, in both parts", function()
    for _, vocabulary in ipairs({ 300, 65536, 65537, 1000000 }) do
      local last = vocabulary - 1
      local corpus = core.corpus_open(write("both", vocabulary,
        { { 1, 2, last }, {}, { 3 }, { last, 5 } }, 1))
      assert.same({ { 1, 2, last, 0, 0, 3, 0 } }, corpus:read("training", 7, 1, 1):totable())
      assert.same({ { last, 5, 0 } }, corpus:read("validation", 3, 1, 1):totable())
      assert.equal("int32", corpus:read("training", 7, 1, 1):dtype())
      local about = corpus:about()
      assert.equal(vocabulary, about.vocabulary)
      assert.equal(77, about.key)
      assert.same({ documents = 3, tokens = 7, bytes = 60 }, about.training)
      assert.same({ documents = 1, tokens = 3, bytes = 40 }, about.validation)
    end
  end)

  it("accepts bytes as ids", function()
    local corpus = core.corpus_open(write("bytes", 256, { "a\255", "b" }))
    assert.same({ { 97, 255, 0, 98, 0 } }, corpus:read("training", 5, 1, 1):totable())
  end)

  it("keeps many documents and tokens", function()
    local documents = {}
    for i = 1, 3000 do
      documents[i] = { i, i + 1, 40000 }
    end
    local corpus = core.corpus_open(write("many", 50000, documents, 1000))
    assert.equal(8000, corpus:about().training.tokens)
    local rows = corpus:read("validation", 5, 1, 999):totable()
    for i, row in ipairs(rows) do
      assert.same({ 2000 + i, 2001 + i, 40000, 0, 2001 + i }, row)
    end
  end)

  it("has rows that share a token, so that each is predicted once", function()
    local corpus = core.corpus_open(write("rows", 300, { count_to(11) }))
    assert.same({ { 1, 2, 3, 4, 5 }, { 5, 6, 7, 8, 9 } },
      corpus:read("training", 5, 1, 2):totable())
    assert.equal(2, corpus:rows("training", 5))
    assert.equal(1, corpus:rows("training", 12))
    assert.equal(0, corpus:rows("training", 13))
    assert.equal(11, corpus:rows("training", 2))
    assert.equal(0, corpus:rows("validation", 2))
    assert.error_matches(function() corpus:read("training", 5, 2, 2) end,
      "expected rows from 1 to 2, got 2 to 3")
    assert.error_matches(function() corpus:read("validation", 5, 1, 1) end,
      "expected rows from 1 to 0, got 1 to 1")
    assert.error_matches(function() corpus:read("training", 5, math.maxinteger, 2) end,
      "got 9223372036854775807 to 9223372036854775808$")
  end)

  it("draws every row once per epoch, in another order each time", function()
    local corpus = core.corpus_open(write("epochs", 300, { count_to(100) }))
    local orders = {}
    for epoch = 1, 3 do
      local rows, seen = corpus:draw(5, 50 * (epoch - 1), 3, 50):totable(), {}
      for i, row in ipairs(rows) do
        assert.equal(row[1] + 2, row[3] == 0 and 101 or row[3])
        assert.is_nil(seen[row[1]])
        seen[row[1]], rows[i] = true, row[1]
      end
      orders[epoch] = table.concat(rows, " ")
    end
    assert.are_not.equal(orders[1], orders[2])
    assert.are_not.equal(orders[2], orders[3])
    local other = corpus:draw(6, 0, 3, 50):totable()
    assert.are_not.equal(orders[1]:match("%d+ %d+ %d+ %d+"),
      ("%d %d %d %d"):format(other[1][1], other[2][1], other[3][1], other[4][1]))
  end)

  it("draws by seed and counter alone, across epochs too", function()
    local corpus = core.corpus_open(write("counter", 300, { count_to(20) }))
    local whole = corpus:draw(9, 3, 4, 30):totable()
    for i = 1, 30 do
      assert.same(whole[i], corpus:draw(9, 2 + i, 4, 1):totable()[1])
    end
    assert.same({ 1, 4 }, corpus:draw(-1, -1, 4, 1):shape())
  end)

  it("rejects to draw rows longer than the text", function()
    local corpus = core.corpus_open(write("short", 300, { { 1 } }))
    assert.error_matches(function() corpus:draw(1, 0, 3, 1) end,
      "a row of 3 tokens is longer than the training text, 2")
  end)

  it("rejects a file truncated at any byte", function()
    local whole = scratch.read(write("whole", 300, { count_to(9), { 4 } }, 1))
    for bytes = 0, #whole - 1 do
      local path = scratch.write("cut", whole:sub(1, bytes))
      assert.error_matches(function() core.corpus_open(path) end, bytes < 64
        and "expected a file of tokens, got one of %d+ bytes"
        or ("expected %d bytes, got %d: it is truncated"):format(#whole, bytes))
    end
    assert.error_matches(function() core.corpus_open(scratch.write("long", whole .. "x")) end,
      "expected %d+ bytes, got %d+$")
  end)

  it("rejects a file with any bit changed", function()
    local whole = scratch.read(write("whole", 300, { count_to(9), { 4 } }, 1))
    for at = 1, #whole do
      for _, bit in ipairs({ 1, 128 }) do
        local path = scratch.write("flipped", whole:sub(1, at - 1)
          .. string.char(whole:byte(at) ~ bit) .. whole:sub(at + 1))
        assert.error_matches(function() core.corpus_open(path) end, "^tasks.text: ")
      end
    end
  end)

  it("rejects other files and other versions by name", function()
    assert.error_matches(function() core.corpus_open(scratch.write("png", ("PNG "):rep(40))) end,
      "png\": expected a file of tokens, got another kind of file")
    local whole = scratch.read(write("whole", 300, { { 4 } }))
    local newer = scratch.write("newer", whole:sub(1, 8) .. ("<I4"):pack(2) .. whole:sub(13))
    assert.error_matches(function() core.corpus_open(newer) end,
      "expected a file of tokens of version 1, got 2")
    assert.error_matches(function() core.corpus_open(scratch.path("none")) end,
      "cannot read .*none\": No such file")
    assert.error_matches(function() core.corpus_open(scratch.path("")) end, "got a folder")
    assert.error_matches(function() core.corpus_open("a\0b") end, "the path contains a NUL byte")
  end)

  -- A file with a hash that fits what it says.
  local function forged(header, body)
    local start = "roperTOK" .. ("<I4I4I8I8I8I8I8"):pack(table.unpack(header))
    return scratch.write("forged", start .. ("<i8"):pack(core.hash(start, core.hash(body))) .. body)
  end

  it("rejects inconsistent documents, also if the hash is right", function()
    local function body(ids, ends)
      local words = {}
      for i, id in ipairs(ids) do
        words[i] = ("<I2"):pack(id)
      end
      for _, place in ipairs(ends) do
        words[#words + 1] = ("<I8I8"):pack(place, place)
      end
      return table.concat(words)
    end
    local good = { 1, 2, 300, 1, 1, 4, 0 }
    assert.equal(2, core.corpus_open(forged(good, body({ 5, 0, 6, 0 }, { 2, 4 }))):about()
      .training.tokens)
    for _, bad in ipairs({ body({ 5, 0, 300, 0 }, { 2, 4 }), body({ 5, 7, 6, 0 }, { 2, 4 }),
      body({ 5, 0, 6, 0 }, { 4, 4 }), body({ 5, 0, 6, 0 }, { 2, 2 }),
      body({ 5, 0, 6, 0 }, { 2, 1 << 62 }), body({ 5, 0, 6, 0 }, { 0, 4 }) }) do
      assert.error_matches(function() core.corpus_open(forged(good, bad)) end,
        "its documents are damaged")
    end
    for _, header in ipairs({ { 1, 3, 300, 1, 1, 4, 0 }, { 1, 2, 0, 1, 1, 4, 0 },
      { 1, 2, 65537, 1, 1, 4, 0 }, { 1, 4, 1 << 31, 1, 1, 4, 0 }, { 1, 2, 300, 1, 1, -1, 0 },
      { 1, 2, 300, -1, 3, 4, 0 }, { 1, 2, 300, 1 << 60, 1, 4, 0 } }) do
      for i, value in ipairs(header) do
        header[i] = value < 0 and 1 << 50 or value
      end
      assert.error_matches(function()
        core.corpus_open(forged(header, body({ 5, 0, 6, 0 }, { 2, 4 })))
      end, "its header is damaged")
    end
  end)

  it("rejects a file that was truncated or written to while it was in use", function()
    for _, change in ipairs({ "truncate -s 100", "printf x >>", "touch -d yesterday" }) do
      local path = write("used", 300, { count_to(100) })
      local corpus = core.corpus_open(path)
      assert.same({ 1, 3 }, corpus:draw(1, 0, 3, 1):shape())
      os.execute(("%s '%s'"):format(change, path))
      assert.error_matches(function() corpus:draw(1, 0, 3, 1) end,
        "used\" was changed while it was in use")
    end
  end)

  it("rejects a file that is truncated while it is opened or read", function()
    local library = scratch.path("faulty.so")
    assert(os.execute(("cc -shared -fPIC -o '%s' tests/fixtures/faulty_disk.c -ldl"):format(
      library)))
    for looks, problem in ipairs({ "expected 4608 bytes, got 100: it is truncated",
      "was changed while it was in use", "was changed while it was in use" }) do
      local path = write("cut", 300, { count_to(299), count_to(299), ("x"):rep(1646) })
      local status, output, errors = process.run({ "lua5.4", "-e", ([[
        local corpus = require("roper.core").corpus_open(%q)
        print "open"
        corpus:draw(1, 0, 100, 20)]]):format(path) }, "", { LUA_PATH = package.path,
        LUA_CPATH = package.cpath, LD_PRELOAD = (os.getenv "LD_PRELOAD" or "") .. ":" .. library,
        CUT = path, CUT_AT = tostring(looks) })
      assert.same({ 1, looks == 3 and "open\n" or "" }, { status, output })
      assert.truthy(errors:find(problem, 1, true), errors)
    end
  end)

  it("can be interrupted while it is opened, read and drawn from", function()
    local path = write("interrupted", 300, { count_to(100) })
    local corpus = core.corpus_open(path)
    core.interrupt_enable()
    for _, f in ipairs({
      function() return core.corpus_open(path) end,
      function() return corpus:read("training", 3, 1, 50) end,
      function() return corpus:draw(1, 0, 3, 50) end,
    }) do
      uv.kill(uv.os_getpid(), "sigint")
      assert.error_matches(f, "interrupted$")
    end
    core.interrupt_disable()
    assert.same({ 50, 3 }, corpus:draw(1, 0, 3, 50):shape())
  end)

  it("stays usable if another file takes its name", function()
    local corpus = core.corpus_open(write("replaced", 300, { { 1, 2 } }))
    write("replaced", 300, { { 3, 4 } })
    assert.same({ { 1, 2, 0 } }, corpus:read("training", 3, 1, 1):totable())
  end)
end)

describe("corpus_writer", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  it("leaves no file if it is closed early", function()
    do
      local writer <close> = core.corpus_create(scratch.path("open"), 300, 0)
      writer:ids("1 2")
      assert.equal(1, #scratch.list())
    end
    assert.same({}, scratch.list())
  end)

  it("rejects invalid ids, and the id that ends documents", function()
    local writer <close> = core.corpus_create(scratch.path("bad"), 300, 0)
    for _, ids in ipairs({ "300", "1 0 2", "0" }) do
      assert.error_matches(function() writer:ids(ids) end, "expected ids from 1 to 299 in a text")
    end
    for _, ids in ipairs({ "1 x", "-1", "1.5" }) do
      assert.error_matches(function() writer:ids(ids) end, "expected ids in decimal")
    end
    assert.error_matches(function() writer:ids(("9"):rep(30)) end, "in a text, got 999999999")
    assert.error_matches(function() writer:bytes("a\0") end, "in a text, got 0")
    local large <close> = core.corpus_create(scratch.path("large"), (1 << 31) - 1, 0)
    large:ids("2147483646")
    assert.error_matches(function() large:ids("12345678912") end, "in a text, got 12345678912$")
    local small <close> = core.corpus_create(scratch.path("small"), 100, 0)
    assert.error_matches(function() small:bytes("z") end, "expected ids from 1 to 99 in a text")
  end)

  it("rejects training documents after validation documents", function()
    local writer <close> = core.corpus_create(scratch.path("order"), 300, 0)
    writer:end_document("validation", 0)
    assert.error_matches(function() writer:end_document("training", 0) end,
                         "expected training documents before those for validation")
    assert.error_matches(function() writer:end_document("test", 0) end, "invalid option 'test'")
  end)

  it("cannot be used after it has finished", function()
    local writer = core.corpus_create(scratch.path("done"), 300, 0)
    writer:finish()
    assert.error_matches(function() writer:ids("1") end, "this writer has finished")
    assert.error_matches(function() writer:finish() end, "this writer has finished")
  end)

  it("leaves no file if the disk is full", function()
    local path = scratch.path("full")
    local code = ([[local writer = require("roper.core").corpus_create(%q, 300, 0)
      local ok, message = pcall(function()
        for i = 1, 100 do writer:bytes(("x"):rep(10000)) end
        writer:finish()
      end)
      print(ok, message)
      writer = nil
      collectgarbage()]]):format(path)
    local _, output = process.run({ "sh", "-c", 'trap "" XFSZ; ulimit -f 200; exec ./roper -e "$0"',
      code })
    assert.truthy(output:find('tasks.text: cannot write "' .. path .. '": File too large', 1, true),
      output)
    assert.same({}, scratch.list())
  end)
end)
