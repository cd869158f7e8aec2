local core = require("roper.core")
local hash = require("roper.base.hash")

describe("hash.of", function()
  it("is FNV-1a of 64 bits", function() -- values of the authors' test vectors
    assert.equal("cbf29ce484222325", hash.of(""))
    assert.equal("af63dc4c8601ec8c", hash.of("a"))
    assert.equal("85944171f73967e8", hash.of("foobar"))
  end)

  it("continues another hash", function()
    assert.equal(hash.of("foobar"), hash.digits(core.hash("bar", core.hash("foo"))))
  end)
end)
