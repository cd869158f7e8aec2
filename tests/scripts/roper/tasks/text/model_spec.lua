local model = require("roper.tasks.text.model")

-- A number, and a field that holds bytes, as Protocol Buffers writes them.
local function varint(value)
  local bytes = ""
  while value > 127 do
    bytes, value = bytes .. string.char(value & 127 | 128), value >> 7
  end
  return bytes .. string.char(value)
end

local function field(number, bytes)
  return varint(number << 3 | 2) .. varint(#bytes) .. bytes
end

local function piece(text, kind)
  return field(1, field(1, text) .. "\x15" .. ("<f"):pack(-1.5)
    .. (kind and "\x18" .. varint(kind) or ""))
end

-- The model with the end of documents, the unknown piece, all bytes, and these.
local function pieces(...)
  local list = { piece("</s>", 3), piece("<unk>", 2) }
  for byte = 0, 255 do
    list[#list + 1] = piece(("<0x%02X>"):format(byte), 6)
  end
  for _, text in ipairs({ ... }) do
    list[#list + 1] = piece(text)
  end
  return table.concat(list)
end

local trainer = field(2, field(1, "lines.txt"))
local faithful = field(3, field(1, "identity") .. "\x18\0\x20\0")

describe("model.read_any", function()
  local spec = field(2, field(1, "lines.txt") .. varint(41 << 3) .. varint(2))

  it("returns the pieces of any model", function()
    local control = piece("<unk>", 2) .. piece("</s>", 3) .. piece("<s>", 3)
    local found = model.read_any(control .. piece("\u{2581}the") .. spec .. faithful, "m")
    assert.same({ "\u{2047}", "\0", "\0", " the" }, found.words)
    assert.same({ 2, false, "identity" }, { found.begin, found.has_prefix, found.normalizer })
    found = model.read_any(control .. piece("<0x0A>", 6), "m")
    assert.same({ 1, true, { ["\n"] = 3 } }, { found.begin, found.has_prefix, found.bytes })
    assert.is_nil(model.read_any(piece("a") .. piece("b"), "m").begin) -- no control piece
  end)

  it("rejects a damaged model by name, whatever its bytes", function()
    local whole = pieces("the") .. spec .. faithful
    for bytes = 0, #whole - 1, 7 do
      local ok, message = pcall(model.read_any, whole:sub(1, bytes), "m")
      assert.is_true(ok or message:find("^text: m: expected a SentencePiece model") ~= nil)
    end
    assert.error_matches(function() model.read_any("not one", "m") end,
      "text: m: expected a SentencePiece model, got a damaged file or one of another kind")
  end)

  it("does not call a model damaged after Ctrl-C", function()
    local whole = pieces("the") .. spec .. faithful
    debug.sethook(function() error("interrupted", 0) end, "", 500)
    local ok, message = pcall(model.read_any, whole, "m")
    debug.sethook()
    assert.same({ false, "interrupted" }, { ok, message })
  end)
end)

describe("model.read", function()
  it("returns the text of each piece", function()
    local words, bytes = model.read(pieces("\u{2581}the", "a") .. trainer .. faithful, "m")
    assert.equal(260, #words)
    assert.equal("\0", words[1])
    assert.equal("\u{2047}", words[2])
    assert.equal("\n", words[bytes["\n"] + 1])
    assert.equal("\255", words[258])
    assert.same({ " the", "a" }, { words[259], words[260] })
  end)

  it("rejects a model truncated anywhere", function()
    local whole = pieces("the") .. trainer .. faithful
    for bytes = 0, #whole - 1 do
      assert.error_matches(function() model.read(whole:sub(1, bytes), "m") end,
        "^text: m: expected")
    end
    model.read(whole, "m")
  end)

  it("rejects models that change text, or were not trained by roper", function()
    for _, data in ipairs({
      pieces() .. trainer .. field(3, field(1, "nmt_nfkc") .. "\x18\0\x20\0"),
      pieces() .. trainer .. field(3, field(1, "identity") .. "\x18\1\x20\0"),
      pieces() .. trainer .. field(3, field(1, "identity") .. "\x18\0\x20\1"),
      pieces() .. trainer,
      piece("</s>", 3) .. piece("<unk>", 2) .. piece("a") .. faithful,
      piece("<unk>", 2) .. pieces() .. faithful,
      pieces() .. piece("<s>", 3) .. faithful,
    }) do
      assert.error_matches(function() model.read(data, "m") end,
        "text: m: expected a SentencePiece model trained by the text task, got another model")
    end
  end)

  it("rejects other files", function()
    for _, data in ipairs({ "hello", "\255\255\255\255\255\255\255\255\255\255\255\1", "\7" }) do
      assert.error_matches(function() model.read(data, "m") end,
        "text: m: expected a SentencePiece model, got a damaged file or one of another kind")
    end
  end)
end)
