local sha256 = require("roper.base.sha256")

local function hex(bytes)
  return (sha256.of(bytes):gsub(".", function(byte) return ("%02x"):format(byte:byte()) end))
end

describe("sha256", function()
  it("is that of FIPS 180-4", function() -- its examples, and lengths around a block
    assert.equal("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", hex(""))
    assert.equal("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", hex("abc"))
    assert.equal("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
      hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))
    for count, digest in pairs({
      [55] = "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318",
      [56] = "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a",
      [64] = "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb" }) do
      assert.equal(digest, hex(("a"):rep(count)))
    end
  end)

  it("is written in Base64", function()
    for bytes, text in pairs({ [""] = "", f = "Zg==", fo = "Zm8=", foo = "Zm9v", foob = "Zm9vYg==",
      ["\xFB\xFF"] = "+/8=" }) do
      assert.equal(text, sha256.base64(bytes))
    end
  end)
end)
